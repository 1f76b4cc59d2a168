/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores whose lanes all reach VRAM or shared memory through translations that are cached. Part of
 * engine_build.h. The warp is looked at as a whole first, then each pass: lanes that follow one another in memory,
 * lanes that share an address, lanes of one page, then each lane for itself. Nothing has been done for a pass that is
 * left to engine_mem.c.
 */
#ifndef PPU_CORE_ENGINE_BUILD_MEM_H
#define PPU_CORE_ENGINE_BUILD_MEM_H

#include "engine_build_address.h"
#include "engine_build_reach.h"
#include "engine_build_transaction.h"
#include "engine_build_value.h"

/* ---- an operation of all passes ---- */

/* Passes from this one on are for engine_mem.c. */
BUILD_INLINE enum step leave_rest(struct exec *x, const struct code_insn *code, const struct lanes *mask, uint32_t pass)
{
    struct lanes rest = *mask;

    for (uint32_t done = 0; done < pass; done++) {
        rest.m[done] = 0;
    }
    return code->insn.format == PPU_FMT_ATOM ? engine_atomic(x, &code->insn, &rest) : engine_mem(x, &code->insn, &rest);
}

/* `meet`: what is done about sums before lanes are looked at one by one. */
#define MEMORY_OP(name, all, few, meet, which, space, width)                                      \
    static enum step name(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                             \
        uint32_t pass = 0;                                                                        \
        if (whole(x, mask)) {                                                                     \
            if (all(x, code, space, width)) {                                                     \
                return STEP_NEXT;                                                                 \
            }                                                                                     \
            meet(x->sm);                                                                          \
        } else {                                                                                  \
            meet(x->sm);                                                                          \
            pass = few(x, code, mask, space, width);                                              \
        }                                                                                         \
        for (; pass < x->passes; pass++) {                                                        \
            if (mask->m[pass] != 0 && !which(x, code, space, width, pass, mask->m[pass])) {       \
                return leave_rest(x, code, mask, pass);                                           \
            }                                                                                     \
        }                                                                                         \
        return STEP_NEXT;                                                                         \
    }
#define meet_later(sm) (void)(sm)
#define never_whole(x, code, space, width) false
#define never_few(x, code, mask, space, width) 0

/* ---- a warp whose lanes are all active; false: nothing is done ---- */

BUILD_INLINE bool load_whole(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width)
{
    const struct addresses a = addresses_of(x, code, 0, code->insn.rb);
    const uint32_t bytes = ppu_width_bytes(width);
    const enum pattern pattern = a.low == NULL ? LANES_ALIKE : pattern_whole(x, code, &a, code->insn.rb, bytes);
    const uint64_t at = address_first(code, &a, bytes);
    const uint32_t step = row_step(x, code->insn.rd);
    uint32_t *to = row(x, code->insn.rd, 0);
    const uint8_t *host;

    if (pattern == LANES_APART || at % alignment(width) != 0) {
        return false;
    }
    host = reach(x, space, at, pattern == LANES_ALIKE ? bytes : bytes * x->wave, PPU_ACCESS_READ);
    if (host == NULL) {
        return false;
    }
    sums_meet(x->sm, host, pattern == LANES_ALIKE ? bytes : (size_t)bytes * x->wave);
    if (pattern == LANES_IN_ROW) {
        count_row_whole(x, space, at, bytes);
    } else if (space == MEM_GLOBAL) {
        count_transactions(x, x->passes);
    }
    if (pattern == LANES_IN_ROW && space == MEM_GLOBAL && !x->looped) {
        fetch_behind(x, host, bytes);
    }
    for (uint32_t pass = 0; pass < x->passes; pass++, to += PPU_LANES) {
        if (pattern == LANES_ALIKE) {
            load_alike(to, step, host, ALL_LANES, width);
        } else {
            load_row(to, step, host, width);
            host += bytes * PPU_LANES;
        }
    }
    return true;
}

BUILD_INLINE bool store_whole(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width)
{
    const struct addresses a = addresses_of(x, code, 0, code->insn.rb);
    const uint32_t bytes = ppu_width_bytes(width), *from = row(x, code->insn.rd, 0);
    const uint32_t step = row_step(x, code->insn.rd);
    const uint64_t at = address_first(code, &a, bytes);
    uint8_t *host;

    if (a.low == NULL || pattern_whole(x, code, &a, code->insn.rb, bytes) != LANES_IN_ROW ||
        at % alignment(width) != 0) {
        return false;
    }
    host = reach(x, space, at, bytes * x->wave, PPU_ACCESS_WRITE);
    if (host == NULL) {
        return false;
    }
    sums_meet(x->sm, host, (size_t)bytes * x->wave);
    count_row_whole(x, space, at, bytes);
    for (uint32_t pass = 0; pass < x->passes; pass++, from += PPU_LANES, host += bytes * PPU_LANES) {
        store_row(host, from, step, width);
    }
    return true;
}

/* ---- a warp with few active lanes: each for itself ---- */

/* Lanes of a warp that are so few that looking at them together does not pay. */
BUILD_INLINE bool are_few(const struct exec *x, const struct lanes *mask)
{
    return count_of(mask) < NEAR_LANES * x->passes;
}

/* A page as lanes look for it: offsets in units of the alignment, so that one comparison finds a lane not aligned, too.
 */
struct near {
    uint64_t first, units;
    const uint8_t *host;
};

BUILD_INLINE struct near near_of(const struct page *page, uint32_t bytes, uint32_t align)
{
    return (struct near){ page->first, page->bytes < bytes ? 0 : (page->bytes - bytes) / align + 1, page->host };
}

BUILD_INLINE uint64_t units_of(uint64_t offset, uint32_t align)
{
    const uint32_t log2 = (uint32_t)__builtin_ctz(align);

    return log2 == 0 ? offset : offset >> log2 | offset << (64 - log2);
}

/* Addresses of the warp's lanes. */
struct few {
    uint64_t base;
    const uint32_t *low, *high; /* high NULL: none */
    bool indexed;
};

BUILD_INLINE uint64_t few_at(const struct few *f, uint32_t lane, uint32_t bytes)
{
    return f->base + ppu_isa_lane_offset(f->indexed, bytes, f->low[lane]) +
           (f->high != NULL ? (uint64_t)f->high[lane] << 32 : 0);
}

/* As count_any() of the first passes. The first two lanes of a pass mostly tell. */
BUILD_INLINE void count_few(struct exec *x, const struct code_insn *code, const struct few *f, const struct lanes *mask,
                            uint32_t passes, uint32_t bytes)
{
    for (uint32_t pass = 0; pass < passes; pass++) {
        const uint32_t set = mask->m[pass], rest = set & (set - 1);
        const uint32_t first = (uint32_t)__builtin_ctz(set | 1u << 31),
                       second = (uint32_t)__builtin_ctz(rest | 1u << 31);
        uint64_t apart;

        if (set == 0) {
            continue;
        }
        apart = few_at(f, pass * PPU_LANES + second, bytes) - few_at(f, pass * PPU_LANES + first, bytes);
        if (__builtin_expect(rest != 0 && (apart == 0 || apart == (uint64_t)(second - first) * bytes), 0)) {
            count_again(x, code, pass, set, bytes);
        } else {
            count_transactions(x, (uint32_t)__builtin_popcount(set));
        }
    }
}

/* Loads lane n to to[n]. Passes that are done: all, or those before the one with the first lane that is not here. */
BUILD_INLINE uint32_t load_few_lanes(struct exec *x, const struct lanes *mask, enum ppu_width width,
                                     const struct few *f, uint32_t *to)
{
    const uint32_t bytes = ppu_width_bytes(width), align = alignment(width);
    struct near near = near_of(page_kept(x, PPU_ACCESS_READ), bytes, align);

    for (uint32_t first = 0; first < x->wave; first += 64) {
        uint64_t left;

        for (memcpy(&left, &mask->m[first / PPU_LANES], sizeof(left)); left != 0; left &= left - 1) {
            const uint32_t lane = first + (uint32_t)__builtin_ctzll(left);
            const uint64_t at = few_at(f, lane, bytes);
            uint64_t offset = at - near.first;
            if (__builtin_expect(units_of(offset, align) >= near.units, 0)) {
                struct page *const page = page_kept(x, PPU_ACCESS_READ);
                if (at % align != 0 || reach_other(x, at, bytes, PPU_ACCESS_READ, page) == NULL) {
                    return lane / PPU_LANES;
                }
                near = near_of(page, bytes, align);
                offset = at - near.first;
            }
            to[lane] = load_value(near.host + offset, width);
        }
    }
    return x->passes;
}

/* The register that is loaded holds the addresses: those of a pass that is not done are needed again. */
static __attribute__((noinline)) void few_keep(uint32_t *to, const uint32_t *from, const struct lanes *mask,
                                               uint32_t passes)
{
    for (uint32_t pass = 0; pass < passes; pass++) {
        BITS_EACH(mask->m[pass], i)
        {
            to[pass * PPU_LANES + i] = from[pass * PPU_LANES + i];
        }
    }
}

BUILD_INLINE uint32_t load_few_form(struct exec *x, const struct code_insn *code, const struct lanes *mask,
                                    enum ppu_width width, struct few f)
{
    uint32_t value[PPU_MAX_WAVE], *const to = row(x, code->insn.rd, 0);
    const bool apart = to != f.low && to != f.high;
    const uint32_t done = load_few_lanes(x, mask, width, &f, apart ? to : value);

    count_few(x, code, &f, mask, done, ppu_width_bytes(width));
    if (!apart) {
        few_keep(to, value, mask, done);
    }
    return done;
}

BUILD_INLINE uint32_t load_few(struct exec *x, const struct code_insn *code, const struct lanes *mask,
                               enum mem_space space, enum ppu_width width)
{
    const struct addresses a = addresses_of(x, code, 0, code->insn.rb);

    (void)space;
    if (ppu_width_words(width) != 1 || a.low == NULL || !are_few(x, mask)) {
        return 0;
    }
    if (a.high != NULL) {
        return load_few_form(x, code, mask, width, (struct few){ a.base, a.low, a.high, false });
    }
    return code->insn.indexed ? load_few_form(x, code, mask, width, (struct few){ a.base, a.low, NULL, true })
                              : load_few_form(x, code, mask, width, (struct few){ a.base, a.low, NULL, false });
}

/* ---- a pass; false: nothing is done ---- */

/* Some lanes in a row, the first of the set at `at`; the words between are in its page, too. */
BUILD_INLINE bool load_row_some(struct exec *x, enum mem_space space, uint64_t at, uint32_t set, uint32_t *to,
                                enum ppu_width width)
{
    const uint64_t begin = at - 4ull * (uint32_t)__builtin_ctz(set);
    const uint8_t *host =
        width == PPU_WIDTH_B32 && begin <= at ? reach(x, space, begin, 4 * PPU_LANES, PPU_ACCESS_READ) : NULL;

    if (host != NULL) {
        row_load_some(to, host, set);
    }
    return host != NULL;
}

/* Few lanes: each for itself. */
BUILD_INLINE bool load_pass_few(struct exec *x, const struct addresses *a, enum mem_space space, enum ppu_width width,
                                uint32_t set, uint32_t *to, uint32_t step)
{
    uint8_t *host[PPU_LANES];

    if (!reach_each(x, space, a, set, ppu_width_bytes(width), alignment(width), PPU_ACCESS_READ, host)) {
        return false;
    }
    count_any(x, space, a, set, ppu_width_bytes(width));
    BITS_EACH(set, i)
    {
        load_lane(to + i, step, host[i], width);
    }
    return true;
}

BUILD_INLINE bool load_pass(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width,
                            uint32_t pass, uint32_t set)
{
    struct offsets offsets;
    const struct addresses a = addresses_made(x, code, pass, code->insn.rb, ppu_width_bytes(width), &offsets);
    const uint32_t bytes = ppu_width_bytes(width), first = (uint32_t)__builtin_ctz(set);
    const uint32_t step = row_step(x, code->insn.rd);
    uint32_t *const to = row(x, code->insn.rd, pass);
    const uint64_t at = address_at(&a, first);
    enum pattern pattern;
    uint8_t *host[PPU_LANES];
    uintptr_t near;

    if ((uint32_t)__builtin_popcount(set) < NEAR_LANES && a.low != NULL) {
        return load_pass_few(x, &a, space, width, set, to, step);
    }
    pattern = pattern_likely(&a, set, bytes);
    if (at % alignment(width) != 0) {
        return false;
    }
    if (pattern == LANES_IN_ROW && set == ALL_LANES &&
        (host[0] = reach(x, space, at, PPU_LANES * bytes, PPU_ACCESS_READ)) != NULL) {
        load_row(to, step, host[0], width);
        count_row(x, space, at, PPU_LANES * bytes);
        return true;
    }
    if (pattern == LANES_IN_ROW && set != ALL_LANES && load_row_some(x, space, at, set, to, width)) {
        count_lanes(x, space, at, set, bytes, pattern);
        return true;
    }
    if (pattern == LANES_ALIKE) {
        if ((host[0] = reach(x, space, at, bytes, PPU_ACCESS_READ)) == NULL) {
            return false;
        }
        load_alike(to, step, host[0], set, width);
        count_lanes(x, space, at, set, bytes, pattern);
        return true;
    }
    if ((near = reach_near_all(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_READ)) != 0) {
        count_lanes(x, space, at, set, bytes, pattern);
        BITS_EACH(set, i)
        {
            load_lane(to + i, step, (const uint8_t *)(near + a.low[i]), width);
        }
        return true;
    }
    if (!reach_each(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_READ, host)) {
        return false;
    }
    count_lanes(x, space, at, set, bytes, pattern);
    BITS_EACH(set, i)
    {
        load_lane(to + i, step, host[i], width);
    }
    return true;
}

BUILD_INLINE bool store_pass(struct exec *x, const struct code_insn *code, enum mem_space space, enum ppu_width width,
                             uint32_t pass, uint32_t set)
{
    struct offsets offsets;
    const struct addresses a = addresses_made(x, code, pass, code->insn.rb, ppu_width_bytes(width), &offsets);
    const uint32_t bytes = ppu_width_bytes(width);
    const uint32_t step = row_step(x, code->insn.rd);
    const uint32_t *const from = row(x, code->insn.rd, pass);
    uint8_t *host[PPU_LANES];
    uintptr_t near;

    if (a.low == NULL) {
        set = 1u << (31u - (uint32_t)__builtin_clz(set)); /* the last lane's value stays */
    } else if (set == ALL_LANES && a.low[1] - a.low[0] == bytes && pattern_of(&a, set, bytes) == LANES_IN_ROW &&
               address_at(&a, 0) % alignment(width) == 0 &&
               (host[0] = reach(x, space, address_at(&a, 0), PPU_LANES * bytes, PPU_ACCESS_WRITE)) != NULL) {
        store_row(host[0], from, step, width);
        count_row(x, space, address_at(&a, 0), PPU_LANES * bytes);
        return true;
    } else if ((uint32_t)__builtin_popcount(set) >= NEAR_LANES &&
               (near = reach_near_all(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_WRITE)) != 0) {
        count_any(x, space, &a, set, bytes);
        BITS_EACH(set, i)
        {
            store_lane((uint8_t *)(near + a.low[i]), from + i, step, width);
        }
        return true;
    }
    if (!reach_each(x, space, &a, set, bytes, alignment(width), PPU_ACCESS_WRITE, host)) {
        return false;
    }
    count_any(x, space, &a, set, bytes);
    BITS_EACH(set, i)
    {
        store_lane(host[i], from + i, step, width);
    }
    return true;
}

#define PPU_WIDTH(name, text, number, bytes, words)                                                           \
    MEMORY_OP(op_ldg_##name, load_whole, load_few, sums_meet_any, load_pass, MEM_GLOBAL, PPU_WIDTH_##name)    \
    MEMORY_OP(op_stg_##name, store_whole, never_few, sums_meet_any, store_pass, MEM_GLOBAL, PPU_WIDTH_##name) \
    MEMORY_OP(op_lds_##name, load_whole, never_few, sums_meet_any, load_pass, MEM_SHARED, PPU_WIDTH_##name)   \
    MEMORY_OP(op_sts_##name, store_whole, never_few, sums_meet_any, store_pass, MEM_SHARED, PPU_WIDTH_##name)
#include "ppu/isa.def"

/* ---- gathers: words that have an offset register each ---- */

/* Offsets may lie in the registers that the words go to: all are read before any is written. */
BUILD_INLINE bool gather_pass(struct exec *x, const struct code_insn *code, uint32_t pass, uint32_t set)
{
    const struct ppu_insn *insn = &code->insn;
    const uint32_t words = insn->width + 1u;
    uint32_t value[SM_MAX_WORDS][PPU_LANES];
    struct addresses a[SM_MAX_WORDS];
    uintptr_t near[SM_MAX_WORDS];

    for (uint32_t word = 0; word < words; word++) {
        a[word] = addresses_of(x, code, pass, 0);
        a[word].low = row(x, insn->rb + word, pass);
        near[word] = reach_near_all(x, MEM_GLOBAL, &a[word], set, 4, 4, PPU_ACCESS_READ);
        if (near[word] == 0) {
            return false;
        }
    }
    for (uint32_t word = 0; word < words; word++) {
        count_any(x, MEM_GLOBAL, &a[word], set, 4);
        BITS_EACH(set, i)
        {
            value[word][i] = vram_read32((const uint8_t *)(near[word] + a[word].low[i]));
        }
    }
    for (uint32_t word = 0; word < words; word++) {
        keep(row(x, insn->rd + word, pass), value[word], set);
    }
    return true;
}
#define gather_of(x, code, space, width, pass, set) gather_pass(x, code, pass, set)
MEMORY_OP(op_gather, never_whole, never_few, sums_meet_any, gather_of, , )

/* ---- parameters, and loads for the whole warp ---- */

BUILD_INLINE enum step ldp_one(struct exec *x, const struct code_insn *code, const struct lanes *mask,
                               enum ppu_width width)
{
    const struct ppu_insn *insn = &code->insn;
    const uint32_t bytes = ppu_width_bytes(width), limit = x->task->tmd.param_bytes;
    const uint32_t at = (uint32_t)insn->imm + (insn->wa ? x->w->sreg[insn->ra] : 0);

    if (at % alignment(width) != 0 || at > limit || bytes > limit - at) {
        return engine_mem(x, insn, mask);
    }
    load_lane(&x->w->sreg[insn->rd], 1, x->task->params + at, width);
    return STEP_NEXT;
}

BUILD_INLINE enum step ldg_one(struct exec *x, const struct code_insn *code, const struct lanes *mask,
                               enum ppu_width width)
{
    const struct addresses a = addresses_of(x, code, 0, 0);
    const uint32_t bytes = ppu_width_bytes(width);
    const uint8_t *host = a.base % alignment(width) == 0 ? reach_global(x, a.base, bytes, PPU_ACCESS_READ) : NULL;

    if (host == NULL) {
        return engine_mem(x, &code->insn, mask);
    }
    sums_meet(x->sm, host, bytes);
    count_transactions(x, 1);
    load_lane(&x->w->sreg[code->insn.rd], 1, host, width);
    return STEP_NEXT;
}

BUILD_INLINE enum step stg_one(struct exec *x, const struct code_insn *code, const struct lanes *mask,
                               enum ppu_width width)
{
    const struct addresses a = addresses_of(x, code, 0, 0);
    const uint32_t bytes = ppu_width_bytes(width);
    uint8_t *host = a.base % alignment(width) == 0 ? reach_global(x, a.base, bytes, PPU_ACCESS_WRITE) : NULL;

    if (host == NULL) {
        return engine_mem(x, &code->insn, mask);
    }
    sums_meet(x->sm, host, bytes);
    count_transactions(x, 1);
    store_lane(host, &x->w->sreg[code->insn.rd], 1, width);
    return STEP_NEXT;
}

#define ONE(name, which, width)                                                                   \
    static enum step name(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                             \
        return which(x, code, mask, width);                                                       \
    }
#define PPU_WIDTH(name, text, number, bytes, words)     \
    ONE(op_ldp_##name##_one, ldp_one, PPU_WIDTH_##name) \
    ONE(op_ldg_##name##_one, ldg_one, PPU_WIDTH_##name) \
    ONE(op_stg_##name##_one, stg_one, PPU_WIDTH_##name)
#include "ppu/isa.def"
#undef ONE

#include "engine_build_atomic.h"
#include "engine_build_local.h"
#include "engine_build_row.h"

/* ---- which one an instruction is ---- */

/* NULL: for engine_mem.c from the start. */
static engine_op *mem_op(const struct ppu_insn *insn)
{
    static engine_op *const ops[PPU_WIDTH_COUNT][4] = {
#define PPU_WIDTH(name, text, number, bytes, words) \
    [PPU_WIDTH_##name] = { op_ldg_##name, op_stg_##name, op_lds_##name, op_sts_##name },
#include "ppu/isa.def"
    };
    static engine_op *const ones[PPU_WIDTH_COUNT][3] = {
#define PPU_WIDTH(name, text, number, bytes, words) \
    [PPU_WIDTH_##name] = { op_ldg_##name##_one, op_stg_##name##_one, op_ldp_##name##_one },
#include "ppu/isa.def"
    };
    const bool words = insn->width >= PPU_WIDTH_B32;
    engine_op *const in_row = row_op(insn);

    if (in_row != NULL) {
        return in_row;
    }
    if (insn->indexed && insn->op != PPU_OP_LDG && insn->op != PPU_OP_STG && insn->op != PPU_OP_ATOMG) {
        return NULL;
    }
    switch (insn->op) {
    case PPU_OP_LDG:
        return insn->scalar ? ones[insn->width][0] : ops[insn->width][0];
    case PPU_OP_STG:
        return insn->scalar ? ones[insn->width][1] : ops[insn->width][1];
    case PPU_OP_LDS:
        return insn->scalar ? NULL : ops[insn->width][2];
    case PPU_OP_STS:
        return insn->scalar ? NULL : ops[insn->width][3];
    case PPU_OP_GATHER:
        return op_gather;
    case PPU_OP_LDL:
        return words ? op_ldl : NULL;
    case PPU_OP_STL:
        return words ? op_stl : NULL;
    case PPU_OP_LDP:
        return insn->scalar ? ones[insn->width][2] : NULL;
    case PPU_OP_ATOMG:
        return op_atomg;
    case PPU_OP_ATOMS:
        return op_atoms;
    default:
        return NULL;
    }
}

#endif
