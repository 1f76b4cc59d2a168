/* SPDX-License-Identifier: MIT */
/*
 * Allocates by linear scan. Every word of a virtual register has live ranges, and every machine register a map of the
 * code where it is taken. Copies are coalesced first: the two registers become one where their live ranges do not
 * interfere. Then registers are placed in the order in which they begin to live, each in the lowest machine registers
 * whose maps have room. When nothing is free, the cheapest of the registers in the way is spilled (spill.h), and
 * everything begins again.
 *
 * Where parts of a wave share registers inside segments (D4), what lives nowhere else is placed last: above what each
 * part keeps for itself, or in what that leaves free. Parts are many and shared registers are there once, so no private
 * register is worth saving a shared one.
 */
#include "compiler/mir/regalloc.h"

#include "compiler/mir/live_ranges.h"
#include "compiler/mir/liveness.h"
#include "compiler/mir/spill.h"
#include "compiler/mir/subvector/insert.h"
#include "ppu/macros.h"
#include "ppu/tmd.h"

#include <string.h>

#define MAX_ROUNDS 24u
#define TOO_MANY                                                                                 \
    "allocate registers: kernel '%s' needs more registers than there are; allow more (--vregs, " \
    "--sregs), take a smaller wave, or split the kernel or its functions"

struct regalloc {
    struct mir *mir;
    const struct register_limits *limits;
    struct arena *arena;
    uint32_t positions;
    struct ranges *words;   /* of every word of every register */
    struct ranges segments; /* code that parts of a wave run through one by one */
    bool shares;            /* parts share registers there */
    bool *inside;           /* of each register: it lives nowhere else */
    double *weight;         /* of each register: how often it is used */
    uint32_t *root;         /* of each register: what it was joined to, with root_word; itself when to nothing */
    uint8_t *root_word;
    uint64_t **maps[MIR_CLASSES]; /* of each machine register: positions taken */
    uint32_t *order;              /* registers as they begin to live */
    uint32_t order_count;
    uint32_t *active; /* registers that were placed, and may live with the next ones, as they begin to live */
    uint32_t active_count;
    bool *gone; /* of each register: it gets no physical register */
    bool spilled;
    bool *force;
    bool *fewer_constants;
    bool scalar_failed;
};

/* ---- ranges ---- */

struct scan {
    struct regalloc *assign;
    uint32_t begin;    /* position of the block */
    uint32_t *live_to; /* of each word: end of the range being built, 0: not live */
    uint32_t *begun;   /* words whose ranges were begun in the block */
    uint32_t begun_count;
    unsigned begun_cap;
    double cost; /* of a use here */
};

static void begin_range(struct scan *scan, uint32_t word, uint32_t to)
{
    if (scan->live_to[word] == 0) {
        scan->live_to[word] = to;
        scan->begun =
            arena_grow(scan->assign->arena, scan->begun, sizeof(uint32_t), scan->begun_count, &scan->begun_cap);
        scan->begun[scan->begun_count++] = word;
    }
}

static void end_range(struct scan *scan, uint32_t word, uint32_t from)
{
    if (scan->live_to[word] != 0) {
        ranges_add(scan->assign->arena, &scan->assign->words[word], from, scan->live_to[word]);
        scan->live_to[word] = 0;
    }
}

static void scan_operands(struct scan *scan, struct mir_operand *operands, uint32_t count, uint32_t position)
{
    struct mir *mir = scan->assign->mir;

    for (uint32_t o = 0; o < count; o++) {
        uint32_t first = mir->regs[operands[o].ref->reg].word + operands[o].ref->sub;
        scan->assign->weight[operands[o].ref->reg] += scan->cost;
        for (uint32_t w = first; operands[o].def && w < first + operands[o].words; w++) {
            begin_range(scan, w, position + 2); /* if nobody reads it, it still needs a register to be written to */
            if (!operands[o].reads) {
                end_range(scan, w, position + 1);
            }
        }
    }
    for (uint32_t o = 0; o < count; o++) {
        uint32_t first = mir->regs[operands[o].ref->reg].word + operands[o].ref->sub;
        for (uint32_t w = first; operands[o].reads && w < first + operands[o].words; w++) {
            begin_range(scan, w, position + 1);
        }
    }
}

static void scan_block(struct scan *scan, uint32_t b, const struct live_words *out)
{
    struct mir *mir = scan->assign->mir;
    struct mir_block *block = &mir->blocks[b];
    uint32_t end = scan->begin + 2 * block->count + 2;
    struct mir_operand operands[MIR_MAX_OPERANDS];

    scan->begun_count = 0;
    for (uint32_t i = 0; i < out->count; i++) {
        begin_range(scan, out->list[i], end);
    }
    scan->cost = 1;
    for (uint32_t d = flow_depth(mir->flow, b); d != 0 && scan->cost < 1e9; d--) {
        scan->cost *= 8;
    }
    if (block->end == MIR_BRANCH) {
        struct mir_operand cond = { &block->cond, 1, true, false, true };
        scan_operands(scan, &cond, 1, end - 2);
    }
    for (uint32_t i = block->count; i-- != 0;) {
        uint32_t count = mir_operands(&block->insns[i], operands);
        scan_operands(scan, operands, count, scan->begin + 2 * i);
    }
    for (uint32_t i = 0; i < scan->begun_count; i++) {
        end_range(scan, scan->begun[i], scan->begin);
    }
}

/* Where segments are: between the instructions that begin and end them. */
static void find_segments(struct regalloc *a)
{
    struct mir *mir = a->mir;
    struct ranges forward = { .list = NULL }; /* first first */
    uint32_t begin = 0, from = 0;

    for (uint32_t b = 0; b < mir->flow->count; b++) {
        for (uint32_t i = 0; i < mir->blocks[b].count; i++) {
            const struct mir_insn *insn = &mir->blocks[b].insns[i];
            uint32_t at = begin + 2 * i + 1;
            if (subvector_begins(insn)) {
                from = at;
            } else if (subvector_ends(insn)) {
                forward.list = arena_grow(a->arena, forward.list, sizeof(forward.list[0]), forward.count, &forward.cap);
                forward.list[forward.count++] = (struct range){ from, at };
            }
        }
        begin += 2 * mir->blocks[b].count + 2;
    }
    for (uint32_t s = forward.count; s-- != 0;) {
        ranges_add(a->arena, &a->segments, forward.list[s].from, forward.list[s].to);
    }
}

/*
 * Scalar registers and predicates are the same for all parts: what is there when a segment begins is there for each
 * part, and no part writes over predicates that another leaves behind.
 */
static void keep_for_parts(struct regalloc *a)
{
    for (uint32_t r = 1; r < a->mir->reg_count && a->segments.count != 0; r++) {
        const struct mir_reg *reg = &a->mir->regs[r];
        for (uint32_t w = reg->word; reg->class != MIR_VECTOR && w < reg->word + reg->words; w++) {
            for (uint32_t s = 0; s < a->segments.count; s++) {
                const struct range *segment = &a->segments.list[s];
                if (ranges_hold(&a->words[w], segment->from) ||
                    (reg->class == MIR_PRED && ranges_hold(&a->words[w], segment->to))) {
                    ranges_cover(a->arena, &a->words[w], segment->from, segment->to);
                }
            }
        }
    }
}

/* Registers that parts may share. */
static void find_inside(struct regalloc *a)
{
    a->inside = arena_new(a->arena, bool, a->mir->reg_count);
    for (uint32_t r = 1; r < a->mir->reg_count; r++) {
        const struct mir_reg *reg = &a->mir->regs[r];
        a->inside[r] = a->shares && reg->class == MIR_VECTOR;
        for (uint32_t w = reg->word; w < reg->word + reg->words; w++) {
            a->inside[r] &= ranges_within(&a->words[w], &a->segments);
        }
    }
}

static void find_ranges(struct regalloc *a)
{
    struct mir *mir = a->mir;
    struct liveness live = liveness_find(mir);
    struct scan scan = { .assign = a, .live_to = arena_new(a->arena, uint32_t, mir->words + 1) };
    uint32_t end = 0;

    a->words = arena_new(a->arena, struct ranges, mir->words + 1);
    a->weight = arena_new(a->arena, double, mir->reg_count);
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        end += 2 * mir->blocks[b].count + 2;
    }
    a->positions = end;
    for (uint32_t b = mir->flow->count; b-- != 0;) {
        end -= 2 * mir->blocks[b].count + 2;
        scan.begin = end;
        scan_block(&scan, b, &live.out[b]);
    }
    find_segments(a);
    keep_for_parts(a);
    find_inside(a);
}

/* ---- coalescing of copies ---- */

static void resolve(const struct regalloc *a, struct mir_ref *ref)
{
    while (a->root[ref->reg] != ref->reg) {
        ref->sub = (uint8_t)(ref->sub + a->root_word[ref->reg]);
        ref->reg = a->root[ref->reg];
    }
}

/* Puts all of `small` at words [at, ...) of `large`; false: their lives overlap. */
static bool coalesce_tuples(struct regalloc *a, uint32_t small, uint32_t large, uint32_t at)
{
    struct mir_reg *s = &a->mir->regs[small], *l = &a->mir->regs[large];

    if (at % s->words != 0 || at + s->words > l->words) {
        return false;
    }
    for (uint32_t w = 0; w < s->words; w++) {
        if (ranges_overlap(&a->words[s->word + w], &a->words[l->word + at + w])) {
            return false;
        }
    }
    for (uint32_t w = 0; w < s->words; w++) {
        ranges_merge(a->arena, &a->words[l->word + at + w], &a->words[s->word + w]);
    }
    a->root[small] = large;
    a->root_word[small] = (uint8_t)at;
    a->weight[large] += a->weight[small];
    l->brief |= s->brief;
    if (l->value == 0) {
        l->value = s->value;
    }
    return true;
}

static void join_copy(struct regalloc *a, const struct mir_insn *insn, uint32_t words)
{
    struct mir_ref to = insn->d, from = insn->code.op == PPU_OP_POR ? insn->a : insn->b;
    const struct mir_reg *regs = a->mir->regs;

    resolve(a, &to);
    resolve(a, &from);
    if (to.reg == from.reg || regs[to.reg].class != regs[from.reg].class || regs[to.reg].brief ||
        regs[from.reg].brief || a->inside[to.reg] != a->inside[from.reg]) {
        return;
    }
    if (to.sub == 0 && regs[to.reg].words == words && coalesce_tuples(a, to.reg, from.reg, from.sub)) {
        return;
    }
    if (from.sub == 0 && regs[from.reg].words == words) {
        coalesce_tuples(a, from.reg, to.reg, to.sub);
    }
}

static void join_copies(struct regalloc *a)
{
    struct mir *mir = a->mir;
    uint32_t deepest = 0;

    for (uint32_t b = 0; b < mir->flow->count; b++) {
        deepest = flow_depth(mir->flow, b) > deepest ? flow_depth(mir->flow, b) : deepest;
    }
    for (uint32_t depth = deepest + 1; depth-- != 0;) {
        for (uint32_t b = 0; b < mir->flow->count; b++) {
            for (uint32_t i = 0; flow_depth(mir->flow, b) == depth && i < mir->blocks[b].count; i++) {
                uint32_t words;
                if (mir_is_copy(&mir->blocks[b].insns[i], &words) && words != 0) {
                    join_copy(a, &mir->blocks[b].insns[i], words);
                }
            }
        }
    }
}

/* ---- placing ---- */

static bool taken(const uint64_t *map, const struct ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        uint32_t from = ranges->list[i].from, to = ranges->list[i].to;
        for (uint32_t word = from / 64; word <= (to - 1) / 64; word++) {
            uint64_t mask = ~0ull;
            if (word == from / 64) {
                mask &= ~0ull << from % 64;
            }
            if (word == (to - 1) / 64) {
                mask &= ~0ull >> (63 - (to - 1) % 64);
            }
            if (map[word] & mask) {
                return true;
            }
        }
    }
    return false;
}

static void mark(uint64_t *map, const struct ranges *ranges, bool take)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        for (uint32_t at = ranges->list[i].from; at < ranges->list[i].to; at++) {
            if (take) {
                map[at / 64] |= 1ull << at % 64;
            } else {
                map[at / 64] &= ~(1ull << at % 64);
            }
        }
    }
}

static bool register_fits(const struct regalloc *a, uint32_t reg, uint32_t phys)
{
    const struct mir_reg *r = &a->mir->regs[reg];

    for (uint32_t w = 0; w < r->words; w++) {
        if (taken(a->maps[r->class][phys + w], &a->words[r->word + w])) {
            return false;
        }
    }
    return true;
}

static void put_register(struct regalloc *a, uint32_t reg, uint32_t phys, bool take)
{
    struct mir_reg *r = &a->mir->regs[reg];

    for (uint32_t w = 0; w < r->words; w++) {
        mark(a->maps[r->class][phys + w], &a->words[r->word + w], take);
    }
    r->phys = (uint16_t)(take ? phys : MIR_NO_PHYS);
}

static bool try_assign(struct regalloc *a, uint32_t reg)
{
    const struct mir_reg *r = &a->mir->regs[reg];

    for (uint32_t phys = 0; phys + r->words <= a->limits->registers[r->class]; phys += r->words) {
        if (register_fits(a, reg, phys)) {
            put_register(a, reg, phys, true);
            return true;
        }
    }
    return false;
}

static bool lives_with(const struct regalloc *a, uint32_t x, uint32_t y)
{
    const struct mir_reg *rx = &a->mir->regs[x], *ry = &a->mir->regs[y];

    for (uint32_t i = 0; i < rx->words; i++) {
        for (uint32_t j = 0; j < ry->words; j++) {
            if (ranges_overlap(&a->words[rx->word + i], &a->words[ry->word + j])) {
                return true;
            }
        }
    }
    return false;
}

static uint32_t length(const struct regalloc *a, uint32_t reg)
{
    uint32_t sum = 1;

    for (uint32_t w = 0; w < a->mir->regs[reg].words; w++) {
        const struct ranges *ranges = &a->words[a->mir->regs[reg].word + w];
        for (uint32_t i = 0; i < ranges->count; i++) {
            sum += ranges->list[i].to - ranges->list[i].from;
        }
    }
    return sum;
}

/* Cost of having it elsewhere, for the room that this gives. */
static double price(const struct regalloc *a, uint32_t reg)
{
    const struct mir_reg *r = &a->mir->regs[reg];

    return r->brief || (r->class == MIR_SCALAR && r->value == 0) ? 1e30 : a->weight[reg] / length(a, reg);
}

static void evict(struct regalloc *a, uint32_t reg)
{
    const struct mir_reg *r = &a->mir->regs[reg];

    if (r->brief) { /* nothing else is in its way */
        compilation_fail(a->mir->compilation, PPU_COMPILE_TOO_LARGE, TOO_MANY, a->mir->name);
    }
    a->gone[reg] = true;
    a->spilled = true;
    if (r->class == MIR_SCALAR) {
        a->scalar_failed = true;
        if (r->value != 0) {
            a->force[r->value - 1] = true;
        } else {
            *a->fewer_constants = true;
        }
    }
}

/* The cheapest of the register and those placed that live with it, of at least so many words. */
static uint32_t cheapest(const struct regalloc *a, uint32_t reg, uint32_t words)
{
    const struct mir_reg *r = &a->mir->regs[reg];
    uint32_t victim = reg;

    for (uint32_t i = 0; i < a->active_count; i++) {
        uint32_t other = a->active[i];
        if (a->mir->regs[other].class == r->class && a->mir->regs[other].phys != MIR_NO_PHYS &&
            a->mir->regs[other].words >= words && price(a, other) < price(a, victim) && lives_with(a, other, reg)) {
            victim = other;
        }
    }
    return victim;
}

/*
 * Something cheap goes; the register then fits, or is itself gone. Small ones go for a large one only when nothing else
 * can: several may be needed.
 */
static void make_room(struct regalloc *a, uint32_t reg)
{
    const struct mir_reg *r = &a->mir->regs[reg];

    for (;;) {
        uint32_t victim = cheapest(a, reg, r->words > 1 ? r->words / 2 : 1);
        if (victim == reg && r->brief) {
            victim = cheapest(a, reg, 1);
        }
        evict(a, victim);
        if (victim == reg) {
            return;
        }
        put_register(a, victim, a->mir->regs[victim].phys, false);
        if (try_assign(a, reg)) {
            return;
        }
    }
}

/* Where the register is not live any more. */
static uint32_t death(const struct regalloc *a, uint32_t reg)
{
    uint32_t last = 0;

    for (uint32_t w = 0; w < a->mir->regs[reg].words; w++) {
        const struct ranges *ranges = &a->words[a->mir->regs[reg].word + w];
        last = ranges->count != 0 ? PPU_MAX(ranges->list[0].to, last) : last;
    }
    return last;
}

static uint32_t birth(const struct regalloc *a, uint32_t reg)
{
    uint32_t first = UINT32_MAX;

    for (uint32_t w = 0; w < a->mir->regs[reg].words; w++) {
        const struct ranges *ranges = &a->words[a->mir->regs[reg].word + w];
        if (ranges->count != 0 && ranges->list[ranges->count - 1].from < first) {
            first = ranges->list[ranges->count - 1].from;
        }
    }
    return first;
}

/* Drops those that neither what begins to live now nor what comes later lives with. */
static void drop_dead(struct regalloc *a, uint32_t now)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < a->active_count; i++) {
        if (death(a, a->active[i]) > now) {
            a->active[kept++] = a->active[i];
        }
    }
    a->active_count = kept;
}

/* Registers in the order in which they begin to live; those that parts share behind the others. */
static void sort_registers(struct regalloc *a)
{
    uint32_t *births = arena_new(a->arena, uint32_t, a->mir->reg_count);
    uint32_t *starts = arena_new(a->arena, uint32_t, 2 * (size_t)a->positions + 2);

    for (uint32_t r = 1; r < a->mir->reg_count; r++) {
        births[r] = a->root[r] == r ? birth(a, r) : UINT32_MAX;
        if (births[r] != UINT32_MAX) {
            births[r] += a->inside[r] ? a->positions : 0;
            starts[births[r] + 1]++;
            a->order_count++;
        }
    }
    for (uint32_t p = 0; p <= 2 * a->positions; p++) {
        starts[p + 1] += starts[p];
    }
    a->order = arena_new(a->arena, uint32_t, a->order_count + 1);
    for (uint32_t r = 1; r < a->mir->reg_count; r++) {
        if (births[r] != UINT32_MAX) {
            a->order[starts[births[r]]++] = r;
        }
    }
}

/* What lives across a call stays out of the callee's registers. */
static void mark_clobbered(struct regalloc *a)
{
    uint32_t begin = 0;

    for (uint32_t b = 0; b < a->mir->flow->count; b++) {
        const struct mir_block *block = &a->mir->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t at = begin + 2 * i + 1;
            for (uint32_t c = 0; block->insns[i].callee != 0 && c < MIR_CLASSES; c++) {
                uint32_t limit = a->limits->registers[c];
                for (uint32_t r = 0; r < block->insns[i].clobbers[c] && r < limit; r++) {
                    a->maps[c][r][at / 64] |= 1ull << at % 64;
                }
            }
        }
        begin += 2 * block->count + 2;
    }
}

static void assign_all(struct regalloc *a)
{
    for (uint32_t c = 0; c < MIR_CLASSES; c++) {
        uint32_t count = a->limits->registers[c];
        a->maps[c] = arena_new(a->arena, uint64_t *, count + MIR_MAX_WORDS);
        for (uint32_t i = 0; i < count; i++) {
            a->maps[c][i] = arena_new(a->arena, uint64_t, a->positions / 64 + 1);
        }
    }
    mark_clobbered(a);
    a->active = arena_new(a->arena, uint32_t, a->order_count + 1);
    for (uint32_t i = 0; i < a->order_count; i++) {
        uint32_t reg = a->order[i];
        if (i != 0 && a->inside[reg] && !a->inside[a->order[i - 1]]) { /* positions begin anew */
            memcpy(a->active, a->order, i * sizeof(a->active[0]));
            a->active_count = i;
        }
        if (!try_assign(a, reg)) {
            drop_dead(a, birth(a, reg));
            make_room(a, reg);
        }
        a->active[a->active_count++] = reg;
    }
}

/* ---- what parts share ---- */

static uint32_t align_private(uint32_t registers)
{
    return (registers + PPU_SHARED_VREGS_ALIGN - 1) / PPU_SHARED_VREGS_ALIGN * PPU_SHARED_VREGS_ALIGN;
}

/* Vector registers that each part needs for itself, with those of functions. */
static uint32_t count_private(const struct regalloc *a)
{
    uint32_t count = 1;

    for (uint32_t i = 0; i < a->order_count; i++) {
        const struct mir_reg *reg = &a->mir->regs[a->order[i]];
        uint32_t end = reg->phys + (uint32_t)reg->words;
        if (reg->class == MIR_VECTOR && !a->inside[a->order[i]] && end > count) {
            count = end;
        }
    }
    for (uint32_t b = 0; b < a->mir->flow->count; b++) {
        for (uint32_t i = 0; i < a->mir->blocks[b].count; i++) {
            const struct mir_insn *insn = &a->mir->blocks[b].insns[i];
            if (insn->callee != 0 && insn->clobbers[MIR_VECTOR] > count) {
                count = insn->clobbers[MIR_VECTOR];
            }
        }
    }
    return align_private(count);
}

/* Shared registers in use in [segment->from, segment->to). */
static uint32_t count_shared(const struct regalloc *a, const struct range *segment, uint32_t private)
{
    const struct ranges within = { (struct range *)(uintptr_t)segment, 1, 1 };
    uint32_t count = 0;

    for (uint32_t i = 0; i < a->order_count; i++) {
        const struct mir_reg *reg = &a->mir->regs[a->order[i]];
        uint32_t end = reg->phys + (uint32_t)reg->words;
        for (uint32_t w = reg->word; a->inside[a->order[i]] && w < reg->word + reg->words; w++) {
            if (end > private + count && ranges_overlap(&a->words[w], &within)) {
                count = end - private;
            }
        }
    }
    return count;
}

/* Tells each segment's begin how many registers are shared in it. */
static void share_registers(struct regalloc *a)
{
    uint32_t private = count_private(a), next = a->segments.count;

    for (uint32_t b = 0; b < a->mir->flow->count && a->shares; b++) {
        for (uint32_t i = 0; i < a->mir->blocks[b].count; i++) {
            struct mir_insn *insn = &a->mir->blocks[b].insns[i];
            if (subvector_begins(insn)) {
                uint32_t shared = count_shared(a, &a->segments.list[--next], private);
                insn->code.imm = (insn->code.imm & (int32_t)PPU_SUBVECTOR_MAY) | (int32_t)shared;
                a->mir->shared = PPU_MAX(shared, a->mir->shared);
            }
        }
    }
    if (a->mir->shared != 0) {
        a->mir->used[MIR_VECTOR] = private + a->mir->shared;
    }
}

/* ---- the whole ---- */

/* Names in the instructions what registers were joined to. */
static void apply_joins(struct regalloc *a)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];

    for (uint32_t b = 0; b < a->mir->flow->count; b++) {
        struct mir_block *block = &a->mir->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t count = mir_operands(&block->insns[i], operands);
            for (uint32_t o = 0; o < count; o++) {
                resolve(a, operands[o].ref);
            }
        }
        if (block->end == MIR_BRANCH) {
            resolve(a, &block->cond);
        }
    }
}

static void drop_idle(struct mir *mir)
{
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        struct mir_block *block = &mir->blocks[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            if (!mir_is_idle(&block->insns[i])) {
                block->insns[kept++] = block->insns[i];
            }
        }
        block->count = kept;
    }
}

static void count_used(struct mir *mir)
{
    memset(mir->used, 0, sizeof(mir->used));
    for (uint32_t r = 1; r < mir->reg_count; r++) {
        const struct mir_reg *reg = &mir->regs[r];
        if (reg->phys != MIR_NO_PHYS && reg->phys + reg->words > mir->used[reg->class]) {
            mir->used[reg->class] = reg->phys + (uint32_t)reg->words;
        }
    }
}

static struct regalloc *round_new(struct mir *mir, const struct register_limits *limits, bool *force, bool *fewer)
{
    struct regalloc *a = arena_new(&mir->compilation->arena, struct regalloc, 1);

    a->mir = mir;
    a->limits = limits;
    a->arena = &mir->compilation->arena;
    a->force = force;
    a->fewer_constants = fewer;
    a->shares = mir->segments && subvector_shares(mir->compilation->options->subvector.form);
    a->gone = arena_new(a->arena, bool, mir->reg_count);
    a->root = arena_new(a->arena, uint32_t, mir->reg_count);
    a->root_word = arena_new(a->arena, uint8_t, mir->reg_count);
    for (uint32_t r = 0; r < mir->reg_count; r++) {
        a->root[r] = r;
        mir->regs[r].phys = MIR_NO_PHYS;
    }
    return a;
}

bool regalloc(struct mir *mir, const struct register_limits *limits, bool *force, bool *fewer_constants)
{
    for (uint32_t round = 0; round < MAX_ROUNDS; round++) {
        struct regalloc *a = round_new(mir, limits, force, fewer_constants);
        find_ranges(a);
        join_copies(a);
        apply_joins(a);
        sort_registers(a);
        assign_all(a);
        if (a->scalar_failed) {
            return false;
        }
        if (!a->spilled) {
            count_used(mir);
            share_registers(a);
            drop_idle(mir);
            mir->allocated = true;
            return true;
        }
        spill_registers(mir, a->words, a->gone);
    }
    compilation_fail(mir->compilation, PPU_COMPILE_TOO_LARGE, TOO_MANY, mir->name);
}
