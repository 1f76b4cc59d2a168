/* SPDX-License-Identifier: MIT */
/*
 * Measures register pressure: how many vector registers are live along the code (D9), in the order in which it will lie
 * in memory.
 *
 * A program point is an instruction or the end of a block; points are numbered through the blocks. What is live at a
 * point is live right before it: what it reads, and what lives across it.
 */
#ifndef COMPILER_MIR_PRESSURE_H
#define COMPILER_MIR_PRESSURE_H

#include "compiler/mir/mir.h"

struct pressure {
    uint32_t points;
    uint32_t *first;  /* of each block: its first point; one more for the end of the code */
    uint32_t *block;  /* of each point */
    uint32_t *line;   /* of the source, of each point; 0: not known */
    uint32_t *need;   /* of each point: words of vector registers that it needs at once, pairs are 2 */
    uint64_t *before; /* of each point, and of the end: words live, set_words of them */
    uint32_t set_words;
    uint64_t *vectors; /* words of vector registers */
};

/* Measures code whose registers are not allocated yet. The result lies in the compilation's arena. */
struct pressure *pressure_new(struct mir *mir);

static inline const uint64_t *pressure_live(const struct pressure *pressure, uint32_t point)
{
    return pressure->before + (size_t)point * pressure->set_words;
}

static inline bool pressure_is_live(const struct pressure *pressure, uint32_t point, uint32_t word)
{
    return pressure_live(pressure, point)[word / 64] >> word % 64 & 1;
}

/* The point of a block's end. */
static inline uint32_t pressure_end(const struct pressure *pressure, uint32_t block)
{
    return pressure->first[block + 1] - 1;
}

#endif
