/* SPDX-License-Identifier: MIT */
/*
 * Defines the key of a variant: what is known of a launch, as the compiler gets it, equal for launches that the same
 * code is right for (F5).
 */
#ifndef OPENCL_VARIANTS_VARIANT_KEY_H
#define OPENCL_VARIANTS_VARIANT_KEY_H

#include <stddef.h>

#include "opencl/variants/overlap.h"

/* How much of what is known is used: for measurements. */
enum variant_level {
    VARIANT_OFF,        /* nothing: the base variant */
    VARIANT_SEPARATION, /* which arguments are disjoint */
    VARIANT_ALIGNMENT,  /* and how their addresses are aligned */
    VARIANT_ALL,        /* and distances of those that overlap, constants, and the shape */
    VARIANT_LEVELS,
};

/* Beyond the counts all is 0, padding too: keys are compared as bytes. */
struct variant_key {
    uint32_t argument_count, pair_count;
    uint32_t work_group[3]; /* 0: any */
    uint32_t small_ids;
    struct ppu_compile_argument arguments[OVERLAP_ARGUMENTS];
    struct ppu_compile_pair pairs[OVERLAPS_MOST];
};

/* A value of which a loop's end depends, and which was the same in the launches before. */
struct variant_constant {
    uint8_t argument;
    uint64_t value;
};

/* `regions` are those that were compared. */
void variant_key_set(struct variant_key *key, enum variant_level level, const struct region *regions, uint32_t count,
                     const struct overlaps *overlaps);
/* The argument is above all ids in some dimensions, told as bits. */
void variant_key_add_above(struct variant_key *key, uint8_t argument, uint8_t dimensions);
/* Where a pair's regions have bytes in common, as it was found, and how many. */
void variant_key_add_common(struct variant_key *key, const struct ppu_compile_pair *found);
void variant_key_add_work_group(struct variant_key *key, const uint32_t work_group[3]);
/* All global ids are below PPU_MAX_SMALL_ID. */
void variant_key_add_small_ids(struct variant_key *key);
void variant_key_add_constant(struct variant_key *key, const struct variant_constant *constant);
bool variant_key_equal(const struct variant_key *a, const struct variant_key *b);
uint64_t variant_key_hash(const struct variant_key *key);
/* In words (docs/spec/alias.md), cut off where there is no more room. */
void variant_key_print(const struct variant_key *key, char *text, size_t bytes);

#endif
