/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions of loads, stores and atomics (counter.h). Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_TRANSACTION_H
#define PPU_CORE_ENGINE_BUILD_TRANSACTION_H

BUILD_INLINE void count_row(struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes)
{
    if (space == MEM_GLOBAL) {
        count_transactions(x, count_lines(at, bytes));
    }
}

/* A row of all lanes of a warp: lines are those of each pass, as many for each where passes are whole lines. */
BUILD_INLINE void count_row_whole(struct exec *x, enum mem_space space, uint64_t at, uint32_t bytes)
{
    if (space == MEM_SHARED) {
        return;
    }
    if (PPU_LANES * bytes % PPU_TRANSACTION_BYTES == 0) {
        count_transactions(x, x->passes * count_lines(at, PPU_LANES * bytes));
        return;
    }
    for (uint32_t pass = 0; pass < x->passes; pass++, at += PPU_LANES * bytes) {
        count_row(x, space, at, PPU_LANES * bytes);
    }
}

/* Lanes of a pass, the first at `at`. */
BUILD_INLINE void count_lanes(struct exec *x, enum mem_space space, uint64_t at, uint32_t set, uint32_t bytes,
                              enum pattern pattern)
{
    const uint32_t first = (uint32_t)__builtin_ctz(set), last = 31u - (uint32_t)__builtin_clz(set);

    if (space == MEM_SHARED) {
        return;
    }
    if (pattern == LANES_IN_ROW) {
        count_transactions(x, count_lines(at, (last - first + 1) * bytes));
    } else {
        count_transactions(x, pattern == LANES_ALIKE ? 1 : (uint32_t)__builtin_popcount(set));
    }
}

/* The same when nobody has looked how they lie; before the instruction writes a register. */
BUILD_INLINE void count_any(struct exec *x, enum mem_space space, const struct addresses *a, uint32_t set,
                            uint32_t bytes)
{
    if (space == MEM_GLOBAL) {
        count_lanes(x, space, address_at(a, (uint32_t)__builtin_ctz(set)), set, bytes, pattern_likely(a, set, bytes));
    }
}

/* The same of a load whose first lanes seem to follow one another, or to be alike. */
static __attribute__((noinline)) void count_again(struct exec *x, const struct code_insn *code, uint32_t pass,
                                                  uint32_t set, uint32_t bytes)
{
    struct offsets offsets;
    const struct addresses a = addresses_made(x, code, pass, code->insn.rb, bytes, &offsets);

    count_any(x, MEM_GLOBAL, &a, set, bytes);
}

#endif
