/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the function of a loop without effects: what it asks first, its rounds, their parts, and blocks (loop.c). */
#include "ppu/macros.h"
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/tier/gather.h"
#include "qemu-device/tier/loop.h"
#include "qemu-device/tier/place.h"

#include <string.h>

/* It is in the function's first block: LLVM makes values of no others. */
LLVMValueRef loop_variable(const struct loop *l, LLVMTypeRef type)
{
    LLVMBuilderRef b = l->t->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(b), entry = LLVMGetEntryBasicBlock(l->t->function);

    LLVMPositionBuilderBefore(b, LLVMGetFirstInstruction(entry));
    LLVMValueRef place = LLVMBuildAlloca(b, type, "");
    LLVMPositionBuilderAtEnd(b, here);
    return place;
}

static LLVMValueRef get32(const struct loop *l, LLVMValueRef from)
{
    return loop_get(l, l->t->i32, from);
}

static void add32(const struct loop *l, LLVMValueRef to, uint32_t more)
{
    loop_put(l, LLVMBuildAdd(l->t->builder, get32(l, to), write_i32(l->t, more), ""), to);
}

static LLVMValueRef smaller(const struct loop *l, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(l->t->builder, LLVMBuildICmp(l->t->builder, LLVMIntULT, a, b, ""), a, b, "");
}

static LLVMValueRef code_of(const struct loop *l, uint32_t n)
{
    return write_field(l->t, l->t->head, n * sizeof(struct code_insn));
}

/* ---- places in memory ---- */

/* The number of a group in the warp. */
static LLVMValueRef chunk_of(const struct loop *l, uint32_t group)
{
    const struct writer *const t = l->t;

    return LLVMBuildAdd(t->builder, LLVMBuildMul(t->builder, l->part, write_i64(t, l->groups), ""), write_i64(t, group),
                        "");
}

static LLVMValueRef words_place(const struct loop *l, LLVMValueRef row, uint32_t group)
{
    const struct writer *const t = l->t;

    return write_behind(t, row, LLVMBuildMul(t->builder, chunk_of(l, group), write_i64(t, 4ull * TIER_CHUNK), ""));
}

LLVMValueRef loop_lanes_place(const struct loop *l, uint32_t reg, uint32_t group)
{
    return words_place(l, write_field(l->t, l->t->vreg, (uint64_t)reg * l->t->unit->wave * sizeof(uint32_t)), group);
}

LLVMValueRef loop_set_place(const struct loop *l, LLVMValueRef set, uint32_t group)
{
    const struct writer *const t = l->t;

    return write_behind(t, set, LLVMBuildMul(t->builder, chunk_of(l, group), write_i64(t, TIER_CHUNK / 8), ""));
}

static LLVMValueRef pred_set(const struct loop *l, uint32_t pred)
{
    return write_field(l->t, l->t->w, offsetof(struct warp, pred) + pred * sizeof(struct lanes));
}

static LLVMValueRef active_set(const struct loop *l)
{
    return write_field(l->t, l->t->w, offsetof(struct warp, active));
}

static LLVMValueRef sreg_place(const struct loop *l, uint32_t reg)
{
    return write_field(l->t, l->t->w, offsetof(struct warp, sreg) + reg * sizeof(uint32_t));
}

/* ---- sets ---- */

/* i1: the sets of the groups have a lane. */
static LLVMValueRef any(const struct loop *l, LLVMValueRef sets[LOOP_GROUPS])
{
    LLVMValueRef all = LLVMConstNull(l->t->mask);

    for (uint32_t group = 0; group < l->groups; group++) {
        all = LLVMBuildOr(l->t->builder, all, sets[group], "");
    }
    return LLVMBuildICmp(l->t->builder, LLVMIntNE, write_mask_bits(l->t, all), LLVMConstNull(l->t->i16), "");
}

/* Counts what the active lanes have executed since they were counted last. */
static void count_lanes(const struct loop *l)
{
    const struct writer *const t = l->t;
    LLVMValueRef sum = write_i32(t, 0);
    LLVMValueRef more = LLVMBuildSub(t->builder, get32(l, l->done), get32(l, l->since), "");

    for (uint32_t group = 0; group < l->groups; group++) {
        LLVMValueRef bits = write_mask_bits(l->t, loop_get(l, t->mask, l->active[group]));
        LLVMValueRef one = write_popcount(t, bits);
        sum = LLVMBuildAdd(t->builder, sum, LLVMBuildZExt(t->builder, one, t->i32, ""), "");
    }
    LLVMValueRef product = LLVMBuildMul(t->builder, LLVMBuildZExt(t->builder, more, t->i64, ""),
                                        LLVMBuildZExt(t->builder, sum, t->i64, ""), "");
    loop_put(l, LLVMBuildAdd(t->builder, loop_get(l, t->i64, l->lanes), product, ""), l->lanes);
    loop_put(l, get32(l, l->done), l->since);
}

/* ---- registers of lanes, from memory and to it ---- */

static void store_lanes(const struct loop *l, LLVMValueRef set, LLVMValueRef value, LLVMValueRef place)
{
    const struct writer *const t = l->t;

    write_store(t, LLVMBuildSelect(t->builder, set, value, write_load(t, t->lanes, place), ""), place);
}

static LLVMValueRef yield_turns(const struct loop *l)
{
    return write_field(l->t, l->t->w, offsetof(struct warp, yield_turns));
}

/* Stores the lanes of a set, a value for each group. */
static void store_set(const struct loop *l, LLVMValueRef sets[LOOP_GROUPS])
{
    const struct writer *const t = l->t;

    for (uint32_t group = 0; group < l->groups; group++) {
        if (l->yields) {
            LLVMValueRef place = words_place(l, yield_turns(l), group), more = write_splat(t, get32(l, l->yielded));
            store_lanes(l, sets[group], LLVMBuildAdd(t->builder, write_load(t, t->lanes, place), more, ""), place);
        }
        for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
            if (l->reg_written[reg]) {
                store_lanes(l, sets[group], loop_clean(l, reg, group), loop_lanes_place(l, reg, group));
            }
        }
        for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
            if (l->pred_writers[pred] & WRITERS_LANES) {
                LLVMValueRef place = loop_set_place(l, pred_set(l, pred), group);
                LLVMValueRef old = LLVMBuildBitCast(t->builder, write_load(t, t->i16, place), t->mask, "");
                LLVMValueRef now = loop_get(l, t->mask, l->pred[pred][group]);
                write_store(t, write_mask_bits(l->t, LLVMBuildSelect(t->builder, sets[group], now, old, "")), place);
            }
        }
    }
}

static void load_part(struct loop *l)
{
    const struct writer *const t = l->t;

    for (uint32_t group = 0; group < l->groups; group++) {
        for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
            if (l->reg_named[reg]) {
                loop_put(l, write_load(t, t->lanes, loop_lanes_place(l, reg, group)), l->reg[reg][group]);
            }
        }
        for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
            if (l->pred_named[pred] && !l->same[pred]) {
                LLVMValueRef bits = write_load(t, t->i16, loop_set_place(l, pred_set(l, pred), group));
                loop_put(l, LLVMBuildBitCast(t->builder, bits, t->mask, ""), l->pred[pred][group]);
            }
        }
    }
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        if (l->sreg_named[reg]) {
            loop_put(l, write_load(t, t->i32, sreg_place(l, reg)), l->sreg[reg]);
        }
    }
    for (uint32_t reg = 0; reg < EXEC_STEADY; reg++) {
        if (l->first_of[reg]) {
            LLVMValueRef row = write_field(t, t->vreg, (uint64_t)reg * t->unit->wave * sizeof(uint32_t));
            loop_put(l, write_load(t, t->i32, row), l->first[reg]);
        }
    }
}

/* ---- ends of a part ---- */

static uint32_t block_of(const struct loop *l, uint32_t n)
{
    while (!l->begins[n]) {
        n--;
    }
    return n;
}

LLVMValueRef loop_done_at(const struct loop *l, uint32_t n)
{
    return LLVMBuildAdd(l->t->builder, get32(l, l->done), write_i32(l->t, n - block_of(l, n)), "");
}

/* The part ends, and goes on at the unit's instruction `pc`. */
static void end_part(struct loop *l, int64_t pc)
{
    for (uint32_t group = 0; group < l->groups; group++) {
        for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
            if (l->reg_written[reg] && l->now[reg] == RAW_FLOAT) {
                loop_put(l, loop_clean(l, reg, group), l->reg[reg][group]);
            }
        }
    }
    loop_put(l, write_i32(l->t, (uint32_t)pc), l->end_pc);
    LLVMBuildBr(l->t->builder, l->part_end);
}

void loop_stop_at(struct loop *l, uint32_t n)
{
    add32(l, l->done, n - block_of(l, n));
    end_part(l, n);
}

void loop_unless(struct loop *l, LLVMValueRef stops, uint32_t n)
{
    LLVMBasicBlockRef stop = write_block(l->t), on = write_block(l->t);

    write_rarely(l->t, stops, stop, on);
    write_at(l->t, stop);
    loop_stop_at(l, n);
    write_at(l->t, on);
}

/* ---- blocks ---- */

/* From instruction `from` to `to`: `done` has what was executed. */
static void go(struct loop *l, uint32_t from, int64_t to)
{
    struct writer *const t = l->t;

    if (to < 0 || to >= t->unit->insns) {
        end_part(l, to);
        return;
    }
    if (to > from) {
        LLVMBuildBr(t->builder, l->at[to]);
        return;
    }
    LLVMBasicBlockRef end = write_block(t);
    write_rarely(t, LLVMBuildICmp(t->builder, LLVMIntUGT, get32(l, l->done), get32(l, l->stop), ""), end, l->at[to]);
    write_at(t, end);
    end_part(l, to);
}

/* Lanes that are active and have the guard. */
static void guarded(const struct loop *l, uint32_t guard, LLVMValueRef sets[LOOP_GROUPS])
{
    for (uint32_t group = 0; group < l->groups; group++) {
        LLVMValueRef has = loop_pred(l, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), group);
        sets[group] = LLVMBuildAnd(l->t->builder, has, loop_get(l, l->t->mask, l->active[group]), "");
    }
}

/* Lanes could go different ways: all go the way that is likely, or the part ends. */
static void write_guess(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = loop_insn_of(l, n);
    struct writer *const t = l->t;
    const bool back = insn->imm <= 0;
    LLVMValueRef others[LOOP_GROUPS];

    guarded(l, back ? insn->guard ^ PPU_GUARD_NEGATE : insn->guard, others);
    LLVMValueRef far = LLVMBuildICmp(t->builder, LLVMIntUGE, loop_done_at(l, n), get32(l, l->allowed), "");
    loop_unless(l, l->parts > 1 ? LLVMBuildOr(t->builder, any(l, others), far, "") : any(l, others), n);
    add32(l, l->done, n + 1 - block_of(l, n));
    go(l, n, back ? (int64_t)n + insn->imm : (int64_t)n + 1);
}

static void write_branch(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = loop_insn_of(l, n);
    const uint32_t pred = insn->guard & PPU_GUARD_PRED;
    struct writer *const t = l->t;
    LLVMValueRef same = l->now_same[pred] ? l->now_same[pred]
                        : l->same[pred]   ? loop_get(l, t->i1, l->same[pred])
                                          : NULL;

    if (insn->guard != 0 && !same) {
        write_guess(l, n);
        return;
    }
    LLVMBasicBlockRef taken = write_block(t), rest = write_block(t);
    add32(l, l->done, n + 1 - block_of(l, n));
    if (insn->guard == 0) {
        same = LLVMConstInt(t->i1, 1, false);
    } else if (insn->guard & PPU_GUARD_NEGATE) {
        same = LLVMBuildNot(t->builder, same, "");
    }
    LLVMBuildCondBr(t->builder, same, taken, rest);
    write_at(t, taken);
    go(l, n, (int64_t)n + insn->imm);
    write_at(t, rest);
    go(l, n, (int64_t)n + 1);
}

/* Lanes that have the guard are not active any more. */
static void write_leave(struct loop *l, uint32_t n, uint32_t which)
{
    struct writer *const t = l->t;
    LLVMBasicBlockRef some = write_block(t), none = write_block(t), on = write_block(t);
    LLVMValueRef sets[LOOP_GROUPS], rest[LOOP_GROUPS];

    add32(l, l->done, n + 1 - block_of(l, n));
    guarded(l, loop_insn_of(l, n)->guard, sets);
    LLVMBuildCondBr(t->builder, any(l, sets), some, on);
    write_at(t, some);
    count_lanes(l);
    store_set(l, sets);
    for (uint32_t group = 0; group < l->groups; group++) {
        LLVMValueRef place = loop_set_place(l, l->left[which], group);
        LLVMValueRef all =
            LLVMBuildOr(t->builder, write_load(t, t->i16, place), write_mask_bits(l->t, sets[group]), "");
        write_store(t, all, place);
        rest[group] = LLVMBuildAnd(t->builder, loop_get(l, t->mask, l->active[group]),
                                   LLVMBuildNot(t->builder, sets[group], ""), "");
        loop_put(l, rest[group], l->active[group]);
    }
    LLVMBuildCondBr(t->builder, any(l, rest), on, none);
    write_at(t, none);
    end_part(l, (int64_t)n + 1);
    write_at(t, on);
    go(l, n, (int64_t)n + 1);
}

/* The part ends before one that yields. */
static void write_yield(struct loop *l, uint32_t n)
{
    LLVMBuilderRef b = l->t->builder;

    loop_unless(l, LLVMBuildICmp(b, LLVMIntUGE, get32(l, l->yielded), get32(l, l->yields_left), ""), n);
    add32(l, l->yielded, 1);
    add32(l, l->done, n + 1 - block_of(l, n));
    go(l, n, (int64_t)n + 1);
}

static void write_control(struct loop *l, uint32_t n)
{
    if (loop_insn_of(l, n)->op == PPU_OP_YIELDN) {
        write_yield(l, n);
        return;
    }
    if (loop_insn_of(l, n)->op == PPU_OP_BRA) {
        write_branch(l, n);
        return;
    }
    for (uint32_t i = 0; i < l->leave_count; i++) {
        if (l->leaves[i] == n) {
            write_leave(l, n, i);
        }
    }
}

static void write_block_at(struct loop *l, uint32_t begin)
{
    const uint32_t insns = l->t->unit->insns;
    uint32_t n = begin;

    write_at(l->t, l->at[begin]);
    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        l->now[reg] = l->raw[begin][reg] == FLOW_RAW ? RAW_FLOAT : RAW_NO;
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        l->now_same[pred] = NULL;
    }
    while (n < insns && l->t->kind[n] != KIND_CONTROL && (n == begin || !l->begins[n])) {
        loop_write_insn(l, n++);
    }
    if (n < insns && l->t->kind[n] == KIND_CONTROL && (n == begin || !l->begins[n])) {
        write_control(l, n);
        return;
    }
    add32(l, l->done, n - begin);
    go(l, n - 1, n);
}

/* ---- parts ---- */

static void begin_part(struct loop *l, LLVMBasicBlockRef next)
{
    struct writer *const t = l->t;
    LLVMBasicBlockRef work = write_block(t);
    LLVMValueRef sets[LOOP_GROUPS];

    for (uint32_t group = 0; group < l->groups; group++) {
        LLVMValueRef bits = write_load(t, t->i16, loop_set_place(l, active_set(l), group));
        sets[group] = LLVMBuildBitCast(t->builder, bits, t->mask, "");
        loop_put(l, sets[group], l->active[group]);
    }
    LLVMBuildCondBr(t->builder, any(l, sets), work, next);
    write_at(t, work);
    if (l->gathers) {
        loop_find_offsets(l);
    }
    load_part(l);
    loop_put(l, get32(l, l->begun), l->done);
    loop_put(l, get32(l, l->begun), l->since);
    loop_put(l, write_i64(t, 0), l->lines);
    loop_put(l, write_i32(t, 0), l->yielded);
    loop_put(l, write_i32(t, 0), l->trace_at);
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (l->same[pred]) {
            loop_put(l, loop_get(l, t->i1, l->begun_same[pred]), l->same[pred]);
        }
    }
    LLVMBuildBr(t->builder, l->at[0]);
}

/* The part that was longest in the loop says what is the same for all lanes. */
static void keep_best(struct loop *l, LLVMValueRef alive)
{
    struct writer *const t = l->t;
    LLVMBasicBlockRef better = write_block(t), behind = write_block(t);
    LLVMValueRef done = get32(l, l->done), best = get32(l, l->best_done);
    LLVMValueRef later = LLVMBuildICmp(t->builder, LLVMIntUGT, done, best, "");
    LLVMValueRef as_late = LLVMBuildAnd(t->builder, alive, LLVMBuildICmp(t->builder, LLVMIntEQ, done, best, ""), "");

    LLVMBuildCondBr(t->builder, LLVMBuildOr(t->builder, later, as_late, ""), better, behind);
    write_at(t, better);
    loop_put(l, done, l->best_done);
    loop_put(l, get32(l, l->end_pc), l->best_pc);
    loop_put(l, loop_get(l, t->i64, l->lines), l->best_lines);
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        if (l->sreg_written[reg]) {
            loop_put(l, get32(l, l->sreg[reg]), l->best_sreg[reg]);
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (l->same[pred]) {
            loop_put(l, loop_get(l, t->i1, l->same[pred]), l->best_same[pred]);
        }
    }
    LLVMBuildBr(t->builder, behind);
    write_at(t, behind);
}

static void finish_part(struct loop *l)
{
    struct writer *const t = l->t;
    LLVMValueRef sets[LOOP_GROUPS];

    write_at(t, l->part_end);
    if (l->leave_count != 0) {
        count_lanes(l);
    }
    for (uint32_t group = 0; group < l->groups; group++) {
        sets[group] = loop_get(l, t->mask, l->active[group]);
    }
    memset(l->now, RAW_NO, sizeof(l->now));
    store_set(l, sets);
    LLVMValueRef alive = any(l, sets), done = get32(l, l->done);
    keep_best(l, alive);
    LLVMValueRef most = get32(l, l->all_most), least = get32(l, l->alive_least);
    loop_put(l, LLVMBuildSelect(t->builder, LLVMBuildICmp(t->builder, LLVMIntUGT, done, most, ""), done, most, ""),
             l->all_most);
    loop_put(l, LLVMBuildSelect(t->builder, alive, smaller(l, done, least), least, ""), l->alive_least);
}

/* All parts, one after the other. */
static void write_parts(struct loop *l)
{
    struct writer *const t = l->t;
    LLVMBasicBlockRef next = write_block(t);
    const struct write_repeat parts = write_repeat_begin(t);

    l->part = parts.number;
    l->part_end = write_block(t);
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        l->at[n] = l->begins[n] ? write_block(t) : NULL;
    }
    begin_part(l, next);
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (l->begins[n]) {
            write_block_at(l, n);
        }
    }
    finish_part(l);
    LLVMBuildBr(t->builder, next);
    write_at(t, next);
    write_repeat_end(t, &parts, l->parts);
}

/* ---- rounds ---- */

/* Predicates that are the same for all lanes, before the round. */
static void begin_same(struct loop *l)
{
    struct writer *const t = l->t;

    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (l->same[pred]) {
            LLVMBasicBlockRef on = write_block(t);
            write_guard(t, PPU_GUARD_ON | pred);
            LLVMValueRef taken = LLVMBuildICmp(t->builder, LLVMIntNE, get32(l, t->taken), write_i32(t, 0), "");
            LLVMValueRef rest = LLVMBuildICmp(t->builder, LLVMIntNE, get32(l, t->rest), write_i32(t, 0), "");
            loop_put(l, taken, l->begun_same[pred]);
            loop_put(l, taken, l->best_same[pred]);
            write_rarely(t, LLVMBuildAnd(t->builder, taken, rest, ""), t->leave, on);
            write_at(t, on);
        }
    }
}

static void begin_round(struct loop *l)
{
    struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef begun = write_load(t, t->i32, write_field(t, t->turn, offsetof(struct tier_turn, done)));
    LLVMValueRef budget = write_load(t, t->i32, write_field(t, t->turn, offsetof(struct tier_turn, budget)));

    begin_same(l);
    if (l->yields) {
        LLVMValueRef arguments[] = { t->x, write_i32(t, l->yields_at) };
        loop_put(l, write_kit(t, "kit_yields_left", arguments, 2), l->yields_left);
    }
    loop_put(l, begun, l->begun);
    loop_put(l,
             smaller(l, LLVMBuildSub(b, budget, write_i32(t, t->unit->insns), ""),
                     LLVMBuildAdd(b, begun, write_i32(t, l->gathers ? LOOP_GATHER_ROUND : LOOP_ROUND), "")),
             l->stop);
    loop_put(l, write_i32(t, UINT32_MAX), l->allowed);
}

static void begin_parts(struct loop *l)
{
    struct writer *const t = l->t;
    LLVMValueRef begun = get32(l, l->begun);

    loop_put(l, write_i32(t, 0), l->traced);
    loop_put(l, write_i32(t, LOOP_TRACE), l->traced_most);
    loop_put(l, write_i64(t, 0), l->lanes);
    loop_put(l, write_i64(t, 0), l->best_lines);
    loop_put(l, write_i64(t, 0), l->own_lines);
    loop_put(l, write_i32(t, 0), l->best_pc);
    loop_put(l, begun, l->best_done);
    loop_put(l, begun, l->all_most);
    loop_put(l, write_i32(t, UINT32_MAX), l->alive_least);
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        if (l->sreg_written[reg]) {
            loop_put(l, write_load(t, t->i32, sreg_place(l, reg)), l->best_sreg[reg]);
        }
    }
    for (uint32_t i = 0; i < l->leave_count; i++) {
        for (uint32_t word = 0; word < sizeof(struct lanes) / 8; word++) {
            write_store(t, write_i64(t, 0), write_field(t, l->left[i], 8ull * word));
        }
    }
}

static void end_round(struct loop *l)
{
    struct writer *const t = l->t;
    const size_t lines = offsetof(struct sm_cta, count) + PPU_COUNTER_TRANSACTIONS * sizeof(uint64_t);

    write_store(t, get32(l, l->best_done), write_field(t, t->turn, offsetof(struct tier_turn, done)));
    write_store(t, LLVMBuildAdd(t->builder, t->base, get32(l, l->best_pc), ""),
                write_field(t, t->w, offsetof(struct warp, pc)));
    if (l->reads) {
        LLVMValueRef all =
            LLVMBuildAdd(t->builder, loop_get(l, t->i64, l->best_lines), loop_get(l, t->i64, l->own_lines), "");
        write_count(t, write_field(t, t->cta, lines), all);
    }
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        if (l->sreg_written[reg]) {
            write_store(t, get32(l, l->best_sreg[reg]), sreg_place(l, reg));
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        for (uint32_t half = 0; l->same[pred] && half < 2; half++) {
            LLVMValueRef whole =
                write_load(t, t->i64, write_field(t, t->x, offsetof(struct exec, whole) + half * sizeof(uint64_t)));
            LLVMValueRef all = LLVMBuildSExt(t->builder, loop_get(l, t->i1, l->best_same[pred]), t->i64, "");
            write_store(t, LLVMBuildAnd(t->builder, whole, all, ""),
                        write_field(t, pred_set(l, pred), half * sizeof(uint64_t)));
        }
    }
}

/* Lanes that have left wait for their tokens. */
static void settle(struct loop *l)
{
    struct writer *const t = l->t;
    LLVMValueRef counts[] = { t->x, get32(l, l->begun), get32(l, l->best_done), loop_get(l, t->i64, l->lanes) };

    write_kit(t, "kit_counted", counts, 4);
    for (uint32_t i = 0; i < l->leave_count; i++) {
        LLVMBasicBlockRef on = write_block(t);
        LLVMValueRef pc = LLVMBuildAdd(t->builder, t->base, write_i32(t, l->leaves[i]), "");
        LLVMValueRef arguments[] = { t->x, code_of(l, l->leaves[i]), t->calls, t->turn, pc, l->left[i] };
        LLVMValueRef ok = write_kit(t, "kit_left", arguments, 6);
        LLVMBuildCondBr(t->builder, ok, on, t->leave);
        write_at(t, on);
    }
    LLVMBasicBlockRef alive = write_block(t);
    LLVMValueRef none = LLVMBuildICmp(t->builder, LLVMIntEQ, get32(l, l->alive_least), write_i32(t, UINT32_MAX), "");
    LLVMBuildCondBr(t->builder, none, t->leave, alive);
    write_at(t, alive);
    write_store(t, LLVMBuildAdd(t->builder, t->base, get32(l, l->best_pc), ""),
                write_field(t, t->w, offsetof(struct warp, pc)));
}

/* Registers that are steady no more. */
static void forget_steady(struct loop *l)
{
    struct writer *const t = l->t;
    uint32_t keeps = UINT32_MAX;

    for (uint32_t reg = 0; reg < EXEC_STEADY; reg++) {
        keeps &= l->reg_written[reg] ? ~(1u << reg) : UINT32_MAX;
    }
    LLVMValueRef place = write_field(t, t->x, offsetof(struct exec, steady));
    write_store(t, LLVMBuildAnd(t->builder, write_load(t, t->i32, place), write_i32(t, keeps), ""), place);
}

static uint64_t saved_bytes(const struct loop *l)
{
    return (PPU_MAX_VREGS + 1ull) * l->t->unit->wave * sizeof(uint32_t) + sizeof(((struct warp *)0)->pred);
}

/* Copies so many bytes, there or back. */
static void save_bytes(struct loop *l, LLVMValueRef own, uint64_t bytes, LLVMValueRef kept, bool back)
{
    LLVMValueRef arguments[] = { back ? own : kept, back ? kept : own, write_i64(l->t, bytes) };

    write_kit(l->t, "kit_copy_rows", arguments, 3);
}

/* Copies what parts write, there or back. */
static void save(struct loop *l, LLVMValueRef area, bool back)
{
    struct writer *const t = l->t;
    const uint64_t row = t->unit->wave * sizeof(uint32_t), preds = sizeof(((struct warp *)0)->pred);
    uint64_t at = 0;

    save_bytes(l, write_field(t, t->w, offsetof(struct warp, pred)), preds, write_field(t, area, at), back);
    at += preds;
    if (l->yields) {
        save_bytes(l, yield_turns(l), row, write_field(t, area, at), back);
        at += row;
    }
    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        if (l->reg_written[reg]) {
            save_bytes(l, write_field(t, t->vreg, reg * row), row, write_field(t, area, at), back);
            at += row;
        }
    }
}

/* ---- lanes together, or one after the other ---- */

static void begin_pace(const struct loop *l, LLVMValueRef ticks)
{
    loop_put(l, write_kit(l->t, "kit_ticks", NULL, 0), ticks);
}

static void end_pace(const struct loop *l, bool apart, LLVMValueRef ticks, LLVMValueRef lanes)
{
    LLVMValueRef arguments[] = { l->t->turn, LLVMConstInt(l->t->i1, apart, false), loop_get(l, l->t->i64, ticks),
                                 lanes };

    write_kit(l->t, "kit_pace_took", arguments, 4);
}

/* Writes rounds in which lanes go apart. What is written next is those in which they go together, and which such a
 * round becomes that cannot go on. The result is where both go on. */
static LLVMBasicBlockRef write_apart(struct loop *l, LLVMValueRef area, LLVMValueRef ticks)
{
    struct writer *const t = l->t;
    LLVMBasicBlockRef alone = write_block(t), together = write_block(t), fail = write_block(t), end = write_block(t);
    LLVMValueRef turn = t->turn;

    begin_pace(l, ticks);
    LLVMBuildCondBr(t->builder, write_kit(t, "kit_pace_apart", &turn, 1), alone, together);
    write_at(t, alone);
    begin_parts(l);
    loop_write_apart(l, fail);
    end_pace(l, true, ticks, loop_get(l, t->i64, l->lanes));
    LLVMBuildBr(t->builder, end);
    write_at(t, fail);
    save(l, area, true);
    end_pace(l, true, ticks, write_i64(t, 0));
    begin_pace(l, ticks);
    LLVMBuildBr(t->builder, together);
    write_at(t, together);
    return end;
}

/* ---- the function ---- */

static void make_variables(struct loop *l)
{
    const struct writer *const t = l->t;
    LLVMValueRef *const words[] = { &l->done,    &l->since,       &l->end_pc,      &l->stop,     &l->allowed,
                                    &l->begun,   &l->traced,      &l->traced_most, &l->trace_at, &l->best_done,
                                    &l->best_pc, &l->alive_least, &l->all_most,    &l->yielded,  &l->yields_left };
    LLVMValueRef *const longs[] = { &l->lines, &l->lanes, &l->best_lines, &l->own_lines };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(words); i++) {
        *words[i] = loop_variable(l, t->i32);
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(longs); i++) {
        *longs[i] = loop_variable(l, t->i64);
    }
    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        for (uint32_t group = 0; l->reg_named[reg] && group < l->groups; group++) {
            l->reg[reg][group] = loop_variable(l, t->lanes);
        }
        l->first[reg] = l->first_of[reg] ? loop_variable(l, t->i32) : NULL;
        l->step[reg] = l->first_of[reg] ? loop_variable(l, t->i32) : NULL;
    }
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        l->sreg[reg] = l->sreg_named[reg] ? loop_variable(l, t->i32) : NULL;
        l->best_sreg[reg] = l->sreg_written[reg] ? loop_variable(l, t->i32) : NULL;
    }
    for (uint32_t group = 0; group < l->groups; group++) {
        l->active[group] = loop_variable(l, t->mask);
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        const bool same = l->pred_writers[pred] == WRITERS_SAME;
        l->same[pred] = same ? loop_variable(l, t->i1) : NULL;
        l->best_same[pred] = same ? loop_variable(l, t->i1) : NULL;
        l->begun_same[pred] = same ? loop_variable(l, t->i1) : NULL;
        for (uint32_t group = 0; l->pred_named[pred] && group < l->groups; group++) {
            l->pred[pred][group] = loop_variable(l, t->mask);
        }
    }
    for (uint32_t i = 0; i < l->leave_count; i++) {
        l->left[i] = loop_variable(l, LLVMArrayType2(t->i64, sizeof(struct lanes) / 8));
    }
    l->place = loop_variable(l, LLVMArrayType2(t->i64, sizeof(struct kit_place) / 8));
    l->row = loop_variable(l, LLVMArrayType2(t->i64, (sizeof(struct tier_row) + 7) / 8));
    l->words = loop_variable(l, t->lanes);
    l->request = loop_variable(l, LLVMArrayType2(t->i64, (sizeof(struct kit_lanes) + 7) / 8));
    l->values = loop_variable(l, LLVMArrayType2(t->i32, KIT_MOST_WORDS * PPU_LANES));
    for (uint32_t n = 0; n < t->unit->insns && l->gathers; n++) {
        struct loop_offsets *const offsets = t->kind[n] == KIND_LOAD ? loop_offsets_of(l, n) : NULL;
        if (offsets && !offsets->kind) {
            offsets->kind = loop_variable(l, t->i32);
            offsets->start = loop_variable(l, LLVMArrayType2(t->i32, GATHER_GROUPS));
        }
    }
    l->shared = loop_variable(l, t->ptr);
    l->shared_bytes = loop_variable(l, t->i32);
    l->trace = l->parts > 1 ? loop_variable(l, LLVMArrayType2(t->i32, LOOP_TRACE)) : NULL;
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (t->kind[n] == KIND_LOAD_ONE || (l->gathers && t->kind[n] == KIND_LOAD)) {
            l->page[n] = loop_variable(l, LLVMArrayType2(t->i64, sizeof(struct page) / 8));
            write_store(t, write_i64(t, 0), write_field(t, l->page[n], offsetof(struct page, bytes)));
        }
    }
}

/* Nothing is done when the condition holds. */
static void refuse(struct loop *l, LLVMValueRef condition)
{
    LLVMBasicBlockRef on = write_block(l->t);

    write_rarely(l->t, condition, l->refused, on);
    write_at(l->t, on);
}

/* Floats of before the loop that would be taken for some of its own: their NaNs must be the one. */
static void refuse_floats(struct loop *l)
{
    struct writer *const t = l->t;
    LLVMValueRef differ = LLVMConstNull(t->lanes);

    for (uint32_t chunk = 0; chunk < t->unit->wave / TIER_CHUNK; chunk++) {
        LLVMValueRef set = write_load(t, t->i16, write_field(t, active_set(l), chunk * TIER_CHUNK / 8));
        LLVMValueRef active = LLVMBuildBitCast(t->builder, set, t->mask, "");
        for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
            bool raw = false;
            for (uint32_t n = 0; n < t->unit->insns; n++) {
                raw = raw || (l->begins[n] && l->raw[n][reg] == FLOW_RAW);
            }
            if (raw) {
                const uint64_t at = ((uint64_t)reg * t->unit->wave + chunk * TIER_CHUNK) * sizeof(uint32_t);
                LLVMValueRef value = write_load(t, t->lanes, write_field(t, t->vreg, at));
                LLVMValueRef changed = LLVMBuildXor(t->builder, value, loop_canonical(l, value), "");
                changed = LLVMBuildSelect(t->builder, active, changed, LLVMConstNull(t->lanes), "");
                differ = LLVMBuildOr(t->builder, differ, changed, "");
            }
        }
    }
    LLVMValueRef set = LLVMBuildICmp(t->builder, LLVMIntNE, differ, LLVMConstNull(t->lanes), "");
    refuse(l, LLVMBuildICmp(t->builder, LLVMIntNE, write_mask_bits(l->t, set), LLVMConstNull(t->i16), ""));
}

/* The type of tokens that an instruction lets lanes wait for. */
static uint32_t wait_type(const struct ppu_insn *insn)
{
    return insn->op == PPU_OP_SYNC ? PPU_TOKEN_SYNC : insn->op == PPU_OP_BRK ? PPU_TOKEN_BRK : PPU_TOKEN_CONT;
}

static void ask(struct loop *l)
{
    struct writer *const t = l->t;

    if (l->needs_whole) {
        refuse(l, LLVMBuildNot(t->builder, loop_get(l, t->i1, t->full), ""));
    }
    if (l->reads) {
        LLVMValueRef may = write_kit(t, "kit_may_read", &t->x, 1);
        refuse(l, LLVMBuildNot(t->builder, may, ""));
    }
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        const struct ppu_insn *const insn = loop_insn_of(l, n);
        if (t->kind[n] == KIND_LOAD && insn->lane_off && !l->gathers) {
            const uint32_t apart = insn->indexed ? 1 : ppu_width_bytes(insn->width);
            LLVMValueRef arguments[] = { t->x, write_i32(t, insn->rb), write_i32(t, t->unit->wave),
                                         write_i32(t, apart) };
            LLVMValueRef step = write_kit(t, "kit_steady", arguments, 4);
            refuse(l, LLVMBuildICmp(t->builder, LLVMIntUGT, step, write_i32(t, 1), ""));
            loop_put(l, step, l->step[insn->rb]);
        }
    }
    for (uint32_t i = 0; i < l->leave_count; i++) {
        LLVMValueRef pc = LLVMBuildAdd(t->builder, t->base, write_i32(t, l->leaves[i]), "");
        LLVMValueRef target =
            LLVMBuildAdd(t->builder, pc, write_i32(t, (uint32_t)loop_insn_of(l, l->leaves[i])->imm), "");
        LLVMValueRef arguments[] = { t->x, write_i32(t, wait_type(loop_insn_of(l, l->leaves[i]))), target };
        LLVMValueRef waits = write_kit(t, "kit_would_wait", arguments, 3);
        refuse(l, LLVMBuildNot(t->builder, waits, ""));
    }
    refuse_floats(l);
}

static void find_shared(const struct loop *l)
{
    loop_put(l, write_shared(l->t), l->shared);
    loop_put(l, write_shared_bytes(l->t), l->shared_bytes);
}

void loop_write(struct loop *l)
{
    struct writer *const t = l->t;
    const bool apart = loop_may_go_apart(l);
    const bool saves = ((l->guesses || l->gathers) && l->parts > 1) || apart;
    LLVMBasicBlockRef round = write_block(t), again = write_block(t), end = write_block(t);

    make_variables(l);
    LLVMValueRef ticks = apart ? loop_variable(l, t->i64) : NULL;
    LLVMValueRef area =
        saves ? loop_variable(l, LLVMArrayType2(LLVMInt8TypeInContext(t->context), saved_bytes(l))) : NULL;
    ask(l);
    find_shared(l);
    LLVMBuildBr(t->builder, round);
    write_at(t, round);
    begin_round(l);
    if (saves) {
        save(l, area, false);
    }
    LLVMBasicBlockRef finish = apart ? write_apart(l, area, ticks) : NULL;
    LLVMBuildBr(t->builder, again);
    write_at(t, again);
    begin_parts(l);
    write_parts(l);
    if (saves) {
        LLVMBasicBlockRef undo = write_block(t), good = write_block(t);
        LLVMValueRef least = get32(l, l->alive_least);
        write_rarely(t, LLVMBuildICmp(t->builder, LLVMIntUGT, get32(l, l->all_most), least, ""), undo, good);
        write_at(t, undo);
        save(l, area, true);
        loop_put(l, least, l->allowed);
        LLVMBuildBr(t->builder, again);
        write_at(t, good);
    }
    if (apart) {
        end_pace(l, false, ticks, loop_get(l, t->i64, l->lanes));
        LLVMBuildBr(t->builder, finish);
        write_at(t, finish);
    }
    end_round(l);
    forget_steady(l);
    if (l->leave_count != 0) {
        settle(l);
    }
    LLVMValueRef on = LLVMBuildICmp(t->builder, LLVMIntUGT, get32(l, l->best_done), get32(l, l->begun), "");
    on = LLVMBuildAnd(t->builder, on, LLVMBuildICmp(t->builder, LLVMIntEQ, get32(l, l->best_pc), write_i32(t, 0), ""),
                      "");
    LLVMBuildCondBr(t->builder, on, end, t->leave);
    write_at(t, end);
    LLVMBuildCondBr(t->builder, write_must_leave(t), t->leave, round);
}
