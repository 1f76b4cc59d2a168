/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the loads of a loop without effects (loop.c) whose lanes lie wherever (gather.c), of many lanes or of one. */
#include "qemu-device/tier/gather.h"
#include "qemu-device/tier/loop.h"

bool loop_loads_lanes(const struct tier_unit *unit, const struct ppu_insn *insn)
{
    if (unit->modelled || insn->format != PPU_FMT_MEM || insn->scalar) {
        return false;
    }
    return insn->op == PPU_OP_LDG ? insn->wa == 2 : insn->op == PPU_OP_LDS && !insn->indexed && insn->wa != 2;
}

LLVMValueRef loop_base_of(const struct loop *l, const struct ppu_insn *insn)
{
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef base = write_i64(t, (uint64_t)(int64_t)insn->imm);

    for (uint32_t word = 0; insn->a_scalar && word < insn->wa; word++) {
        LLVMValueRef value = LLVMBuildZExt(b, loop_get(l, t->i32, l->sreg[insn->ra + word]), t->i64, "");
        base = LLVMBuildAdd(b, base, LLVMBuildShl(b, value, write_i64(t, 32ull * word), ""), "");
    }
    return base;
}

static LLVMValueRef low_of(const struct loop *l, const struct ppu_insn *insn, uint32_t group)
{
    if (insn->wa == 0 || (insn->a_scalar && !insn->lane_off)) {
        return LLVMConstNull(l->words_type);
    }
    return loop_clean(l, insn->a_scalar ? insn->rb : insn->ra, group);
}

/* NULL: there are no upper halves. */
static LLVMValueRef high_of(const struct loop *l, const struct ppu_insn *insn, uint32_t group)
{
    return insn->wa == 2 && !insn->a_scalar ? loop_clean(l, insn->ra + 1u, group) : NULL;
}

static LLVMValueRef set_of(const struct loop *l, const struct ppu_insn *insn, uint32_t group)
{
    const uint32_t guard = insn->guard;
    LLVMValueRef active = loop_get(l, l->t->mask, l->active[group]);

    if (guard == 0) {
        return active;
    }
    return write_both(l->t, active, loop_pred(l, guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), group));
}

/* ---- offsets that the loop does not write ---- */

struct loop_offsets *loop_offsets_of(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &l->t->unit->insn[n].insn;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    const struct loop_offsets wanted = {
        .reg = insn->rb,
        .step = insn->indexed ? 1 : bytes,
        .log2 = insn->indexed ? (uint32_t)__builtin_ctz(bytes) : 0,
        .align = bytes < sizeof(uint32_t) ? bytes : (uint32_t)sizeof(uint32_t),
    };

    if (insn->op != PPU_OP_LDG || !insn->a_scalar || !insn->lane_off || l->reg_written[insn->rb]) {
        return NULL;
    }
    for (uint32_t i = 0; i < l->offset_count; i++) {
        struct loop_offsets *const o = &l->offsets[i];
        if (o->reg == wanted.reg && o->step == wanted.step && o->log2 == wanted.log2 && o->align == wanted.align) {
            return o;
        }
    }
    if (l->offset_count == LOOP_OFFSETS) {
        return NULL;
    }
    l->offsets[l->offset_count] = wanted;
    return &l->offsets[l->offset_count++];
}

void loop_find_offsets(struct loop *l)
{
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef set = write_i32(t, 0);

    for (uint32_t group = 0; group < GATHER_GROUPS; group++) {
        LLVMValueRef bits = LLVMBuildZExt(b, write_mask_bits(t, loop_get(l, t->mask, l->active[group])), t->i32, "");
        set = LLVMBuildOr(b, set, LLVMBuildShl(b, bits, write_i32(t, group * TIER_CHUNK), ""), "");
    }
    for (uint32_t i = 0; i < l->offset_count; i++) {
        const struct loop_offsets *const o = &l->offsets[i];
        LLVMValueRef arguments[] = { loop_lanes_place(l, o->reg, 0), set,
                                     write_i32(t, o->step),          write_i32(t, o->log2),
                                     write_i32(t, o->align),         o->start };
        loop_put(l, write_kit(t, "kit_offsets_kind", arguments, 6), o->kind);
    }
}

static void unless(void *owner, LLVMValueRef stops, uint32_t n)
{
    loop_unless(owner, stops, n);
}

static struct gather access_of(struct loop *l, uint32_t n)
{
    struct gather a = gather_of(l->t, n);

    a.base = loop_base_of(l, a.insn);
    a.request = l->request;
    a.values = l->values;
    a.unless = unless;
    a.owner = l;
    if (a.insn->op == PPU_OP_LDS) {
        a.shared = loop_get(l, l->t->ptr, l->shared);
        a.shared_bytes = loop_get(l, l->t->i32, l->shared_bytes);
    } else {
        a.page = l->page[n];
    }
    const struct loop_offsets *const offsets = loop_offsets_of(l, n);
    if (offsets && offsets->kind) {
        a.known.kind = loop_get(l, l->t->i32, offsets->kind);
        for (uint32_t group = 0; group < GATHER_GROUPS; group++) {
            LLVMValueRef place = write_field(l->t, offsets->start, group * sizeof(uint32_t));
            a.known.start[group] = write_load(l->t, l->t->i32, place);
        }
    }
    return a;
}

void loop_write_lanes(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &l->t->unit->insn[n].insn;
    LLVMBuilderRef b = l->t->builder;
    struct gather_pass pass[LOOP_GROUPS / GATHER_GROUPS] = { 0 };
    struct gather_window window = { 0 };

    if (l->parts > 1) {
        loop_unless(l, LLVMBuildICmp(b, LLVMIntUGE, loop_done_at(l, n), loop_get(l, l->t->i32, l->allowed), ""), n);
    }
    struct gather a = access_of(l, n);
    if (insn->wa != 2 || insn->a_scalar) {
        window = gather_window(&a, a.base);
    }
    for (uint32_t i = 0; i < l->groups / GATHER_GROUPS; i++) {
        for (uint32_t group = 0; group < GATHER_GROUPS; group++) {
            a.low[group] = low_of(l, insn, i * GATHER_GROUPS + group);
            a.high[group] = high_of(l, insn, i * GATHER_GROUPS + group);
            a.set[group] = set_of(l, insn, i * GATHER_GROUPS + group);
        }
        gather_load(&a, &window, &pass[i]);
    }
    /* Registers that are loaded may be those of the addresses, so all is loaded before any of them is put. */
    for (uint32_t group = 0; group < l->groups; group++) {
        for (uint32_t word = 0; word < a.words; word++) {
            loop_put_lanes(l, n, insn->rd + word, group,
                           pass[group / GATHER_GROUPS].words[group % GATHER_GROUPS][word]);
        }
    }
    for (uint32_t i = 0; i < l->groups / GATHER_GROUPS; i++) {
        LLVMValueRef lines = LLVMBuildZExt(b, pass[i].lines, l->t->i64, "");
        loop_put(l, LLVMBuildAdd(b, loop_get(l, l->t->i64, l->own_lines), lines, ""), l->own_lines);
    }
}

/* ---- one lane ---- */

static LLVMValueRef lane_offset_of(const struct loop *l, const struct ppu_insn *insn)
{
    const struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    LLVMValueRef low = low_of(l, insn, 0), high = high_of(l, insn, 0);

    if (insn->indexed) {
        return LLVMBuildMul(b, LLVMBuildSExt(b, low, t->i64, ""), write_i64(t, ppu_width_bytes(insn->width)), "");
    }
    LLVMValueRef offset = LLVMBuildZExt(b, low, t->i64, "");
    return high ? LLVMBuildOr(b, offset, LLVMBuildShl(b, LLVMBuildZExt(b, high, t->i64, ""), write_i64(t, 32), ""), "")
                : offset;
}

static void fail_unless(const struct loop *l, LLVMValueRef holds)
{
    LLVMBasicBlockRef on = write_block(l->t);

    write_rarely(l->t, LLVMBuildNot(l->t->builder, holds, ""), l->fail, on);
    write_at(l->t, on);
}

/* i1: it lies as it must. */
static LLVMValueRef is_aligned(const struct writer *t, LLVMValueRef at, uint32_t bytes)
{
    LLVMValueRef odd = LLVMBuildAnd(t->builder, at, write_i64(t, (bytes < 4 ? bytes : 4) - 1u), "");

    return LLVMBuildICmp(t->builder, LLVMIntEQ, odd, write_i64(t, 0), "");
}

/* The lane's bytes on the host. The base is aligned wherever a window was found. */
static LLVMValueRef find_global(const struct loop *l, uint32_t n, LLVMValueRef offset)
{
    const struct ppu_insn *const insn = &l->t->unit->insn[n].insn;
    const struct loop_window *const w = &l->window[n];
    struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    LLVMValueRef in = LLVMBuildSub(b, offset, loop_get(l, t->i64, w->first), "");
    LLVMValueRef near = LLVMBuildICmp(b, LLVMIntULT, in, loop_get(l, t->i64, w->limit), "");
    LLVMBasicBlockRef far = write_block(t), behind = write_block(t);
    LLVMValueRef arguments[] = { t->x,
                                 write_field(t, t->head, n * sizeof(struct code_insn)),
                                 t->calls,
                                 w->window,
                                 loop_base_of(l, insn),
                                 offset,
                                 write_i32(t, bytes) };

    if (!insn->indexed) {
        near = LLVMBuildAnd(b, near, is_aligned(t, offset, bytes), "");
    }
    write_rarely(t, LLVMBuildNot(b, near, ""), far, behind);
    write_at(t, far);
    fail_unless(l, write_kit(t, "kit_window_find", arguments, 7));
    loop_put(l, write_load(t, t->i64, write_field(t, w->window, offsetof(struct kit_window, first))), w->first);
    loop_put(l, write_load(t, t->i64, write_field(t, w->window, offsetof(struct kit_window, limit))), w->limit);
    loop_put(l, write_load(t, t->i64, write_field(t, w->window, offsetof(struct kit_window, host))), w->host);
    LLVMBuildBr(b, behind);
    write_at(t, behind);
    return LLVMBuildIntToPtr(b, LLVMBuildAdd(b, loop_get(l, t->i64, w->host), offset, ""), t->ptr, "");
}

static LLVMValueRef find_shared(const struct loop *l, const struct ppu_insn *insn, LLVMValueRef offset)
{
    struct writer *const t = l->t;
    LLVMBuilderRef b = t->builder;
    const uint32_t bytes = ppu_width_bytes(insn->width);
    LLVMValueRef at = LLVMBuildAdd(b, loop_base_of(l, insn), offset, "");
    LLVMValueRef room = LLVMBuildZExt(b, loop_get(l, t->i32, l->shared_bytes), t->i64, "");
    LLVMValueRef end = LLVMBuildAdd(b, at, write_i64(t, bytes), "");
    LLVMValueRef within =
        LLVMBuildAnd(b, LLVMBuildICmp(b, LLVMIntULT, at, room, ""), LLVMBuildICmp(b, LLVMIntULE, end, room, ""), "");

    fail_unless(l, LLVMBuildAnd(b, within, is_aligned(t, at, bytes), ""));
    return write_behind(t, loop_get(l, t->ptr, l->shared), at);
}

/* Keeps where the lane loads, or that it does not, for the count of transactions. */
static void note(const struct loop *l, uint32_t n, LLVMValueRef word)
{
    const struct writer *const t = l->t;
    LLVMValueRef row = loop_get(l, t->ptr, l->turn_row);

    write_store(t, word, write_field(t, row, (uint64_t)l->window[n].row * sizeof(uint32_t[PPU_LANES])));
}

static void load_lane(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &l->t->unit->insn[n].insn;
    struct writer *const t = l->t;
    LLVMValueRef offset = lane_offset_of(l, insn), words[KIT_MOST_WORDS], host;
    const bool global = insn->op == PPU_OP_LDG;

    if (global) {
        host = find_global(l, n, offset);
        LLVMValueRef word = low_of(l, insn, 0);
        if (insn->guard != 0) {
            fail_unless(l, LLVMBuildICmp(t->builder, LLVMIntNE, word, write_i32(t, KIT_APART_NONE), ""));
        }
        note(l, n, word);
    } else {
        host = find_shared(l, insn, offset);
    }
    for (uint32_t word = 0; word < insn->wd; word++) {
        words[word] = write_word_of(t, host, insn->width, word);
    }
    for (uint32_t word = 0; word < insn->wd; word++) {
        loop_put_lanes(l, n, insn->rd + word, 0, words[word]);
    }
}

void loop_write_lane(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = &l->t->unit->insn[n].insn;
    struct writer *const t = l->t;

    if (insn->guard == 0) {
        load_lane(l, n);
        return;
    }
    LLVMBasicBlockRef loads = write_block(t), idle = write_block(t), behind = write_block(t);
    LLVMBuildCondBr(t->builder, loop_pred(l, insn->guard & (PPU_GUARD_PRED | PPU_GUARD_NEGATE), 0), loads, idle);
    write_at(t, loads);
    load_lane(l, n);
    LLVMBuildBr(t->builder, behind);
    write_at(t, idle);
    if (insn->op == PPU_OP_LDG) {
        note(l, n, write_i32(t, KIT_APART_NONE));
    }
    for (uint32_t word = 0; word < insn->wd; word++) {
        loop_put(l, loop_clean(l, insn->rd + word, 0), l->reg[insn->rd + word][0]);
    }
    LLVMBuildBr(t->builder, behind);
    write_at(t, behind);
}
