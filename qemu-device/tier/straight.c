/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a unit that is straight: what each warp executes once when it begins, up to its end or to what only the
 * interpreter does. What is the same for all lanes comes first; then each pass goes all the way, its registers values.
 * Nothing of the warp and no memory is written until all passes are through, or nothing can fail any more: where a page
 * is missing, or anything faults, the interpreter does the unit from its begin. Where stores come last, the unit ends
 * before a load behind one.
 */
#include "qemu-device/tier/straight.h"
#include "ppu/macros.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/tier/operand.h"
#include "qemu-device/tier/place.h"
#include "qemu-device/tier/same.h"

#include <stdlib.h>

#define LEAST_INSNS 4u  /* fewer are not worth the entry */
#define LEAST_BEFORE 6u /* the same where the warp goes on, as its registers are stored */

/* ---- how far the unit goes ---- */

static bool takes_load(struct straight *s, uint32_t n)
{
    const bool shared = straight_is_shared(s, n);

    for (uint32_t i = 0; i < s->store_count; i++) {
        const bool may_meet = straight_is_shared(s, s->stores[i]) == shared;
        if (may_meet &&
            (s->reload == RELOAD_NONE || (s->reload == RELOAD_EMPTY && straight_insn(s, s->stores[i])->guard == 0))) {
            return false;
        }
    }
    for (uint32_t i = 0; i < s->store_count; i++) {
        const bool may_meet = straight_is_shared(s, s->stores[i]) == shared;
        s->reloads = s->reloads || may_meet;
        s->empty[i] = s->empty[i] || (may_meet && s->reload == RELOAD_EMPTY);
    }
    return true;
}

static bool takes(struct straight *s, uint32_t n)
{
    switch (s->t->kind[n]) {
    case KIND_LEAVE:
        return false;
    case KIND_LOAD:
    case KIND_LOAD_ONE:
        return takes_load(s, n);
    case KIND_CHOICE:
        return s->pred_is_same[straight_insn(s, n)->pred & PPU_GUARD_PRED];
    case KIND_SPECIAL: /* of the lowest active lane, which is the first until lanes end */
        return !straight_insn(s, n)->scalar || s->exit_count == 0;
    case KIND_STORE:
        if (s->store_count == STRAIGHT_STORES) {
            return false;
        }
        s->stores[s->store_count++] = n;
        return true;
    case KIND_EXIT:
        if (s->exit_count == STRAIGHT_EXITS) {
            return false;
        }
        s->exits[s->exit_count++] = n;
        return true;
    default:
        return true;
    }
}

static bool writes_pred(const struct straight *s, uint32_t n)
{
    const uint32_t format = straight_insn(s, n)->format;

    return s->t->kind[n] == KIND_UNIFORM ||
           (s->t->kind[n] == KIND_VECTOR && (format == PPU_FMT_SETP || format == PPU_FMT_PLOP));
}

static bool is_same_logic(const struct straight *s, uint32_t n, const bool same[PPU_PREDS])
{
    const struct ppu_insn *const insn = straight_insn(s, n);

    return insn->format == PPU_FMT_PLOP && insn->guard == 0 && same[insn->ra & PPU_GUARD_PRED] &&
           same[insn->rb & PPU_GUARD_PRED];
}

static void note_written(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const enum tier_kind kind = s->t->kind[n];

    if (writes_pred(s, n)) {
        s->pred_is_same[insn->rd] = kind == KIND_UNIFORM || is_same_logic(s, n, s->pred_is_same);
        s->pred_written[insn->rd] = true;
    } else if ((kind == KIND_VECTOR || kind == KIND_LOAD || kind == KIND_SPECIAL) && !insn->scalar) {
        for (uint32_t reg = insn->rd; reg < insn->rd + insn->wd; reg++) {
            s->reg_first[reg] = s->reg_written[reg] ? s->reg_first[reg] : n;
            s->reg_written[reg] = true;
        }
    }
}

static void look_ahead(struct straight *s)
{
    struct writer *const t = s->t;

    for (uint32_t n = 0; n < t->unit->insns && !s->ends; n++) {
        t->kind[n] = tier_straight_kind_of(t->unit, &t->unit->insn[n]);
        if (!takes(s, n)) {
            break;
        }
        note_written(s, n);
        s->end = n + 1;
        s->ends = t->kind[n] == KIND_EXIT && straight_insn(s, n)->guard == 0;
    }
}

/* ---- variables ---- */

static LLVMValueRef variable(const struct straight *s, uint64_t bytes)
{
    LLVMValueRef place = LLVMBuildAlloca(s->t->builder, LLVMArrayType2(s->t->i64, (bytes + 7) / 8), "");

    LLVMSetAlignment(place, KIT_ALIGN);
    return place;
}

static void make_variables(struct straight *s)
{
    const struct writer *const t = s->t;
    const uint64_t set = sizeof(struct lanes);

    s->lanes = LLVMBuildAlloca(t->builder, t->i64, "");
    s->lines = LLVMBuildAlloca(t->builder, t->i64, "");
    s->done = LLVMBuildAlloca(t->builder, t->i32, "");
    s->words = LLVMBuildAlloca(t->builder, t->lanes, "");
    s->request = variable(s, sizeof(struct kit_lanes));
    s->value = variable(s, sizeof(uint32_t[KIT_MOST_WORDS][PPU_LANES]));
    for (uint32_t i = 0; i < s->exit_count; i++) {
        s->left[i] = variable(s, set);
    }
    for (uint32_t i = 0; i < s->store_count; i++) {
        s->store[i] = variable(s, s->passes * sizeof(struct kit_store));
    }
    if (s->ends) {
        return;
    }
    s->alive_at_end = variable(s, set);
    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        s->reg[reg] = s->reg_written[reg] ? variable(s, t->unit->wave * sizeof(uint32_t)) : NULL;
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        s->pred[pred] = s->pred_written[pred] ? variable(s, set) : NULL;
    }
}

static void clear_set(const struct straight *s, LLVMValueRef set)
{
    for (uint32_t at = 0; at < sizeof(struct lanes); at += sizeof(uint64_t)) {
        write_store(s->t, write_i64(s->t, 0), write_field(s->t, set, at));
    }
}

static void begin_variables(const struct straight *s)
{
    const struct writer *const t = s->t;

    write_store(t, write_i64(t, 0), s->lanes);
    write_store(t, write_i64(t, 0), s->lines);
    write_store(t, write_i32(t, 0), s->done);
    for (uint32_t i = 0; i < s->exit_count; i++) {
        clear_set(s, s->left[i]);
    }
    for (uint32_t i = 0; i < s->store_count; i++) {
        for (uint32_t pass = 0; pass < s->passes; pass++) {
            const uint64_t at = pass * sizeof(struct kit_store) + offsetof(struct kit_store, set);
            write_store(t, write_i32(t, 0), write_field(t, s->store[i], at));
        }
    }
    if (!s->ends) {
        clear_set(s, s->alive_at_end);
    }
}

/* ---- what is the same for all lanes ---- */

static void write_param(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    LLVMValueRef at = write_i32(t, (uint32_t)insn->imm);

    if (insn->wa != 0) {
        at = LLVMBuildAdd(t->builder, at, same_get(&s->same, insn->ra), "");
    }
    LLVMValueRef arguments[] = { t->x, at, write_i32(t, bytes) };
    LLVMValueRef from = write_kit(s->t, "kit_param", arguments, 3);
    same_unless(&s->same, LLVMBuildIsNull(t->builder, from, ""));
    for (uint32_t word = 0; word < insn->wd; word++) {
        same_put(&s->same, insn->rd + word, write_word_of(t, from, insn->width, word));
    }
}

/* Writes what all lanes have, or the first. */
static void write_first_special(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    LLVMValueRef arguments[] = { s->t->x, write_i32(s->t, insn->ra) };

    if (insn->scalar) {
        same_put(&s->same, insn->rd, write_kit(s->t, "kit_special", arguments, 2));
    } else if (s->forms) {
        s->form[n] = forms_special(s->forms, n, write_kit(s->t, "kit_special", arguments, 2));
    }
}

static LLVMValueRef same_pred(const struct straight *s, uint32_t operand)
{
    LLVMValueRef pred = s->pred_same[operand & PPU_GUARD_PRED];

    return operand & PPU_PRED_NEGATE ? LLVMBuildNot(s->t->builder, pred, "") : pred;
}

/* Predicates that all lanes have, or none. */
static void follow_pred(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    LLVMBuilderRef b = s->t->builder;
    bool same[PPU_PREDS];
    LLVMValueRef value = NULL;

    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        same[pred] = s->pred_same[pred];
    }
    if (s->t->kind[n] == KIND_UNIFORM) {
        value = s->same.uniform[n];
    } else if (is_same_logic(s, n, same)) {
        LLVMValueRef left = same_pred(s, insn->ra), right = same_pred(s, insn->rb);
        value = insn->op == PPU_OP_PAND  ? LLVMBuildAnd(b, left, right, "")
                : insn->op == PPU_OP_POR ? LLVMBuildOr(b, left, right, "")
                                         : LLVMBuildXor(b, left, right, "");
    }
    s->pred_same[insn->rd] = value;
}

static void follow_insn(struct straight *s, uint32_t n)
{
    if (writes_pred(s, n)) {
        follow_pred(s, n);
    } else if (s->forms && s->t->kind[n] == KIND_VECTOR) {
        s->form[n] = forms_follow(s->forms, n);
    }
}

static void write_choice(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;

    same_capture(&s->same, n);
    LLVMValueRef chosen = LLVMBuildICmp(t->builder, LLVMIntNE, same_pred(s, insn->pred), write_i32(t, 0), "");
    for (uint32_t word = 0; word < insn->wd; word++) {
        LLVMValueRef a = s->same.words[n][0][word], b = s->same.words[n][1][word];
        same_put(&s->same, insn->rd + word, LLVMBuildSelect(t->builder, chosen, a, b, ""));
    }
}

static void find_shared(struct straight *s)
{
    if (!s->shared) {
        s->shared = write_shared(s->t);
        s->shared_bytes = write_shared_bytes(s->t);
    }
}

/* What the lanes of a load or a store have in common: of shared memory one word, which ends with 32 bits. */
static LLVMValueRef common_base(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;
    LLVMValueRef offset = write_i64(t, (uint64_t)(int64_t)insn->imm);

    if (!straight_is_shared(s, n)) {
        return insn->a_scalar ? same_base(&s->same, insn) : offset;
    }
    find_shared(s);
    if (insn->wa == 0 || !insn->a_scalar) {
        return offset;
    }
    LLVMValueRef word = LLVMBuildZExt(t->builder, same_get(&s->same, insn->ra), t->i64, "");
    return LLVMBuildAdd(t->builder, offset, word, "");
}

static void write_same(struct straight *s)
{
    const struct writer *const t = s->t;

    for (uint32_t n = 0; n < s->end; n++) {
        if (t->kind[n] == KIND_PARAM) {
            write_param(s, n);
        } else if (t->kind[n] == KIND_SPECIAL) {
            write_first_special(s, n);
        } else if (t->kind[n] == KIND_LOAD || t->kind[n] == KIND_STORE) {
            s->base[n] = common_base(s, n);
            if (s->forms) {
                straight_find_row(s, n);
            }
        } else if (t->kind[n] == KIND_CHOICE) {
            write_choice(s, n);
        } else if (t->kind[n] != KIND_EXIT) {
            if (!same_write(&s->same, n)) {
                same_capture(&s->same, n);
            }
            follow_insn(s, n);
        }
    }
}

/* ---- a pass ---- */

/* Lanes of a chunk of 32 bits, or the lower half of 64, or the upper. */
static LLVMValueRef lanes_of(const struct straight *s, const struct chunk *c, struct form form, uint32_t word)
{
    const struct writer *const t = s->t;
    LLVMBuilderRef b = t->builder;
    LLVMTypeRef type = LLVMTypeOf(form.first), lanes = LLVMVectorType(type, TIER_CHUNK);
    LLVMValueRef number[TIER_CHUNK], zeros = LLVMConstNull(t->lanes);
    LLVMValueRef begun = LLVMBuildMul(b, c->number, write_i64(t, TIER_CHUNK), "");

    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        number[i] = LLVMConstInt(type, i, false);
    }
    begun = type == t->i64 ? begun : LLVMBuildTrunc(b, begun, t->i32, "");
    LLVMValueRef first = LLVMBuildAdd(b, form.first, LLVMBuildMul(b, form.step, begun, ""), "");
    LLVMValueRef firsts = LLVMBuildInsertElement(b, LLVMGetPoison(lanes), first, write_i32(t, 0), "");
    LLVMValueRef steps = LLVMBuildInsertElement(b, LLVMGetPoison(lanes), form.step, write_i32(t, 0), "");
    firsts = LLVMBuildShuffleVector(b, firsts, LLVMGetPoison(lanes), zeros, "");
    steps = LLVMBuildShuffleVector(b, steps, LLVMGetPoison(lanes), zeros, "");
    LLVMValueRef value = LLVMBuildMul(b, steps, LLVMConstVector(number, TIER_CHUNK), "");
    value = LLVMBuildAdd(b, firsts, value, "");
    if (type == t->i32) {
        return value;
    }
    for (uint32_t i = 0; i < TIER_CHUNK; i++) {
        number[i] = LLVMConstInt(type, 32, false);
    }
    value = word == 0 ? value : LLVMBuildLShr(b, value, LLVMConstVector(number, TIER_CHUNK), "");
    return LLVMBuildTrunc(b, value, t->lanes, "");
}

/* Registers whose lanes are known need not be computed where nobody looks at them. */
static void write_known(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        for (uint32_t word = 0; word < insn->wd; word++) {
            chunk_put(&s->chunk[i], insn->rd + word, lanes_of(s, &s->chunk[i], s->form[n], word), NULL, RAW_NO);
        }
    }
}

/* Numbers of threads or of lanes. */
static void write_special(struct straight *s, uint32_t n)
{
    const struct ppu_insn *const insn = straight_insn(s, n);
    const struct writer *const t = s->t;

    for (uint32_t i = 0; !insn->scalar && i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef number = LLVMBuildTrunc(t->builder, s->chunk[i].number, t->i32, "");
        LLVMValueRef arguments[] = { t->x, number, write_i32(t, insn->ra), s->words };
        write_kit(s->t, "kit_threads", arguments, 4);
        chunk_put(&s->chunk[i], insn->rd, write_load(t, t->lanes, s->words), NULL, RAW_NO);
    }
}

/* Counts what the lanes of the pass have executed, up to instruction n. */
static void count_lanes(struct straight *s, uint32_t n)
{
    const struct writer *const t = s->t;
    LLVMValueRef lanes = write_popcount(t, s->alive);
    LLVMValueRef all = LLVMBuildMul(t->builder, lanes, write_i32(t, n - s->since), "");

    write_count(t, s->lanes, LLVMBuildZExt(t->builder, all, t->i64, ""));
    s->since = n;
}

/* The pass has executed n instructions, and goes no further. */
static void end_pass(const struct straight *s, uint32_t n, LLVMBasicBlockRef next)
{
    const struct writer *const t = s->t;
    LLVMValueRef done = write_load(t, t->i32, s->done), own = write_i32(t, n);

    write_store(t, LLVMBuildSelect(t->builder, LLVMBuildICmp(t->builder, LLVMIntULT, done, own, ""), own, done, ""),
                s->done);
    LLVMBuildBr(t->builder, next);
}

/* Where the pass's word of a struct lanes is. */
static LLVMValueRef pass_word(const struct straight *s, LLVMValueRef set)
{
    return write_behind(s->t, set, LLVMBuildMul(s->t->builder, s->pass, write_i64(s->t, sizeof(uint32_t)), ""));
}

/* Keeps registers of lanes of the pass: others may look at them when these have ended, too. */
static void keep_registers(struct straight *s, LLVMValueRef set)
{
    const struct writer *const t = s->t;

    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        struct chunk *const c = &s->chunk[i];
        LLVMValueRef bytes = LLVMBuildMul(t->builder, c->number, write_i64(t, TIER_CHUNK * sizeof(uint32_t)), "");
        LLVMValueRef bits =
            LLVMBuildTrunc(t->builder, LLVMBuildLShr(t->builder, set, write_i32(t, i * TIER_CHUNK), ""), t->i16, "");
        LLVMValueRef mask = LLVMBuildBitCast(t->builder, bits, t->mask, "");
        for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
            if (s->reg[reg] && c->dirty[reg]) {
                LLVMValueRef place = write_behind(t, s->reg[reg], bytes), value = chunk_get(c, reg, RAW_NO);
                if (s->exit_count != 0) {
                    value = LLVMBuildSelect(t->builder, mask, value, write_load(t, t->lanes, place), "");
                }
                write_store(t, value, place);
            }
        }
    }
}

static void write_exit(struct straight *s, uint32_t n, uint32_t which, LLVMBasicBlockRef next)
{
    struct writer *const t = s->t;
    LLVMValueRef set = straight_executing(s, n);

    count_lanes(s, n + 1);
    straight_count_rows(s);
    if (!s->ends) {
        keep_registers(s, set);
    }
    write_store(t, set, pass_word(s, s->left[which]));
    s->alive = LLVMBuildAnd(t->builder, s->alive, LLVMBuildNot(t->builder, set, ""), "");
    if (straight_insn(s, n)->guard == 0) {
        end_pass(s, n + 1, next);
        return;
    }
    LLVMBasicBlockRef none = write_block(t), on = write_block(t);
    LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, s->alive, write_i32(t, 0), ""), none, on);
    write_at(t, none);
    end_pass(s, n + 1, next);
    write_at(t, on);
}

/* Keeps registers and predicates of the pass, for the time behind the unit. */
static void keep_pass(struct straight *s)
{
    const struct writer *const t = s->t;

    write_store(t, s->alive, pass_word(s, s->alive_at_end));
    keep_registers(s, s->alive);
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        struct chunk *const c = &s->chunk[i];
        LLVMValueRef bits = LLVMBuildMul(t->builder, c->number, write_i64(t, TIER_CHUNK / 8), "");
        for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
            if (s->pred[pred]) {
                LLVMValueRef set = LLVMBuildBitCast(t->builder, chunk_pred(c, pred), t->i16, "");
                write_store(t, set, write_behind(t, s->pred[pred], bits));
            }
        }
    }
}

static uint32_t place_in(const uint32_t *of, uint32_t n)
{
    uint32_t i = 0;

    while (of[i] != n) {
        i++;
    }
    return i;
}

static void write_insn(struct straight *s, uint32_t n, LLVMBasicBlockRef next)
{
    if (s->form[n].first) {
        write_known(s, n);
        return;
    }
    switch (s->t->kind[n]) {
    case KIND_VECTOR:
    case KIND_UNIFORM:
        for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
            chunk_write(&s->chunk[i], n);
        }
        break;
    case KIND_SPECIAL:
        write_special(s, n);
        break;
    case KIND_LOAD:
        straight_load(s, n);
        break;
    case KIND_STORE:
        straight_store(s, n, place_in(s->stores, n));
        break;
    case KIND_EXIT:
        write_exit(s, n, place_in(s->exits, n), next);
        break;
    default:
        break;
    }
}

static void write_passes(struct straight *s)
{
    struct writer *const t = s->t;
    LLVMBasicBlockRef next = write_block(t);
    const struct write_repeat passes = write_repeat_begin(t);

    s->pass = passes.number;
    s->alive = LLVMConstAllOnes(t->i32);
    if (s->in_part) {
        LLVMBasicBlockRef some = write_block(t);
        s->alive = write_load(t, t->i32, pass_word(s, write_field(t, t->w, offsetof(struct warp, active))));
        LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, s->alive, write_i32(t, 0), ""), next, some);
        write_at(t, some);
    }
    for (uint32_t i = 0; i < STRAIGHT_CHUNKS; i++) {
        LLVMValueRef first = LLVMBuildMul(t->builder, s->pass, write_i64(t, STRAIGHT_CHUNKS), "");
        s->chunk[i].t = t;
        s->chunk[i].same = &s->same;
        s->chunk[i].number = LLVMBuildAdd(t->builder, first, write_i64(t, i), "");
    }
    for (uint32_t n = 0; n < s->end; n++) {
        write_insn(s, n, next);
    }
    if (!s->ends) {
        count_lanes(s, s->end);
        straight_count_rows(s);
        keep_pass(s);
        end_pass(s, s->end, next);
    }
    write_at(t, next);
    write_repeat_end(t, &passes, s->passes);
}

/* ---- behind the passes ---- */

/* Lanes of a chunk that have written a register: those that go on, and those that have ended since. */
static LLVMValueRef writers_of(const struct straight *s, uint32_t reg, LLVMValueRef chunk)
{
    const struct writer *const t = s->t;
    LLVMValueRef at = LLVMBuildMul(t->builder, chunk, write_i64(t, TIER_CHUNK / 8), "");
    LLVMValueRef bits = write_load(t, t->i16, write_behind(t, s->alive_at_end, at));

    for (uint32_t i = 0; i < s->exit_count; i++) {
        if (s->exits[i] > s->reg_first[reg]) {
            bits = LLVMBuildOr(t->builder, bits, write_load(t, t->i16, write_behind(t, s->left[i], at)), "");
        }
    }
    return LLVMBuildBitCast(t->builder, bits, t->mask, "");
}

static void put_lanes(const struct straight *s, uint32_t reg, LLVMValueRef chunk)
{
    const struct writer *const t = s->t;
    LLVMValueRef at = LLVMBuildMul(t->builder, chunk, write_i64(t, TIER_CHUNK * sizeof(uint32_t)), "");
    LLVMValueRef own = write_load(t, t->lanes, write_behind(t, s->reg[reg], at));
    LLVMValueRef to = write_field(t, t->vreg, (uint64_t)reg * t->unit->wave * sizeof(uint32_t));

    to = write_behind(t, to, at);
    if (s->exit_count != 0 || s->in_part) { /* else all lanes have gone on */
        own = LLVMBuildSelect(t->builder, writers_of(s, reg, chunk), own, write_load(t, t->lanes, to), "");
    }
    write_store(t, own, to);
}

static void put_set(const struct straight *s, LLVMValueRef from, LLVMValueRef to)
{
    const struct writer *const t = s->t;

    for (uint32_t at = 0; at < sizeof(struct lanes); at += sizeof(uint64_t)) {
        LLVMValueRef set = write_load(t, t->i64, write_field(t, s->alive_at_end, at));
        LLVMValueRef own = LLVMBuildAnd(t->builder, write_load(t, t->i64, write_field(t, from, at)), set, "");
        LLVMValueRef old = write_load(t, t->i64, write_field(t, to, at));
        old = LLVMBuildAnd(t->builder, old, LLVMBuildNot(t->builder, set, ""), "");
        write_store(t, LLVMBuildOr(t->builder, own, old, ""), write_field(t, to, at));
    }
}

/* Registers that lanes go on with. */
static void put_registers(const struct straight *s)
{
    struct writer *const t = s->t;
    uint32_t keeps = UINT32_MAX;
    const struct write_repeat chunks = write_repeat_begin(t);

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        if (s->reg[reg]) {
            put_lanes(s, reg, chunks.number);
            keeps &= reg < EXEC_STEADY ? ~(1u << reg) : UINT32_MAX;
        }
    }
    write_repeat_end(t, &chunks, t->unit->wave / TIER_CHUNK);
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (s->pred[pred]) {
            put_set(s, s->pred[pred], write_field(t, t->w, chunk_pred_offset(pred)));
        }
    }
    same_store(&s->same);
    LLVMValueRef steady = write_field(t, t->x, offsetof(struct exec, steady));
    write_store(t, LLVMBuildAnd(t->builder, write_load(t, t->i32, steady), write_i32(t, keeps), ""), steady);
}

static void write_counts(const struct straight *s)
{
    const struct writer *const t = s->t;
    const size_t transactions = offsetof(struct sm_cta, count) + PPU_COUNTER_TRANSACTIONS * sizeof(uint64_t);
    LLVMValueRef done = write_load(t, t->i32, s->done);
    LLVMValueRef turn = write_field(t, t->turn, offsetof(struct tier_turn, done));
    LLVMValueRef begun = write_load(t, t->i32, turn), now = LLVMBuildAdd(t->builder, begun, done, "");
    LLVMValueRef counts[] = { t->x, begun, now, write_load(t, t->i64, s->lanes) };

    write_kit(s->t, "kit_counted", counts, 4);
    write_store(t, now, turn);
    for (uint32_t n = 0; n < s->end; n++) {
        if (t->kind[n] == KIND_LOAD_ONE) {
            LLVMValueRef executed = LLVMBuildICmp(t->builder, LLVMIntUGT, done, write_i32(t, n), "");
            write_count(t, s->lines, LLVMBuildZExt(t->builder, executed, t->i64, ""));
        }
    }
    write_count(t, write_field(t, t->cta, transactions), write_load(t, t->i64, s->lines));
}

/* The warp has no registers of its own, and must end; i1. */
static LLVMValueRef is_whole(const struct writer *t)
{
    LLVMValueRef whole = write_load(t, t->i32, write_field(t, t->turn, offsetof(struct tier_turn, whole)));

    return LLVMBuildICmp(t->builder, LLVMIntNE, whole, write_i32(t, 0), "");
}

/* The caller that runs whole programs asks for no more than that all lanes have ended. */
static void leave_when_whole(const struct straight *s)
{
    struct writer *const t = s->t;
    LLVMBasicBlockRef whole = write_block(t), own = write_block(t);

    LLVMBuildCondBr(t->builder, is_whole(t), whole, own);
    write_at(t, whole);
    write_store(t, write_i32(t, STEP_ENDED), write_field(t, t->turn, offsetof(struct tier_turn, step)));
    LLVMBuildBr(t->builder, t->leave);
    write_at(t, own);
}

/* Lanes end where they left. The last of the warp end it. */
static void write_leaves(const struct straight *s)
{
    struct writer *const t = s->t;

    if (s->ends) {
        leave_when_whole(s);
    }
    for (uint32_t i = 0; i < s->exit_count; i++) {
        LLVMBasicBlockRef on = write_block(t);
        LLVMValueRef pc = LLVMBuildAdd(t->builder, t->base, write_i32(t, s->exits[i]), "");
        LLVMValueRef arguments[] = { t->x, straight_code(s, s->exits[i]), t->calls, t->turn, pc, s->left[i] };
        LLVMBuildCondBr(t->builder, write_kit(s->t, "kit_left", arguments, 6), on, t->leave);
        write_at(t, on);
    }
}

static void write_end(struct straight *s)
{
    struct writer *const t = s->t;

    for (uint32_t i = 0; i < s->store_count && !s->in_place; i++) {
        straight_commit(s, i);
    }
    if (!s->ends) {
        put_registers(s);
    }
    write_counts(s);
    write_leaves(s);
    if (!s->ends) {
        LLVMBasicBlockRef some = write_block(t);
        LLVMValueRef alive = write_i64(t, 0);
        for (uint32_t at = 0; at < sizeof(struct lanes); at += sizeof(uint64_t)) {
            LLVMValueRef half = write_load(t, t->i64, write_field(t, s->alive_at_end, at));
            alive = LLVMBuildOr(t->builder, alive, half, "");
        }
        LLVMBuildCondBr(t->builder, LLVMBuildICmp(t->builder, LLVMIntEQ, alive, write_i64(t, 0), ""), t->leave, some);
        write_at(t, some);
        write_pc(t, s->end);
    }
    LLVMBuildBr(t->builder, t->leave);
}

/* ---- the unit ---- */

/* What all versions of the unit's code share, and its versions: those before fail to those behind. */
#define VERSIONS 5u

struct versions {
    struct forms *forms[VERSIONS];
    struct straight *of[VERSIONS];
    uint32_t count;
};

static uint32_t least_insns(const struct straight *s)
{
    return s->ends ? LEAST_INSNS : LEAST_BEFORE;
}

/* NULL: no memory, or too little of the unit can be translated. Its variables are made here, at the entry. */
static struct straight *version_new(struct writer *t, struct forms *forms, enum reload reload)
{
    struct straight *const s = calloc(1, sizeof(*s));

    if (!s) {
        return NULL;
    }
    s->t = s->same.t = t;
    s->passes = t->unit->wave / PPU_LANES;
    s->forms = forms;
    s->reload = reload;
    look_ahead(s);
    if (s->end < least_insns(s) || (reload == RELOAD_EMPTY && !s->reloads)) {
        free(s);
        return NULL;
    }
    if (forms) {
        forms->same = &s->same;
    }
    make_variables(s);
    return s;
}

/* False: no memory, or too little can be translated. */
static bool versions_add(struct versions *v, struct writer *t, bool known, enum reload reload)
{
    struct forms *const forms = known ? calloc(1, sizeof(*forms)) : NULL;
    struct straight *const s = known && !forms ? NULL : version_new(t, forms, reload);

    if (!s) {
        free(forms);
        return false;
    }
    v->forms[v->count] = forms;
    v->of[v->count++] = s;
    return true;
}

/* Warps that have not all lanes of the wave come last, where they are asked for. */
static bool add_in_part(struct versions *v, struct writer *t)
{
    const bool asked = t->unit->straight == TIER_ANYWHERE || t->unit->straight == TIER_SEGMENT_ANY;

    if (!asked || !versions_add(v, t, false, RELOAD_NONE)) {
        return !asked;
    }
    v->of[v->count - 1]->in_part = true;
    return true;
}

static bool is_segment(const struct tier_unit *unit)
{
    return unit->straight == TIER_SEGMENT || unit->straight == TIER_SEGMENT_ANY;
}

/* Loads behind stores are taken first, if there are any: where rows are known, then where nothing is stored. */
static bool versions_find(struct versions *v, struct writer *t)
{
    if (is_segment(t->unit)) {
        return versions_add(v, t, false, RELOAD_NONE) && add_in_part(v, t);
    }
    if (!versions_add(v, t, true, RELOAD_ROWS)) {
        return false;
    }
    if (v->of[0]->reloads) {
        if (!versions_add(v, t, true, RELOAD_NONE)) {
            return false;
        }
        (void)versions_add(v, t, false, RELOAD_EMPTY); /* not where nothing would be gained */
    }
    return versions_add(v, t, false, RELOAD_NONE) && add_in_part(v, t);
}

static void versions_free(struct versions *v)
{
    for (uint32_t i = 0; i < v->count; i++) {
        free(v->forms[i]);
        free(v->of[i]);
    }
}

/* Warps that have no registers of their own, and must end, go to another version. */
static void need_registers(struct writer *t, LLVMBasicBlockRef otherwise)
{
    LLVMBasicBlockRef own = write_block(t);

    LLVMBuildCondBr(t->builder, is_whole(t), otherwise, own);
    write_at(t, own);
}

/* What fails goes to `fail`. False: all would fail, as loads behind stores need rows that are not known. */
static bool write_version(struct straight *s, LLVMBasicBlockRef fail)
{
    struct writer *const t = s->t;
    LLVMValueRef arguments[] = { t->x, write_i32(t, t->unit->wave) };

    s->same.fail = fail;
    const char *const asks = s->forms ? "kit_is_in_line" : s->in_part ? "kit_may_begin_in_part" : "kit_may_begin";
    LLVMValueRef may = write_kit(s->t, asks, arguments, s->forms ? 2 : 1);
    same_unless(&s->same, LLVMBuildNot(t->builder, may, ""));
    begin_variables(s);
    write_same(s);
    s->in_place = straight_stores_in_place(s);
    if (s->reload == RELOAD_ROWS && s->reloads && !s->in_place) {
        LLVMBuildUnreachable(t->builder);
        return false;
    }
    write_passes(s);
    write_end(s);
    return true;
}

/* Writes a version that goes to `otherwise` where it fails; returns whether it is there. */
static bool write_one_of(struct writer *t, struct straight *s, bool some_end, LLVMBasicBlockRef otherwise)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(t->builder), begin = write_block(t);
    LLVMValueRef jump = LLVMBuildBr(t->builder, begin);

    write_at(t, begin);
    if (some_end && !s->ends) {
        need_registers(t, otherwise);
    }
    if (write_version(s, otherwise)) {
        return true;
    }
    LLVMInstructionEraseFromParent(jump); /* nothing comes to what was written of it */
    write_at(t, before);
    LLVMBuildBr(t->builder, otherwise);
    return false;
}

/* Warps without registers and shared memory can run it, as they begin with it and it ends them. */
static bool can_be_whole(const struct straight *s)
{
    return s->ends && !s->shared && !is_segment(s->t->unit);
}

bool write_straight_unit(struct writer *t)
{
    struct versions v = { .count = 0 };
    const bool written = versions_find(&v, t);
    bool enough = !written, some_end = false;

    for (uint32_t i = 0; i < v.count; i++) {
        some_end |= v.of[i]->ends;
    }
    for (uint32_t i = 0; !enough && i < v.count; i++) {
        LLVMBasicBlockRef otherwise = write_block(t);
        const bool is_there = write_one_of(t, v.of[i], some_end, otherwise);
        t->ends = t->ends || (is_there && can_be_whole(v.of[i]));
        enough = t->unit->straight == TIER_ROWS && v.of[i]->in_place;
        write_at(t, otherwise);
    }
    if (written) {
        LLVMBuildBr(t->builder, t->leave);
    }
    versions_free(&v);
    return written;
}
