/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes rounds of a loop without effects (loop.c) in which each lane goes through the loop alone, one after the other.
 * That is faster where lanes leave after different numbers of turns, or load wherever. Nothing in the loop orders
 * lanes, so registers, sets and counters are those of a round in which they go together. A lane that cannot go on so
 * ends the round, of which nothing is kept then.
 */
#include "ppu/macros.h"
#include "qemu-device/tier/loop.h"
#include "qemu-device/tier/operand.h"
#include "qemu-device/tier/place.h"

#include <string.h>

/* What lanes and passes of a round have in variables, beside struct loop. */
struct round {
    struct loop *l;
    LLVMValueRef pass, left_lanes, lane; /* the pass and the lane; lanes of the pass that are still to come */
    LLVMValueRef lane_row, last_row; /* the lane's word in the first row of the table, and of the turn after the last */
    LLVMValueRef table_bytes;        /* i64: of the turns that a lane may have in the round */
    LLVMValueRef lane_done;          /* instructions that the lane has executed in the round */
    LLVMValueRef pass_done;          /* the same, of each lane of the pass */
    LLVMValueRef most, sum;          /* the same, of the lane that has most, and of all; i32, i64 */
    LLVMValueRef alive;              /* i1: some lane has not left */
    LLVMValueRef left[LOOP_LEAVES];  /* lanes of the pass that have left by each instruction */
    LLVMValueRef pred[PPU_PREDS];    /* lanes of the pass that have a predicate; NULL: none is written */
    LLVMValueRef request;            /* struct kit_apart */
    LLVMBasicBlockRef store, next;   /* what a lane ends with; where the next lane begins */
};

static bool loads_global(const struct loop *l, uint32_t n)
{
    return l->t->kind[n] == KIND_LOAD && loop_insn_of(l, n)->op == PPU_OP_LDG;
}

bool loop_may_go_apart(const struct loop *l)
{
    const uint32_t insns = l->t->unit->insns;
    const struct ppu_insn *const last = loop_insn_of(l, insns - 1);
    uint32_t loads = 0;

    if (!l->gathers || l->leave_count == 0 || l->yields || l->t->unit->wave < PPU_LANES || last->op != PPU_OP_BRA ||
        last->guard != 0 || (uint32_t)(insns - 1 + last->imm) != 0) {
        return false;
    }
    for (uint32_t n = 0; n + 1 < insns; n++) {
        const enum tier_kind kind = l->t->kind[n];
        if (kind != KIND_VECTOR && kind != KIND_LOAD &&
            (kind != KIND_CONTROL || loop_insn_of(l, n)->op == PPU_OP_BRA)) {
            return false;
        }
        loads += loads_global(l, n);
    }
    return loads != 0;
}

/* ---- variables ---- */

static LLVMValueRef get32(const struct round *r, LLVMValueRef variable)
{
    return loop_get(r->l, r->l->t->i32, variable);
}

static void put32(const struct round *r, uint32_t value, LLVMValueRef variable)
{
    loop_put(r->l, write_i32(r->l->t, value), variable);
}

static void make_variables(struct round *r)
{
    struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMValueRef *const words[] = { &r->left_lanes, &r->lane, &r->lane_done, &r->most };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(words); i++) {
        *words[i] = loop_variable(l, t->i32);
    }
    r->sum = loop_variable(l, t->i64);
    r->alive = loop_variable(l, t->i1);
    r->pass_done = loop_variable(l, LLVMArrayType2(t->i32, PPU_LANES));
    r->request = loop_variable(l, LLVMArrayType2(t->i64, sizeof(struct kit_apart) / 8));
    for (uint32_t i = 0; i < l->leave_count; i++) {
        r->left[i] = loop_variable(l, t->i32);
    }
    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        l->reg[reg][0] = l->reg_named[reg] ? loop_variable(l, t->i32) : NULL;
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        l->pred[pred][0] = l->pred_named[pred] ? loop_variable(l, t->i1) : NULL;
        r->pred[pred] = l->pred_writers[pred] != 0 ? loop_variable(l, t->i32) : NULL;
    }
    l->rows = 0;
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (loads_global(l, n)) {
            l->window[n] = (struct loop_window){
                .first = loop_variable(l, t->i64),
                .limit = loop_variable(l, t->i64),
                .host = loop_variable(l, t->i64),
                .window = loop_variable(l, LLVMArrayType2(t->i64, sizeof(struct kit_window) / 8)),
                .row = l->rows++,
            };
        }
    }
    l->turn_row = loop_variable(l, t->ptr);
    r->lane_row = loop_variable(l, t->ptr);
    r->last_row = loop_variable(l, t->ptr);
    r->table_bytes = loop_variable(l, t->i64);
    l->table = loop_variable(
        l, LLVMArrayType2(t->i32, (uint64_t)(LOOP_GATHER_ROUND / t->unit->insns + 2) * l->rows * PPU_LANES));
}

/* ---- a lane ---- */

/* The lane's word of a register. */
static LLVMValueRef word_place(const struct round *r, uint32_t reg)
{
    const struct writer *const t = r->l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef row = write_field(t, t->vreg, (uint64_t)reg * t->unit->wave * sizeof(uint32_t));
    LLVMValueRef lane = LLVMBuildAdd(b, LLVMBuildMul(b, r->pass, write_i64(t, PPU_LANES), ""),
                                     LLVMBuildZExt(b, get32(r, r->lane), t->i64, ""), "");

    return write_behind(t, row, LLVMBuildMul(b, lane, write_i64(t, sizeof(uint32_t)), ""));
}

/* What the pass has of a set; i32. */
static LLVMValueRef set_place(const struct round *r, LLVMValueRef set)
{
    const struct writer *const t = r->l->t;

    return write_behind(t, set, LLVMBuildMul(t->builder, r->pass, write_i64(t, sizeof(uint32_t)), ""));
}

static LLVMValueRef pred_place(const struct round *r, uint32_t pred)
{
    const struct writer *const t = r->l->t;

    return set_place(r, write_field(t, t->w, offsetof(struct warp, pred) + pred * sizeof(struct lanes)));
}

static LLVMValueRef lane_bit(const struct round *r)
{
    return LLVMBuildShl(r->l->t->builder, write_i32(r->l->t, 1), get32(r, r->lane), "");
}

static void load_lane(const struct round *r)
{
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef lane = LLVMBuildZExt(b, get32(r, r->lane), t->i64, "");

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        if (l->reg_named[reg]) {
            loop_put(l, write_load(t, t->i32, word_place(r, reg)), l->reg[reg][0]);
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (l->pred_named[pred]) {
            LLVMValueRef all = r->pred[pred] ? get32(r, r->pred[pred]) : write_load(t, t->i32, pred_place(r, pred));
            LLVMValueRef bit = LLVMBuildAnd(b, all, lane_bit(r), "");
            loop_put(l, LLVMBuildICmp(b, LLVMIntNE, bit, write_i32(t, 0), ""), l->pred[pred][0]);
        }
    }
    LLVMValueRef row = write_behind(t, l->table, LLVMBuildMul(b, lane, write_i64(t, sizeof(uint32_t)), ""));
    loop_put(l, row, l->turn_row);
    loop_put(l, row, r->lane_row);
    loop_put(l, write_behind(t, row, loop_get(l, t->i64, r->table_bytes)), r->last_row);
}

static void store_lane(const struct round *r)
{
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef done = get32(r, r->lane_done), most = get32(r, r->most), sum = loop_get(l, t->i64, r->sum);
    LLVMValueRef lane = LLVMBuildZExt(b, get32(r, r->lane), t->i64, ""), bit = lane_bit(r);

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        if (l->reg_written[reg]) {
            write_store(t, loop_get(l, t->i32, l->reg[reg][0]), word_place(r, reg));
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (r->pred[pred]) {
            LLVMValueRef others = LLVMBuildAnd(b, get32(r, r->pred[pred]), LLVMBuildNot(b, bit, ""), "");
            LLVMValueRef own = LLVMBuildSelect(b, loop_get(l, t->i1, l->pred[pred][0]), bit, write_i32(t, 0), "");
            loop_put(l, LLVMBuildOr(b, others, own, ""), r->pred[pred]);
        }
    }
    write_store(t, done, write_behind(t, r->pass_done, LLVMBuildMul(b, lane, write_i64(t, sizeof(uint32_t)), "")));
    loop_put(l, LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntUGT, done, most, ""), done, most, ""), r->most);
    loop_put(l, LLVMBuildAdd(b, sum, LLVMBuildZExt(b, done, t->i64, ""), ""), r->sum);
}

static uint64_t turn_bytes(const struct loop *l)
{
    return l->rows * sizeof(uint32_t[PPU_LANES]);
}

/* The lane ends, after `more` instructions of its turn. */
static void end_lane(const struct round *r, uint32_t more)
{
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef row = LLVMBuildPtrToInt(b, loop_get(l, t->ptr, l->turn_row), t->i64, "");
    LLVMValueRef first = LLVMBuildPtrToInt(b, loop_get(l, t->ptr, r->lane_row), t->i64, "");
    LLVMValueRef turns = LLVMBuildUDiv(b, LLVMBuildSub(b, row, first, ""), write_i64(t, turn_bytes(l)), "");
    LLVMValueRef all = LLVMBuildMul(b, LLVMBuildTrunc(b, turns, t->i32, ""), write_i32(t, t->unit->insns), "");

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        if (l->reg_written[reg] && l->now[reg] == RAW_FLOAT) {
            loop_put(l, loop_clean(l, reg, 0), l->reg[reg][0]);
        }
    }
    loop_put(l, LLVMBuildAdd(b, all, write_i32(t, more), ""), r->lane_done);
    LLVMBuildBr(b, r->store);
}

/* ---- the way through the loop ---- */

static void write_leave(const struct round *r, uint32_t n, uint32_t which)
{
    const struct loop *const l = r->l;
    struct writer *const t = l->t;
    LLVMBasicBlockRef leaves = write_block(t);
    LLVMValueRef has = loop_pred(l, loop_insn_of(l, n)->guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), 0);

    LLVMBuildCondBr(t->builder, has, leaves, l->at[n + 1]);
    write_at(t, leaves);
    loop_put(l, LLVMBuildOr(t->builder, get32(r, r->left[which]), lane_bit(r), ""), r->left[which]);
    end_lane(r, n + 1);
}

/* The lane begins its next turn, unless it has had all of the round. */
static void write_turn(const struct round *r)
{
    const struct loop *const l = r->l;
    struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMBasicBlockRef stays = write_block(t);
    LLVMValueRef row = write_field(t, loop_get(l, t->ptr, l->turn_row), turn_bytes(l));

    loop_put(l, row, l->turn_row);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, row, loop_get(l, t->ptr, r->last_row), ""), stays, l->at[0]);
    write_at(t, stays);
    loop_put(l, LLVMConstInt(t->i1, 1, false), r->alive);
    end_lane(r, 0);
}

static void write_control(const struct round *r, uint32_t n)
{
    const struct loop *const l = r->l;

    if (loop_insn_of(l, n)->op == PPU_OP_BRA) {
        write_turn(r);
        return;
    }
    for (uint32_t i = 0; i < l->leave_count; i++) {
        if (l->leaves[i] == n) {
            write_leave(r, n, i);
        }
    }
}

static void write_way(const struct round *r)
{
    struct loop *const l = r->l;
    struct writer *const t = l->t;

    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (l->begins[n]) {
            write_at(t, l->at[n]);
            for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
                l->now[reg] = l->raw[n][reg] == FLOW_RAW ? RAW_FLOAT : RAW_NO;
            }
        }
        if (t->kind[n] == KIND_CONTROL) {
            write_control(r, n);
        } else {
            loop_write_insn(l, n);
        }
    }
}

/* ---- a pass ---- */

static void begin_pass(const struct round *r)
{
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMValueRef active = write_field(t, t->w, offsetof(struct warp, active));

    loop_put(l, write_load(t, t->i32, set_place(r, active)), r->left_lanes);
    for (uint32_t i = 0; i < l->leave_count; i++) {
        put32(r, 0, r->left[i]);
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (r->pred[pred]) {
            loop_put(l, write_load(t, t->i32, pred_place(r, pred)), r->pred[pred]);
        }
    }
    for (uint32_t i = 0; i < PPU_LANES / TIER_CHUNK; i++) {
        write_store(t, LLVMConstNull(t->lanes), write_field(t, r->pass_done, i * sizeof(uint32_t[TIER_CHUNK])));
    }
}

/* Counts the transactions of the pass. */
static void count_pass(const struct round *r, uint32_t n)
{
    const struct ppu_insn *const insn = loop_insn_of(r->l, n);
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef most = LLVMBuildAdd(b, get32(r, r->most), write_i32(t, t->unit->insns - 1), "");
    LLVMValueRef turns = LLVMBuildUDiv(b, most, write_i32(t, t->unit->insns), "");
    LLVMValueRef first = write_field(t, l->table, (uint64_t)l->window[n].row * sizeof(uint32_t[PPU_LANES]));
    LLVMValueRef upper = write_field(t, l->window[n].window, offsetof(struct kit_window, upper));
    LLVMValueRef base = loop_base_of(l, insn);

    if (!insn->indexed) {
        upper = LLVMBuildShl(b, write_load(t, t->i64, upper), write_i64(t, 32), "");
        base = LLVMBuildAdd(b, base, upper, "");
    }
    const struct {
        LLVMValueRef value;
        size_t at;
    } fields[] = {
        { first, offsetof(struct kit_apart, word) },
        { write_i64(t, (uint64_t)l->rows * PPU_LANES), offsetof(struct kit_apart, turn_words) },
        { r->pass_done, offsetof(struct kit_apart, done) },
        { base, offsetof(struct kit_apart, base) },
        { turns, offsetof(struct kit_apart, turns) },
        { write_i32(t, t->unit->insns), offsetof(struct kit_apart, insns) },
        { write_i32(t, n), offsetof(struct kit_apart, number) },
        { write_i32(t, ppu_width_bytes(insn->width)), offsetof(struct kit_apart, bytes) },
        { write_i32(t, insn->indexed), offsetof(struct kit_apart, indexed) },
        { write_i32(t, insn->guard != 0), offsetof(struct kit_apart, guarded) },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(fields); i++) {
        write_store(t, fields[i].value, write_field(t, r->request, fields[i].at));
    }
    LLVMValueRef request = r->request, lines = write_kit(t, "kit_apart_lines", &request, 1);
    loop_put(l, LLVMBuildAdd(b, loop_get(l, t->i64, l->own_lines), lines, ""), l->own_lines);
}

static void end_pass(const struct round *r)
{
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;

    for (uint32_t i = 0; i < l->leave_count; i++) {
        write_store(t, get32(r, r->left[i]), set_place(r, l->left[i]));
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (r->pred[pred]) {
            write_store(t, get32(r, r->pred[pred]), pred_place(r, pred));
        }
    }
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (loads_global(l, n)) {
            count_pass(r, n);
        }
    }
}

/* The lanes of the pass, one after the other; then writes go on at `behind`. */
static void write_lanes(struct round *r, LLVMBasicBlockRef behind)
{
    struct loop *const l = r->l;
    struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMBasicBlockRef begin = write_block(t);

    r->next = write_block(t);
    r->store = write_block(t);
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        l->at[n] = l->begins[n] ? write_block(t) : NULL;
    }
    LLVMBuildBr(b, r->next);
    write_at(t, r->next);
    LLVMValueRef lanes = get32(r, r->left_lanes);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, lanes, write_i32(t, 0), ""), behind, begin);
    write_at(t, begin);
    LLVMTypeRef word = t->i32;
    LLVMValueRef arguments[2] = { lanes, LLVMConstInt(t->i1, 1, false) };
    loop_put(l, write_intrinsic(t, "llvm.cttz", &word, 1, arguments, 2), r->lane);
    loop_put(l, LLVMBuildAnd(b, lanes, LLVMBuildSub(b, lanes, write_i32(t, 1), ""), ""), r->left_lanes);
    load_lane(r);
    LLVMBuildBr(b, l->at[0]);
    write_way(r);
    write_at(t, r->store);
    memset(l->now, RAW_NO, sizeof(l->now));
    store_lane(r);
    LLVMBuildBr(b, r->next);
    write_at(t, behind);
}

/* ---- a round ---- */

static void begin_apart(const struct round *r)
{
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef insns = LLVMBuildSub(b, get32(r, l->stop), get32(r, l->begun), "");
    LLVMValueRef turns = LLVMBuildUDiv(b, insns, write_i32(t, t->unit->insns), "");

    turns = LLVMBuildZExt(b, LLVMBuildAdd(b, turns, write_i32(t, 1), ""), t->i64, "");
    loop_put(l, LLVMBuildMul(b, turns, write_i64(t, turn_bytes(l)), ""), r->table_bytes);
    put32(r, 0, r->most);
    loop_put(l, write_i64(t, 0), r->sum);
    loop_put(l, LLVMConstNull(t->i1), r->alive);
    for (uint32_t n = 0; n < t->unit->insns; n++) {
        if (loads_global(l, n)) {
            LLVMValueRef upper = write_field(t, l->window[n].window, offsetof(struct kit_window, upper));
            loop_put(l, write_i64(t, 0), l->window[n].first);
            loop_put(l, write_i64(t, 0), l->window[n].limit);
            loop_put(l, write_i64(t, 0), l->window[n].host);
            write_store(t, write_i64(t, KIT_NO_UPPER), upper);
        }
    }
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        if (l->sreg_named[reg]) {
            LLVMValueRef place = write_field(t, t->w, offsetof(struct warp, sreg) + reg * sizeof(uint32_t));
            loop_put(l, write_load(t, t->i32, place), l->sreg[reg]);
        }
    }
}

/* What rounds in which lanes go together leave in these variables. */
static void end_apart(const struct round *r)
{
    const struct loop *const l = r->l;
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef done = LLVMBuildAdd(b, get32(r, l->begun), get32(r, r->most), "");
    LLVMValueRef alive = loop_get(l, t->i1, r->alive);

    loop_put(l, done, l->best_done);
    loop_put(l, done, l->all_most);
    loop_put(l, LLVMBuildSelect(b, alive, done, write_i32(t, UINT32_MAX), ""), l->alive_least);
    loop_put(l, write_i32(t, 0), l->best_pc);
    loop_put(l, loop_get(l, t->i64, r->sum), l->lanes);
}

void loop_write_apart(const struct loop *together, LLVMBasicBlockRef fail)
{
    struct loop l = *together;
    struct round r = { .l = &l };
    struct writer *const t = l.t;

    l.apart = true;
    l.groups = 1;
    l.words_type = t->i32;
    l.set_type = t->i1;
    l.fail = fail;
    make_variables(&r);
    begin_apart(&r);
    LLVMBasicBlockRef lanes = write_block(t);
    const struct write_repeat passes = write_repeat_begin(t);
    r.pass = passes.number;
    begin_pass(&r);
    write_lanes(&r, lanes);
    end_pass(&r);
    write_repeat_end(t, &passes, t->unit->wave / PPU_LANES);
    end_apart(&r);
}
