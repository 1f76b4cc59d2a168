/* SPDX-License-Identifier: MIT */
/* Finds how the memory behind a launch's arguments overlaps (F1, F2, F8). Knows no device: addresses are numbers. */
#ifndef OPENCL_VARIANTS_OVERLAP_H
#define OPENCL_VARIANTS_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

#include "compiler/ppu_compiler.h"
#include "ppu/image.h"

#define OVERLAP_ARGUMENTS 64u /* of a launch that are looked at */
#define OVERLAPS_MOST 256u    /* of them */

/* An argument that points to memory, and what the kernel does with that. */
struct region {
    uint64_t address;      /* what the argument holds */
    uint64_t start, bytes; /* all that may be reached through it */
    uint8_t argument;      /* its number, below OVERLAP_ARGUMENTS */
    uint8_t element_log2;  /* size of the smallest access */
    bool writes;
    struct ppu_reach reach; /* of one work-item, from the address on */
};

/* Two regions with bytes in common, one of which is written. The numbers of F2; each region has its own start and
 * size. */
struct overlap {
    struct ppu_compile_pair pair; /* IDENTICAL or OVERLAP */
    int64_t distance_bytes;       /* second's address - first's */
    uint64_t start;               /* of what they have in common, pair.bytes long */
};

struct overlaps {
    struct overlap pairs[OVERLAPS_MOST]; /* by rising arguments */
    uint32_t count;
    uint32_t references;  /* pairs of regions one of which is written */
    uint32_t identical;   /* of those */
    uint32_t disjoint;    /* of those: they overlap, and no work-item reaches the same through both */
    uint32_t comparisons; /* of two regions' places: what it took */
};

/*
 * Leaves of a region what work-items with these numbers in dimension 0 reach of it. Nothing changes where the reach is
 * not known, or numbers are so large that a kernel may cut them off.
 */
void region_narrow(struct region *region, const struct ppu_reach *reach, uint64_t first, uint64_t last);

/*
 * Compares all regions, at most OVERLAP_ARGUMENTS. Pairs that are not among the overlaps and of which one is written
 * are disjoint: nothing that a work-item writes through one of them it reaches through the other. O(n log n + pairs
 * with bytes in common). False: more overlap than there is room for.
 */
bool overlaps_find(const struct region *regions, uint32_t count, struct overlaps *overlaps);
/* Largest power of two, at most 16, that divides an address. */
uint8_t address_align_log2(uint64_t address);

#endif
