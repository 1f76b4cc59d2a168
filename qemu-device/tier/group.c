/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a group of instructions: what is the same for all lanes comes first, then a loop over chunks of lanes, in
 * which registers are values. In memory are the values of before the group until the loop, and those of behind it after
 * it.
 */
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/tier/chunk.h"
#include "qemu-device/tier/operand.h"
#include "qemu-device/tier/place.h"
#include "qemu-device/tier/same.h"
#include "qemu-device/tier/writer.h"

#include <stdlib.h>
#include <string.h>

struct group {
    struct writer *t;
    uint32_t first, count;
    bool masked;
    uint32_t row[TIER_MAX_INSNS];
    uint32_t rows;
    struct same same;
    struct chunk chunk;
};

static const struct tier_insn *insn_at(const struct group *g, uint32_t n)
{
    return &g->t->unit->insn[n];
}

/* ---- rows ---- */

/* Asks the kit whether the row is where one was before; i1. */
static LLVMValueRef find_near(const struct group *g, uint32_t n, LLVMValueRef code, LLVMValueRef base)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    const struct writer *const t = g->t;
    const uint32_t flags = (t->kind[n] == KIND_STORE ? KIT_ROW_STORE : 0) | (insn->indexed ? KIT_ROW_INDEXED : 0) |
                           (insn->lane_off ? KIT_ROW_OFFSETS : 0);
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

    return write_kit(t, "kit_row", arguments, 9);
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
    LLVMValueRef base = same_base(&g->same, &insn_at(g, n)->insn);
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
    same_unless(&g->same, LLVMBuildNot(t->builder, ok, ""));
    copy_place(t, row, place);
    LLVMBuildBr(t->builder, found);
    write_at(t, found);
    g->row[n] = g->rows++;
    same_add_lines(&g->same, write_load(t, t->i64, write_field(t, place, offsetof(struct kit_place, lines))));
}

static void write_same(struct group *g)
{
    for (uint32_t n = g->first; n < g->first + g->count; n++) {
        if (g->t->kind[n] == KIND_LOAD || g->t->kind[n] == KIND_STORE) {
            find_row(g, n);
        } else if (!same_write(&g->same, n)) {
            same_capture(&g->same, n);
        } else if (g->t->kind[n] == KIND_LOAD_ONE) {
            same_add_lines(&g->same, write_i64(g->t, 1));
        }
    }
}

/* ---- a chunk ---- */

/* The chunk's bytes of a load or a store. */
static LLVMValueRef row_place(const struct group *g, uint32_t n)
{
    const struct writer *const t = g->t;
    LLVMValueRef place = t->places[g->row[n]];
    LLVMValueRef host = write_load(t, t->ptr, write_field(t, place, offsetof(struct kit_place, host)));
    LLVMValueRef step = write_load(t, t->i64, write_field(t, place, offsetof(struct kit_place, step)));

    return write_behind(t, host, LLVMBuildMul(t->builder, step, g->chunk.number, ""));
}

static void write_row(struct group *g, uint32_t n)
{
    const struct ppu_insn *const insn = &insn_at(g, n)->insn;
    const struct writer *const t = g->t;
    const uint32_t align = ppu_width_bytes(insn->width);
    LLVMTypeRef type = LLVMVectorType(write_width_type(t, insn->width), TIER_CHUNK);

    if (t->kind[n] == KIND_LOAD) {
        LLVMValueRef value = write_load_shared(t, type, row_place(g, n), align);
        chunk_put(&g->chunk, insn->rd, write_widened(t, value, insn->width, t->lanes), NULL, RAW_NO);
        return;
    }
    LLVMValueRef value = chunk_get(&g->chunk, insn->rd, RAW_NO);
    if (type != t->lanes) {
        value = LLVMBuildTrunc(t->builder, value, type, "");
    }
    write_store_shared(t, value, row_place(g, n), align);
}

/* Whether lanes of the chunk have the guard of the block's end. */
static void chunk_guard(struct group *g, uint32_t guard)
{
    const struct writer *const t = g->t;
    LLVMValueRef has = chunk_pred(&g->chunk, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE));
    LLVMValueRef others = LLVMBuildNot(t->builder, has, "");
    LLVMValueRef *const sets[2] = { &has, &others };
    LLVMValueRef places[2] = { t->taken, t->rest };

    for (uint32_t i = 0; i < 2; i++) {
        LLVMValueRef set = g->chunk.active ? LLVMBuildAnd(t->builder, *sets[i], g->chunk.active, "") : *sets[i];
        LLVMValueRef bits = LLVMBuildZExt(t->builder, LLVMBuildBitCast(t->builder, set, t->i16, ""), t->i32, "");
        write_store(t, LLVMBuildOr(t->builder, write_load(t, t->i32, places[i]), bits, ""), places[i]);
    }
}

/* A comparison of scalars is for lanes that are not active, too; of other instructions they have nothing. */
static void write_idle(const struct group *g)
{
    const struct writer *const t = g->t;
    LLVMValueRef same[PPU_PREDS] = { NULL };

    for (uint32_t n = g->first; n < g->first + g->count; n++) {
        if (t->kind[n] == KIND_UNIFORM) {
            same[insn_at(g, n)->insn.rd] = g->same.uniform[n];
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        if (same[pred]) {
            write_store(t, LLVMBuildTrunc(t->builder, same[pred], t->i16, ""),
                        chunk_set_place(&g->chunk, chunk_pred_offset(pred)));
        }
    }
}

/* All instructions of the group, for one chunk after the other. */
static void write_chunks(struct group *g, uint32_t guard)
{
    struct writer *const t = g->t;
    LLVMBuilderRef b = t->builder;
    LLVMBasicBlockRef work = write_block(t), next = write_block(t);
    const struct write_repeat chunks = write_repeat_begin(t);

    g->chunk.number = chunks.number;
    if (g->masked) {
        LLVMValueRef set = write_load(t, t->i16, chunk_set_place(&g->chunk, offsetof(struct warp, active)));
        LLVMBasicBlockRef idle = write_block(t);
        g->chunk.active = LLVMBuildBitCast(b, set, t->mask, "");
        LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, set, LLVMConstNull(t->i16), ""), idle, work);
        write_at(t, idle);
        write_idle(g);
        LLVMBuildBr(b, next);
    } else {
        LLVMBuildBr(b, work);
    }
    write_at(t, work);
    for (uint32_t n = g->first; n < g->first + g->count; n++) {
        if (t->kind[n] == KIND_LOAD || t->kind[n] == KIND_STORE) {
            write_row(g, n);
        } else if (t->kind[n] == KIND_VECTOR || t->kind[n] == KIND_UNIFORM) {
            chunk_write(&g->chunk, n);
        }
    }
    if (guard != 0) {
        chunk_guard(g, guard);
    }
    chunk_store(&g->chunk);
    LLVMBuildBr(b, next);
    write_at(t, next);
    write_repeat_end(t, &chunks, t->unit->wave / TIER_CHUNK);
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
    if (g->same.lines) {
        const size_t at = offsetof(struct sm_cta, count) + PPU_COUNTER_TRANSACTIONS * sizeof(uint64_t);
        write_count(t, write_field(t, t->cta, at), g->same.lines);
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
    g->same.t = t;
    g->chunk.t = t;
    g->chunk.same = &g->same;
    g->first = first;
    g->count = count;
    g->masked = masked;
    g->same.fail = write_block(t);
    write_same(g);
    if (has_lanes(g)) {
        write_store(t, write_i32(t, 0), t->taken);
        write_store(t, write_i32(t, 0), t->rest);
        write_chunks(g, guard);
    } else if (guard != 0) {
        write_guard(t, guard);
    }
    same_store(&g->same);
    write_steady(g);
    write_counts(g);
    LLVMBuildBr(t->builder, behind);
    write_at(t, g->same.fail);
    if (g->same.fails) {
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
