/* SPDX-License-Identifier: MIT */
/*
 * Computes live ranges: the ranges of positions in which a word is live. Instruction n reads at 2n and writes at 2n +
 * 1, so that it may write what it reads last.
 */
#ifndef COMPILER_MIR_LIVE_RANGES_H
#define COMPILER_MIR_LIVE_RANGES_H

#include "compiler/base/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct range {
    uint32_t from;
    uint32_t to; /* not live any more */
};

/* Keeps the live ranges of one word, last first. */
struct ranges {
    struct range *list;
    uint32_t count;
    unsigned cap;
};

/* Adds a range that begins before all the others; joined to the next when they touch. */
void ranges_add(struct arena *arena, struct ranges *ranges, uint32_t from, uint32_t to);
bool ranges_overlap(const struct ranges *x, const struct ranges *y);
bool ranges_hold(const struct ranges *ranges, uint32_t position);
/* Makes [from, to) part of the ranges. */
void ranges_cover(struct arena *arena, struct ranges *ranges, uint32_t from, uint32_t to);
/* True when each range lies within some of y's. */
bool ranges_within(const struct ranges *x, const struct ranges *y);
/* y's ranges become x's too; they do not overlap. */
void ranges_merge(struct arena *arena, struct ranges *x, const struct ranges *y);

#endif
