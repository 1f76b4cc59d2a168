/* SPDX-License-Identifier: MIT */
/*
 * Keeps which units of a save area are free (ppu/nest.h). What is taken is a run of units, named by its first.
 */
#ifndef FIRMWARE_PLACES_H
#define FIRMWARE_PLACES_H

#include <stdint.h>

#include "ppu/nest.h"

#define PLACES_WORDS (PPU_NEST_UNITS / 32u)

struct places {
    uint32_t units;
    uint32_t free[PLACES_WORDS];  /* bit n: unit n */
    uint32_t first[PLACES_WORDS]; /* bit n: a run that is taken begins at unit n */
};

struct places_run {
    uint32_t first;
    uint32_t units;
};

/* All units are free. */
void places_init(struct places *places, uint32_t units);

/* The first run of so many free units; where there is none, the longest, which may have none at all. */
struct places_run places_find(const struct places *places, uint32_t units);

/* The run is free. */
void places_take(struct places *places, struct places_run run);

/* A run begins there. */
void places_give(struct places *places, uint32_t first);

#endif
