/* SPDX-License-Identifier: MIT */
#include "firmware/places.h"

#include <stdbool.h>

_Static_assert(PPU_NEST_UNITS % 32u == 0, "whole words");

static bool has_unit(const uint32_t *words, uint32_t n)
{
    return words[n / 32] >> n % 32 & 1u;
}

static void flip_unit(uint32_t *words, uint32_t n)
{
    words[n / 32] ^= 1u << n % 32;
}

void places_init(struct places *places, uint32_t units)
{
    *places = (struct places){ .units = units };
    for (uint32_t n = 0; n < units; n++) {
        flip_unit(places->free, n);
    }
}

struct places_run places_find(const struct places *places, uint32_t units)
{
    struct places_run longest = { 0, 0 };
    struct places_run run = { 0, 0 };
    for (uint32_t n = 0; n < places->units && longest.units < units; n++) {
        if (!has_unit(places->free, n)) {
            n |= places->free[n / 32] ? 0 : 31; /* no unit of this word is free */
            run = (struct places_run){ n + 1, 0 };
            continue;
        }
        run.units++;
        longest = run.units > longest.units ? run : longest;
    }
    return longest;
}

void places_take(struct places *places, struct places_run run)
{
    flip_unit(places->first, run.first);
    for (uint32_t n = 0; n < run.units; n++) {
        flip_unit(places->free, run.first + n);
    }
}

void places_give(struct places *places, uint32_t first)
{
    uint32_t n = first;
    flip_unit(places->first, first);
    do {
        flip_unit(places->free, n++);
    } while (n < places->units && !has_unit(places->free, n) && !has_unit(places->first, n));
}
