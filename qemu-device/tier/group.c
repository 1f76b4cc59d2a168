/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a group of instructions: what is the same for all lanes comes first, then a loop over chunks of lanes, in
 * which registers are values. In memory are the values of before the group until the loop, and those of behind it after
 * it.
 */
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/tier/operand.h"
#include "qemu-device/tier/place.h"
#include "qemu-device/tier/writer.h"

#include <stdlib.h>
#include <string.h>

struct group {
    struct writer *t;
    uint32_t first, count;
    bool masked;
    LLVMBasicBlockRef fail; /* nothing is done: the interpreter does the group */
    bool fails;             /* something goes there */
    LLVMValueRef lines;     /* transactions; NULL: none */
    /* Scalars, and what instructions read of them. */
    LLVMValueRef scalar[PPU_SREGS];
    bool scalar_dirty[PPU_SREGS];
    LLVMValueRef same[TIER_MAX_INSNS][3][2];
    LLVMValueRef uniform[TIER_MAX_INSNS]; /* what a comparison of scalars gave: all ones or 0 */
    uint32_t row[TIER_MAX_INSNS];
    uint32_t rows;
    /* What follows is the chunk's. */
    LLVMValueRef chunk;  /* number */
    LLVMValueRef active; /* masked: its lanes */
    LLVMValueRef value[PPU_MAX_VREGS];
    bool dirty[PPU_MAX_VREGS];
    uint8_t raw[PPU_MAX_VREGS];
    LLVMValueRef pred[PPU_PREDS];
    bool pred_dirty[PPU_PREDS];
};

static const struct tier_insn *insn_at(const struct group *g, uint32_t n)
{
    return &g->t->unit->insn[n];
}

/* ---- scalars ---- */

static LLVMValueRef scalar_place(const struct writer *t, uint32_t reg)
{
    return write_field(t, t->w, offsetof(struct warp, sreg) + reg * sizeof(uint32_t));
}

static LLVMValueRef scalar_get(struct group *g, uint32_t reg)
{
    if (!g->scalar[reg]) {
        g->scalar[reg] = write_load(g->t, g->t->i32, scalar_place(g->t, reg));
    }
    return g->scalar[reg];
}

static void scalar_put(struct group *g, uint32_t reg, LLVMValueRef value)
{
    g->scalar[reg] = value;
    g->scalar_dirty[reg] = true;
}

static void scalars_store(const struct group *g)
{
    for (uint32_t reg = 0; reg < PPU_SREGS; reg++) {
        if (g->scalar_dirty[reg]) {
            write_store(g->t, g->scalar[reg], scalar_place(g->t, reg));
        }
    }
}

static uint64_t scalar_pair_offset(const struct ppu_insn *insn)
{
    return (uint64_t)(int64_t)insn->imm;
}

/* The base of an access to memory, with the offset that the instruction names. */
static LLVMValueRef base_of(struct group *g, const struct ppu_insn *insn)
{
    LLVMBuilderRef b = g->t->builder;
    LLVMValueRef low = LLVMBuildZExt(b, scalar_get(g, insn->ra), g->t->i64, "");
    LLVMValueRef high = LLVMBuildZExt(b, scalar_get(g, insn->ra + 1u), g->t->i64, "");
    LLVMValueRef base = LLVMBuildOr(b, low, LLVMBuildShl(b, high, write_i64(g->t, 32), ""), "");

    return LLVMBuildAdd(b, base, write_i64(g->t, scalar_pair_offset(insn)), "");
}

/* ---- operands ---- */

static void same_words(struct group *g, const struct tier_insn *insn, uint32_t n, LLVMValueRef words[2])
{
    const struct operand_of o = operand_of(&insn->insn, n);

    for (uint32_t word = 0; word < o.words && word < 2; word++) {
        words[word] = o.immediate ? write_i32(g->t, insn->imm[word]) : scalar_get(g, o.reg + word);
    }
    if (o.words != 0) {
        words[o.words - 1] = write_modified(g->t, &insn->insn, n, words[o.words - 1]);
    }
}

/* Words of sources that are the same for all lanes, as they are now. */
static void capture(struct group *g, uint32_t n)
{
    const struct tier_insn *const insn = insn_at(g, n);

    for (uint32_t i = 0; i < 3; i++) {
        const struct operand_of o = operand_of(&insn->insn, i);
        if (o.words != 0 && (o.scalar || o.immediate)) {
            same_words(g, insn, i, g->same[n][i]);
        }
    }
}

/* ---- what is the same for all lanes ---- */

static void one_value(struct group *g, uint32_t n)
{
    const struct tier_insn *const insn = insn_at(g, n);
    const struct tier_op op = tier_op_of(insn);
    const struct writer *const t = g->t;

    capture(g, n);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t word = 0; word < 2; word++) {
            if (g->same[n][i][word]) {
                write_store(t, g->same[n][i][word], t->one[2 * (i + 1) + word]);
            }
        }
    }
    write_kit_call(t, "s_", op.name, t->one);
    if (t->kind[n] == KIND_UNIFORM) {
        g->uniform[n] = write_load(t, t->i32, t->one[0]);
        return;
    }
    for (uint32_t word = 0; word < insn->insn.wd; word++) {
        scalar_put(g, insn->insn.rd + word, write_load(t, t->i32, t->one[word]));
    }
}

/* Goes on when it holds, else the interpreter does the group. */
static void unless(struct group *g, LLVMValueRef fails)
{
    LLVMBasicBlockRef on = write_block(g->t);

    write_rarely(g->t, fails, g->fail, on);
    write_at(g->t, on);
    g->fails = true;
}

static void add_lines(struct group *g, LLVMValueRef lines)
{
    g->lines = g->lines ? LLVMBuildAdd(g->t->builder, g->lines, lines, "") : lines;
}

/* Asks the kit whether the row is where one was before; i1. */
static LLVMValueRef find_near(const struct group *g, uint32_t n, LLVMValueRef code, LLVMValueRef base)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    const struct writer *const t = g->t;
    const uint32_t flags = (t->kind[n] == KIND_STORE ? KIT_ROW_STORE : 0) | (insn->indexed ? KIT_ROW_INDEXED : 0) |
                           (insn->lane_off ? KIT_ROW_OFFSETS : 0);
    LLVMValueRef function = LLVMGetNamedFunction(t->module, "kit_row");
    LLVMValueRef arguments[] = {
        t->x,
        code,
        base,
        write_i32(t, insn->rb),
        write_i32(t, t->unit->wave),
        write_i32(t, ppu_width_bytes(insn->width)),
        write_i32(t, flags),
        t->places[g->rows],
        t->words[g->rows],
    };

    return LLVMBuildCall2(t->builder, LLVMGlobalGetValueType(function), function, arguments, 9, "");
}

/* Copies where the engine has found a row. */
static void copy_place(const struct writer *t, LLVMValueRef row, LLVMValueRef place)
{
    LLVMValueRef host = write_load(t, t->ptr, write_field(t, row, offsetof(struct tier_row, host)));
    LLVMValueRef step = write_load(t, t->i64, write_field(t, row, offsetof(struct tier_row, step)));
    LLVMValueRef lines = write_load(t, t->i32, write_field(t, row, offsetof(struct tier_row, lines)));

    write_store(t, host, write_field(t, place, offsetof(struct kit_place, host)));
    write_store(t, step, write_field(t, place, offsetof(struct kit_place, step)));
    write_store(t, LLVMBuildZExt(t->builder, lines, t->i64, ""),
                write_field(t, place, offsetof(struct kit_place, lines)));
}

static void find_row(struct group *g, uint32_t n)
{
    struct writer *const t = g->t;
    LLVMBasicBlockRef far = write_block(t), found = write_block(t);
    LLVMValueRef code = write_field(t, t->head, n * sizeof(struct code_insn));
    LLVMValueRef base = base_of(g, &insn_at(g, n)->insn);
    LLVMValueRef row = t->rows[g->rows], place = t->places[g->rows];
    LLVMValueRef arguments[] = { t->x, code, base, row };
    const bool register_known = !insn_at(g, n)->insn.lane_off || insn_at(g, n)->insn.rb < EXEC_STEADY;

    if (register_known) {
        LLVMValueRef near = find_near(g, n, code, base);
        write_rarely(t, LLVMBuildNot(t->builder, near, ""), far, found);
    } else {
        LLVMBuildBr(t->builder, far);
    }
    write_at(t, far);
    LLVMValueRef ok = write_call(t, offsetof(struct tier_calls, row), t->i1, arguments, 4);
    unless(g, LLVMBuildNot(t->builder, ok, ""));
    copy_place(t, row, place);
    LLVMBuildBr(t->builder, found);
    write_at(t, found);
    g->row[n] = g->rows++;
    add_lines(g, write_load(t, t->i64, write_field(t, place, offsetof(struct kit_place, lines))));
}

static void load_one(struct group *g, uint32_t n)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    const struct writer *const t = g->t;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    LLVMValueRef arguments[] = { t->x, write_field(t, t->head, n * sizeof(struct code_insn)), base_of(g, insn) };
    LLVMValueRef host = write_call(t, offsetof(struct tier_calls, one), t->ptr, arguments, 3);

    unless(g, LLVMBuildIsNull(t->builder, host, ""));
    for (uint32_t word = 0; word < insn->wd; word++) {
        LLVMValueRef value = write_load_shared(t, write_width_type(t, insn->width), write_field(t, host, 4ull * word),
                                               bytes < 4 ? bytes : 4);
        scalar_put(g, insn->rd + word, write_widened(t, value, insn->width, t->i32));
    }
    add_lines(g, write_i64(t, 1));
}

static void write_same(struct group *g)
{
    for (uint32_t n = g->first; n < g->first + g->count; n++) {
        switch (g->t->kind[n]) {
        case KIND_SCALAR:
        case KIND_UNIFORM:
            one_value(g, n);
            break;
        case KIND_LOAD:
        case KIND_STORE:
            find_row(g, n);
            break;
        case KIND_LOAD_ONE:
            load_one(g, n);
            break;
        default:
            capture(g, n);
            break;
        }
    }
}

/* ---- a chunk ---- */

/* Where a vector register's lanes of the chunk are. */
static LLVMValueRef lanes_place(const struct group *g, uint32_t reg)
{
    const struct writer *const t = g->t;
    LLVMValueRef offset = LLVMBuildMul(t->builder, g->chunk, write_i64(t, TIER_CHUNK * sizeof(uint32_t)), "");

    return write_behind(t, write_field(t, t->vreg, (uint64_t)reg * t->unit->wave * sizeof(uint32_t)), offset);
}

/* Where the chunk's bits of a set of lanes are. */
static LLVMValueRef set_place(const struct group *g, size_t offset)
{
    const struct writer *const t = g->t;

    return write_behind(t, write_field(t, t->w, offset), LLVMBuildMul(t->builder, g->chunk, write_i64(t, 2), ""));
}

static LLVMValueRef set_load(const struct group *g, size_t offset)
{
    return LLVMBuildBitCast(g->t->builder, write_load(g->t, g->t->i16, set_place(g, offset)), g->t->mask, "");
}

static size_t pred_offset(uint32_t pred)
{
    return offsetof(struct warp, pred) + pred * sizeof(struct lanes);
}

static LLVMValueRef pred_get(struct group *g, uint32_t pred)
{
    if (!g->pred[pred]) {
        g->pred[pred] = set_load(g, pred_offset(pred));
    }
    return g->pred[pred];
}

/* A predicate operand: its number, and whether it is negated. */
static LLVMValueRef pred_operand(struct group *g, uint32_t operand)
{
    LLVMValueRef pred = pred_get(g, operand & PPU_GUARD_PRED);

    return operand & PPU_PRED_NEGATE ? LLVMBuildNot(g->t->builder, pred, "") : pred;
}

/* The lanes that execute an instruction; NULL: all. */
static LLVMValueRef executing(struct group *g, uint32_t guard)
{
    LLVMValueRef guarded = guard != 0 ? pred_operand(g, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE)) : NULL;

    if (!guarded || !g->active) {
        return guarded ? guarded : g->active;
    }
    return LLVMBuildAnd(g->t->builder, guarded, g->active, "");
}

static LLVMValueRef canonical(const struct group *g, LLVMValueRef value)
{
    const struct writer *const t = g->t;

    write_store(t, value, t->many[2]);
    write_kit_call(t, "v_", "CANON_f", t->many);
    return write_load(t, t->lanes, t->many[0]);
}

/* A register's lanes; `raw`: NaNs may be any. */
static LLVMValueRef lanes_get(struct group *g, uint32_t reg, bool raw)
{
    if (!g->value[reg]) {
        g->value[reg] = write_load(g->t, g->t->lanes, lanes_place(g, reg));
    }
    if (g->raw[reg] != RAW_NO && !raw) {
        g->value[reg] = canonical(g, g->value[reg]);
        g->raw[reg] = RAW_NO;
    }
    return g->value[reg];
}

/* Lanes that are kept are not floats for that others are: where the two differ all NaNs are made one before. */
static void lanes_put(struct group *g, uint32_t reg, LLVMValueRef value, LLVMValueRef set, enum raw raw)
{
    if (set) {
        LLVMValueRef kept = lanes_get(g, reg, raw == RAW_FLOAT);
        if (raw == RAW_FLOAT && g->raw[reg] == RAW_NO) {
            value = canonical(g, value);
            raw = RAW_NO;
        }
        value = LLVMBuildSelect(g->t->builder, set, value, kept, "");
    }
    g->value[reg] = value;
    g->raw[reg] = (uint8_t)raw;
    g->dirty[reg] = true;
}

static void pred_put(struct group *g, uint32_t pred, LLVMValueRef value, LLVMValueRef set)
{
    g->pred[pred] = set ? LLVMBuildSelect(g->t->builder, set, value, pred_get(g, pred), "") : value;
    g->pred_dirty[pred] = true;
}

/* Puts a source where the function of the kit reads it. */
static void give_operand(struct group *g, uint32_t n, uint32_t i, char type)
{
    const struct tier_insn *const insn = insn_at(g, n);
    const struct operand_of o = operand_of(&insn->insn, i);
    const struct writer *const t = g->t;
    const bool same = o.scalar || o.immediate;

    for (uint32_t word = 0; word < o.words && type != 'z'; word++) {
        LLVMValueRef lanes = same ? write_splat(t, g->same[n][i][word]) : lanes_get(g, o.reg + word, type == 'f');
        if (!same && word == o.words - 1u) {
            lanes = write_modified(g->t, &insn->insn, i, lanes);
        }
        write_store(t, lanes, t->many[2 * (i + 1) + word]);
    }
}

/* Makes NaNs of a source the one, where they are looked at: that takes the places of operands. */
static void prepare_operand(struct group *g, uint32_t n, uint32_t i, char type)
{
    const struct operand_of o = operand_of(&insn_at(g, n)->insn, i);

    for (uint32_t word = 0; word < o.words && type != 'z' && !o.scalar && !o.immediate; word++) {
        (void)lanes_get(g, o.reg + word, type == 'f');
    }
}

static void write_operation(struct group *g, uint32_t n, LLVMValueRef set)
{
    const struct tier_insn *const insn = insn_at(g, n);
    const struct tier_op op = tier_op_of(insn);
    const struct writer *const t = g->t;

    for (uint32_t i = 0; i < 3; i++) {
        prepare_operand(g, n, i, op.types[i + 1]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        give_operand(g, n, i, op.types[i + 1]);
    }
    write_kit_call(t, "v_", op.name, t->many);
    if (insn->insn.format == PPU_FMT_SETP) {
        LLVMValueRef words = write_load(t, t->lanes, t->many[0]);
        pred_put(g, insn->insn.rd, LLVMBuildICmp(t->builder, LLVMIntNE, words, LLVMConstNull(t->lanes), ""), set);
        return;
    }
    if (op.types[0] == 'g') {
        write_store(t, write_load(t, t->lanes, t->many[0]), t->many[2]);
        write_store(t, write_load(t, t->lanes, t->many[1]), t->many[3]);
        write_kit_call(t, "v_", "CANON_g", t->many);
    }
    LLVMValueRef low = write_load(t, t->lanes, t->many[0]);
    LLVMValueRef high = insn->insn.wd == 2 ? write_load(t, t->lanes, t->many[1]) : NULL;
    lanes_put(g, insn->insn.rd, low, set, op.types[0] == 'f' ? RAW_FLOAT : RAW_NO);
    if (high) {
        lanes_put(g, insn->insn.rd + 1u, high, set, RAW_NO);
    }
}

static void write_selection(struct group *g, uint32_t n, LLVMValueRef set)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    const struct writer *const t = g->t;
    LLVMValueRef chosen = pred_operand(g, insn->pred), words[2];

    for (uint32_t word = 0; word < insn->wd; word++) {
        LLVMValueRef a = insn->a_scalar ? write_splat(t, g->same[n][0][word]) : lanes_get(g, insn->ra + word, false);
        LLVMValueRef b =
            insn->b_scalar || insn->immed ? write_splat(t, g->same[n][1][word]) : lanes_get(g, insn->rb + word, false);
        words[word] = LLVMBuildSelect(t->builder, chosen, a, b, "");
    }
    for (uint32_t word = 0; word < insn->wd; word++) {
        lanes_put(g, insn->rd + word, words[word], set, RAW_NO);
    }
}

static void write_logic(struct group *g, uint32_t n, LLVMValueRef set)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    LLVMBuilderRef b = g->t->builder;
    LLVMValueRef left = pred_operand(g, insn->ra), right = pred_operand(g, insn->rb);
    LLVMValueRef value = insn->op == PPU_OP_PAND  ? LLVMBuildAnd(b, left, right, "")
                         : insn->op == PPU_OP_POR ? LLVMBuildOr(b, left, right, "")
                                                  : LLVMBuildXor(b, left, right, "");

    pred_put(g, insn->rd, value, set);
}

/* The chunk's bytes of a load or a store. */
static LLVMValueRef row_place(const struct group *g, uint32_t n)
{
    const struct writer *const t = g->t;
    LLVMValueRef place = t->places[g->row[n]];
    LLVMValueRef host = write_load(t, t->ptr, write_field(t, place, offsetof(struct kit_place, host)));
    LLVMValueRef step = write_load(t, t->i64, write_field(t, place, offsetof(struct kit_place, step)));

    return write_behind(t, host, LLVMBuildMul(t->builder, step, g->chunk, ""));
}

static void write_row(struct group *g, uint32_t n)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    const struct writer *const t = g->t;
    const uint32_t align = ppu_width_bytes(insn->width);
    LLVMTypeRef type = LLVMVectorType(write_width_type(t, insn->width), TIER_CHUNK);

    if (t->kind[n] == KIND_LOAD) {
        LLVMValueRef value = write_load_shared(t, type, row_place(g, n), align);
        lanes_put(g, insn->rd, write_widened(t, value, insn->width, t->lanes), NULL, RAW_NO);
        return;
    }
    LLVMValueRef value = lanes_get(g, insn->rd, false);
    if (type != t->lanes) {
        value = LLVMBuildTrunc(t->builder, value, type, "");
    }
    write_store_shared(t, value, row_place(g, n), align);
}

static void write_lanes(struct group *g, uint32_t n)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    LLVMValueRef set;

    switch (g->t->kind[n]) {
    case KIND_UNIFORM:
        set = LLVMBuildICmp(g->t->builder, LLVMIntNE, write_splat(g->t, g->uniform[n]), LLVMConstNull(g->t->lanes), "");
        pred_put(g, insn->rd, set, NULL);
        break;
    case KIND_VECTOR:
        set = executing(g, insn->guard);
        if (insn->format == PPU_FMT_PLOP) {
            write_logic(g, n, set);
        } else if (insn->format == PPU_FMT_SEL) {
            write_selection(g, n, set);
        } else {
            write_operation(g, n, set);
        }
        break;
    case KIND_LOAD:
    case KIND_STORE:
        write_row(g, n);
        break;
    default:
        break;
    }
}

static void chunk_store(struct group *g)
{
    const struct writer *const t = g->t;

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        if (g->dirty[reg]) {
            write_store(t, lanes_get(g, reg, false), lanes_place(g, reg));
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (g->pred_dirty[pred]) {
            write_store(t, LLVMBuildBitCast(t->builder, g->pred[pred], t->i16, ""), set_place(g, pred_offset(pred)));
        }
    }
}

/* Whether lanes of the chunk have the guard of the block's end. */
static void chunk_guard(struct group *g, uint32_t guard)
{
    const struct writer *const t = g->t;
    LLVMValueRef has = pred_operand(g, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE));
    LLVMValueRef others = LLVMBuildNot(t->builder, has, "");
    LLVMValueRef *const sets[2] = { &has, &others };
    LLVMValueRef places[2] = { t->taken, t->rest };

    for (uint32_t i = 0; i < 2; i++) {
        LLVMValueRef set = g->active ? LLVMBuildAnd(t->builder, *sets[i], g->active, "") : *sets[i];
        LLVMValueRef bits = LLVMBuildZExt(t->builder, LLVMBuildBitCast(t->builder, set, t->i16, ""), t->i32, "");
        write_store(t, LLVMBuildOr(t->builder, write_load(t, t->i32, places[i]), bits, ""), places[i]);
    }
}

/* All instructions of the group, for one chunk after the other. */
static void write_chunks(struct group *g, uint32_t guard)
{
    struct writer *const t = g->t;
    LLVMBuilderRef b = t->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b), body = write_block(t), work = write_block(t);
    LLVMBasicBlockRef next = write_block(t), end = write_block(t);

    LLVMBuildBr(b, body);
    write_at(t, body);
    g->chunk = LLVMBuildPhi(b, t->i64, "");
    if (g->masked) {
        LLVMValueRef set = write_load(t, t->i16, set_place(g, offsetof(struct warp, active)));
        g->active = LLVMBuildBitCast(b, set, t->mask, "");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, set, LLVMConstNull(t->i16), ""), next, work);
    } else {
        LLVMBuildBr(b, work);
    }
    write_at(t, work);
    for (uint32_t n = g->first; n < g->first + g->count; n++) {
        write_lanes(g, n);
    }
    if (guard != 0) {
        chunk_guard(g, guard);
    }
    chunk_store(g);
    LLVMBuildBr(b, next);
    write_at(t, next);
    LLVMValueRef more = LLVMBuildAdd(b, g->chunk, write_i64(t, 1), "");
    LLVMValueRef numbers[2] = { write_i64(t, 0), more };
    LLVMBasicBlockRef from[2] = { before, next };
    LLVMAddIncoming(g->chunk, numbers, from, 2);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, more, write_i64(t, t->unit->wave / TIER_CHUNK), ""), end, body);
    write_at(t, end);
}

/* ---- a group ---- */

/* A sum of a steady register and of what is the same for all lanes, in the same register: as steady as it was. */
static bool stays_steady(const struct tier_insn *insn)
{
    const uint32_t source = insn->kinds & CODE_SAME_A ? insn->insn.rb : insn->insn.ra;

    return insn->steady && insn->insn.guard == 0 && insn->insn.rd == source;
}

static void write_steady(const struct group *g)
{
    const struct writer *const t = g->t;
    uint32_t keeps = UINT32_MAX;

    for (uint32_t n = g->first; n < g->first + g->count; n++) {
        const struct tier_insn *const insn = insn_at(g, n);
        const bool writes =
            (t->kind[n] == KIND_VECTOR && insn->insn.format != PPU_FMT_SETP && insn->insn.format != PPU_FMT_PLOP) ||
            t->kind[n] == KIND_LOAD;
        if (!writes || (!g->masked && stays_steady(insn))) {
            continue;
        }
        for (uint32_t word = 0; word < insn->insn.wd; word++) {
            keeps &= insn->insn.rd + word < EXEC_STEADY ? ~(1u << (insn->insn.rd + word)) : UINT32_MAX;
        }
    }
    if (keeps != UINT32_MAX) {
        LLVMValueRef place = write_field(t, t->x, offsetof(struct exec, steady));
        write_store(t, LLVMBuildAnd(t->builder, write_load(t, t->i32, place), write_i32(t, keeps), ""), place);
    }
}

static void write_counts(const struct group *g)
{
    const struct writer *const t = g->t;

    write_count(t, write_field(t, t->turn, offsetof(struct tier_turn, done)), write_i32(t, g->count));
    if (g->lines) {
        const size_t at = offsetof(struct sm_cta, count) + PPU_COUNTER_TRANSACTIONS * sizeof(uint64_t);
        write_count(t, write_field(t, t->cta, at), g->lines);
    }
}

static bool has_lanes(const struct group *g)
{
    bool any = false;

    for (uint32_t n = g->first; n < g->first + g->count; n++) {
        any = any || (g->t->kind[n] != KIND_SCALAR && g->t->kind[n] != KIND_LOAD_ONE);
    }
    return any;
}

void write_group(struct writer *t, uint32_t first, uint32_t count, bool masked, uint32_t guard)
{
    struct group *const g = calloc(1, sizeof(*g));
    LLVMBasicBlockRef behind = write_block(t);

    if (!g) {
        write_straight(t, first, count);
        if (guard != 0) {
            write_guard(t, guard);
        }
        LLVMBuildBr(t->builder, behind);
        write_at(t, behind);
        return;
    }
    g->t = t;
    g->first = first;
    g->count = count;
    g->masked = masked;
    g->fail = write_block(t);
    write_same(g);
    if (has_lanes(g)) {
        write_store(t, write_i32(t, 0), t->taken);
        write_store(t, write_i32(t, 0), t->rest);
        write_chunks(g, guard);
    } else if (guard != 0) {
        write_guard(t, guard);
    }
    scalars_store(g);
    write_steady(g);
    write_counts(g);
    LLVMBuildBr(t->builder, behind);
    write_at(t, g->fail);
    if (g->fails) {
        write_straight(t, first, count);
        if (guard != 0) {
            write_guard(t, guard);
        }
        LLVMBuildBr(t->builder, behind);
    } else {
        LLVMBuildUnreachable(t->builder);
    }
    write_at(t, behind);
    free(g);
}

/* ---- which instructions make a group ---- */

static bool writes_lanes(const struct writer *t, uint32_t n, uint32_t reg)
{
    const struct ppu_insn *const insn = &t->unit->insn[n].insn;
    const bool writes = (t->kind[n] == KIND_VECTOR && insn->format != PPU_FMT_SETP && insn->format != PPU_FMT_PLOP) ||
                        t->kind[n] == KIND_LOAD;

    return writes && reg >= insn->rd && reg < insn->rd + insn->wd;
}

bool group_takes(const struct writer *t, uint32_t first, uint32_t n, bool masked)
{
    const enum tier_kind kind = t->kind[n];
    const bool row = kind == KIND_LOAD || kind == KIND_STORE;
    uint32_t rows = 0;

    if (kind == KIND_VECTOR || kind == KIND_SCALAR || kind == KIND_UNIFORM) {
        return true;
    }
    if (!(row || kind == KIND_LOAD_ONE) || (row && masked)) {
        return false;
    }
    for (uint32_t i = first; i < n; i++) {
        const bool loads = t->kind[i] == KIND_LOAD || t->kind[i] == KIND_LOAD_ONE;
        if (t->kind[i] == KIND_STORE || (kind == KIND_STORE && loads) ||
            (row && t->unit->insn[n].insn.lane_off && writes_lanes(t, i, t->unit->insn[n].insn.rb))) {
            return false;
        }
        rows += t->kind[i] == KIND_LOAD;
    }
    return rows < GROUP_ROWS;
}
