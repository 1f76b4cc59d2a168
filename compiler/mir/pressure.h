/* SPDX-License-Identifier: MIT */
/*
 * Measures register pressure: how many vector registers are live along the code (D9), in the order in which it will lie
 * in memory.
 *
 * A slot is an instruction or the end of a block; slots are numbered through the blocks. What is live at a slot is live
 * right before it: what it reads, and what lives across it.
 */
#ifndef COMPILER_MIR_PRESSURE_H
#define COMPILER_MIR_PRESSURE_H

#include "compiler/mir/mir.h"

struct pressure {
    uint32_t slots;
    uint32_t *first;  /* of each block: its first slot; one more for the end of the code */
    uint32_t *block;  /* of each slot */
    uint32_t *line;   /* of the source, of each slot; 0: not known */
    uint32_t *need;   /* of each slot: words of vector registers that it needs at once, pairs are 2 */
    uint64_t *before; /* of each slot, and of the end: words live, set_words of them */
    uint32_t set_words;
    uint64_t *vectors; /* words of vector registers */
};

/* Measures code whose registers have no places yet. The result lies in the compilation's arena. */
struct pressure *pressure_new(struct mir *mir);

static inline const uint64_t *pressure_live(const struct pressure *pressure, uint32_t slot)
{
    return pressure->before + (size_t)slot * pressure->set_words;
}

static inline bool pressure_is_live(const struct pressure *pressure, uint32_t slot, uint32_t word)
{
    return pressure_live(pressure, slot)[word / 64] >> word % 64 & 1;
}

/* The slot of a block's end. */
static inline uint32_t pressure_end(const struct pressure *pressure, uint32_t block)
{
    return pressure->first[block + 1] - 1;
}

#endif
