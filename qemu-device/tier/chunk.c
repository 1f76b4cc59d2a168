/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/chunk.h"
#include "qemu-device/tier/operand.h"

/* Where a vector register's lanes of the chunk are. */
LLVMValueRef chunk_lanes_place(const struct chunk *c, uint32_t reg)
{
    const struct writer *const t = c->t;
    LLVMValueRef offset = LLVMBuildMul(t->builder, c->number, write_i64(t, TIER_CHUNK * sizeof(uint32_t)), "");

    return write_behind(t, write_field(t, t->vreg, (uint64_t)reg * t->unit->wave * sizeof(uint32_t)), offset);
}

/* Where the chunk's bits of a set of lanes are. */
LLVMValueRef chunk_set_place(const struct chunk *c, size_t offset)
{
    const struct writer *const t = c->t;

    return write_behind(t, write_field(t, t->w, offset), LLVMBuildMul(t->builder, c->number, write_i64(t, 2), ""));
}

static LLVMValueRef set_load(const struct chunk *c, size_t offset)
{
    return LLVMBuildBitCast(c->t->builder, write_load(c->t, c->t->i16, chunk_set_place(c, offset)), c->t->mask, "");
}

size_t chunk_pred_offset(uint32_t pred)
{
    return offsetof(struct warp, pred) + pred * sizeof(struct lanes);
}

static LLVMValueRef pred_get(struct chunk *c, uint32_t pred)
{
    if (!c->pred[pred]) {
        c->pred[pred] = set_load(c, chunk_pred_offset(pred));
    }
    return c->pred[pred];
}

/* A predicate operand: its number, and whether it is negated. */
LLVMValueRef chunk_pred(struct chunk *c, uint32_t operand)
{
    LLVMValueRef pred = pred_get(c, operand & PPU_GUARD_PRED);

    return operand & PPU_PRED_NEGATE ? LLVMBuildNot(c->t->builder, pred, "") : pred;
}

/* The lanes that execute an instruction; NULL: all. */
LLVMValueRef chunk_executing(struct chunk *c, uint32_t guard)
{
    LLVMValueRef guarded = guard != 0 ? chunk_pred(c, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE)) : NULL;

    if (!guarded || !c->active) {
        return guarded ? guarded : c->active;
    }
    return LLVMBuildAnd(c->t->builder, guarded, c->active, "");
}

static LLVMValueRef canonical(const struct chunk *c, LLVMValueRef value)
{
    const struct writer *const t = c->t;

    write_store(t, value, t->many[2]);
    write_kit_call(t, "v_", "CANON_f", t->many);
    return write_load(t, t->lanes, t->many[0]);
}

/* Makes the NaNs of a double, whose words these are, the one. */
static void canonical_words(const struct chunk *c, LLVMValueRef words[2])
{
    const struct writer *const t = c->t;

    write_store(t, words[0], t->many[2]);
    write_store(t, words[1], t->many[3]);
    write_kit_call(t, "v_", "CANON_g", t->many);
    words[0] = write_load(t, t->lanes, t->many[0]);
    words[1] = write_load(t, t->lanes, t->many[1]);
}

/* Makes the NaNs of a register, and of the one that is the other word of its double, the one. */
static void make_canonical(struct chunk *c, uint32_t reg)
{
    if (c->raw[reg] == RAW_FLOAT) {
        c->value[reg] = canonical(c, c->value[reg]);
        c->raw[reg] = RAW_NO;
    } else if (c->raw[reg] != RAW_NO) {
        const uint32_t low = c->raw[reg] == RAW_LOW ? reg : reg - 1;
        canonical_words(c, &c->value[low]);
        c->raw[low] = c->raw[low + 1] = RAW_NO;
    }
}

LLVMValueRef chunk_get(struct chunk *c, uint32_t reg, enum raw as)
{
    if (!c->value[reg]) {
        c->value[reg] = write_load(c->t, c->t->lanes, chunk_lanes_place(c, reg));
    }
    if (c->raw[reg] != as) {
        make_canonical(c, reg);
    }
    return c->value[reg];
}

/* A register gets other lanes: what is left of a double that it was a word of is looked at by itself from now on. */
static void write_register(struct chunk *c, uint32_t reg, LLVMValueRef value, enum raw raw)
{
    if (c->raw[reg] == RAW_LOW || c->raw[reg] == RAW_HIGH) {
        make_canonical(c, reg);
    }
    c->value[reg] = value;
    c->raw[reg] = (uint8_t)raw;
    c->dirty[reg] = true;
    c->is_double[reg] = false;
    if (reg != 0) {
        c->is_double[reg - 1] = false;
    }
}

/* Lanes that are kept are not floats for that others are: where the two differ all NaNs are made one before. */
void chunk_put(struct chunk *c, uint32_t reg, LLVMValueRef value, LLVMValueRef set, enum raw raw)
{
    if (set) {
        LLVMValueRef kept = chunk_get(c, reg, raw);
        if (raw == RAW_FLOAT && c->raw[reg] == RAW_NO) {
            value = canonical(c, value);
            raw = RAW_NO;
        }
        value = LLVMBuildSelect(c->t->builder, set, value, kept, "");
    }
    write_register(c, reg, value, raw);
}

/* As chunk_put() of the words of a double whose NaNs may be any. */
static void put_double(struct chunk *c, uint32_t reg, LLVMValueRef words[2], LLVMValueRef set)
{
    bool raw = true;

    if (set) {
        raw = c->raw[reg] == RAW_LOW;
        LLVMValueRef low = chunk_get(c, reg, raw ? RAW_LOW : RAW_NO);
        LLVMValueRef high = chunk_get(c, reg + 1, raw ? RAW_HIGH : RAW_NO);
        if (!raw) {
            canonical_words(c, words);
        }
        words[0] = LLVMBuildSelect(c->t->builder, set, words[0], low, "");
        words[1] = LLVMBuildSelect(c->t->builder, set, words[1], high, "");
    }
    write_register(c, reg, words[0], RAW_NO);
    write_register(c, reg + 1, words[1], RAW_NO);
    if (raw) {
        c->raw[reg] = RAW_LOW;
        c->raw[reg + 1] = RAW_HIGH;
    }
    c->is_double[reg] = true;
}

static void pred_put(struct chunk *c, uint32_t pred, LLVMValueRef value, LLVMValueRef set)
{
    c->pred[pred] = set ? LLVMBuildSelect(c->t->builder, set, value, pred_get(c, pred), "") : value;
    c->pred_dirty[pred] = true;
}

/* What may be any of word `word` of an operand of the type. */
static enum raw raw_of(char type, uint32_t word)
{
    return type == 'f' ? RAW_FLOAT : type != 'g' ? RAW_NO : word == 0 ? RAW_LOW : RAW_HIGH;
}

/* Puts a source where the function of the kit reads it. */
static void give_operand(struct chunk *c, uint32_t n, uint32_t i, char type)
{
    const struct tier_insn *const insn = &c->t->unit->insn[n];
    const struct operand_of o = operand_of(&insn->insn, i);
    const struct writer *const t = c->t;
    const bool same = o.scalar || o.immediate;

    for (uint32_t word = 0; word < o.words && type != 'z'; word++) {
        LLVMValueRef lanes =
            same ? write_splat(t, c->same->words[n][i][word]) : chunk_get(c, o.reg + word, raw_of(type, word));
        if (!same && word == o.words - 1u) {
            lanes = write_modified(c->t, &insn->insn, i, lanes);
        }
        write_store(t, lanes, t->many[2 * (i + 1) + word]);
    }
}

/* Makes NaNs of a source the one, where they are looked at: that takes the places of operands. */
static void prepare_operand(struct chunk *c, uint32_t n, uint32_t i, char type)
{
    const struct operand_of o = operand_of(&c->t->unit->insn[n].insn, i);

    for (uint32_t word = 0; word < o.words && type != 'z' && !o.scalar && !o.immediate; word++) {
        (void)chunk_get(c, o.reg + word, raw_of(type, word));
    }
}

static void write_operation(struct chunk *c, uint32_t n, LLVMValueRef set)
{
    const struct tier_insn *const insn = &c->t->unit->insn[n];
    const struct tier_op op = tier_op_of(insn);
    const struct writer *const t = c->t;

    for (uint32_t i = 0; i < 3; i++) {
        prepare_operand(c, n, i, op.types[i + 1]);
    }
    for (uint32_t i = 0; i < 3; i++) {
        give_operand(c, n, i, op.types[i + 1]);
    }
    write_kit_call(t, "v_", op.name, t->many);
    if (insn->insn.format == PPU_FMT_SETP) {
        LLVMValueRef words = write_load(t, t->lanes, t->many[0]);
        pred_put(c, insn->insn.rd, LLVMBuildICmp(t->builder, LLVMIntNE, words, LLVMConstNull(t->lanes), ""), set);
        return;
    }
    LLVMValueRef words[2] = { write_load(t, t->lanes, t->many[0]) };
    words[1] = insn->insn.wd == 2 ? write_load(t, t->lanes, t->many[1]) : NULL;
    if (op.types[0] == 'g') {
        put_double(c, insn->insn.rd, words, set);
        return;
    }
    chunk_put(c, insn->insn.rd, words[0], set, op.types[0] == 'f' ? RAW_FLOAT : RAW_NO);
    if (words[1]) {
        chunk_put(c, insn->insn.rd + 1u, words[1], set, RAW_NO);
    }
}

static void write_selection(struct chunk *c, uint32_t n, LLVMValueRef set)
{
    const struct ppu_insn *const insn = &c->t->unit->insn[n].insn;
    const struct writer *const t = c->t;
    LLVMValueRef chosen = chunk_pred(c, insn->pred), words[2];

    for (uint32_t word = 0; word < insn->wd; word++) {
        LLVMValueRef a =
            insn->a_scalar ? write_splat(t, c->same->words[n][0][word]) : chunk_get(c, insn->ra + word, RAW_NO);
        LLVMValueRef b = insn->b_scalar || insn->immed ? write_splat(t, c->same->words[n][1][word])
                                                       : chunk_get(c, insn->rb + word, RAW_NO);
        words[word] = LLVMBuildSelect(t->builder, chosen, a, b, "");
    }
    for (uint32_t word = 0; word < insn->wd; word++) {
        chunk_put(c, insn->rd + word, words[word], set, RAW_NO);
    }
}

static void write_logic(struct chunk *c, uint32_t n, LLVMValueRef set)
{
    const struct ppu_insn *const insn = &c->t->unit->insn[n].insn;
    LLVMBuilderRef b = c->t->builder;
    LLVMValueRef left = chunk_pred(c, insn->ra), right = chunk_pred(c, insn->rb);
    LLVMValueRef value = insn->op == PPU_OP_PAND  ? LLVMBuildAnd(b, left, right, "")
                         : insn->op == PPU_OP_POR ? LLVMBuildOr(b, left, right, "")
                                                  : LLVMBuildXor(b, left, right, "");

    pred_put(c, insn->rd, value, set);
}

void chunk_write(struct chunk *c, uint32_t n)
{
    const struct ppu_insn *const insn = &c->t->unit->insn[n].insn;

    if (c->t->kind[n] == KIND_UNIFORM) {
        LLVMValueRef word = write_splat(c->t, c->same->uniform[n]);
        pred_put(c, insn->rd, LLVMBuildICmp(c->t->builder, LLVMIntNE, word, LLVMConstNull(c->t->lanes), ""), NULL);
        return;
    }
    LLVMValueRef set = chunk_executing(c, insn->guard);
    if (insn->format == PPU_FMT_PLOP) {
        write_logic(c, n, set);
    } else if (insn->format == PPU_FMT_SEL) {
        write_selection(c, n, set);
    } else {
        write_operation(c, n, set);
    }
}

void chunk_store(struct chunk *c)
{
    const struct writer *const t = c->t;

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        if (c->dirty[reg]) {
            write_store(t, chunk_get(c, reg, RAW_NO), chunk_lanes_place(c, reg));
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (c->pred_dirty[pred]) {
            write_store(t, LLVMBuildBitCast(t->builder, c->pred[pred], t->i16, ""),
                        chunk_set_place(c, chunk_pred_offset(pred)));
        }
    }
}
