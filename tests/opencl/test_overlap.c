/* SPDX-License-Identifier: MIT */
/*
 * Tests the way from regions of memory to relations, against a comparison of each with each, and how many comparisons
 * it takes. PPU_SEED chooses the first set of regions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "opencl/variants/overlap.h"
#include "ppu/macros.h"

#define SETS 3000u
#define BASE 0x100000000ull
#define ITEMS 5u

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)((state >> 33) % n);
}

static struct overlaps *new_overlaps(void)
{
    struct overlaps *overlaps = calloc(1, sizeof(*overlaps));

    assert_non_null(overlaps);
    return overlaps;
}

/* ---- against each with each ---- */

static struct region random_region(uint32_t i, uint32_t spread)
{
    uint64_t start = BASE + below(spread);

    return (struct region){ .address = start + below(8),
                            .start = start,
                            .bytes = below(5) == 0 ? 64 : below(100),
                            .argument = (uint8_t)i,
                            .element_log2 = (uint8_t)below(4),
                            .writes = below(3) != 0 };
}

static bool have_bytes_in_common(const struct region *a, const struct region *b)
{
    for (uint64_t at = a->start; at < a->start + a->bytes; at++) {
        if (at >= b->start && at < b->start + b->bytes) {
            return true;
        }
    }
    return false;
}

static void check_overlap(const struct overlap *found, const struct region *a, const struct region *b)
{
    uint64_t start = PPU_MAX(a->start, b->start);
    uint64_t a_end = a->start + a->bytes, b_end = b->start + b->bytes, end = PPU_MIN(a_end, b_end);
    bool same = a->start == b->start && a->bytes == b->bytes && a->address == b->address;

    assert_int_equal(found->pair.first, a->argument);
    assert_int_equal(found->pair.second, b->argument);
    assert_int_equal(found->pair.relation, same ? PPU_RELATION_IDENTICAL : PPU_RELATION_OVERLAP);
    assert_int_equal(found->distance_bytes, (int64_t)(b->address - a->address));
    assert_int_equal(found->start, start);
    assert_int_equal(found->pair.bytes, end - start);
    assert_int_equal(found->pair.start[0], (int64_t)(start - a->address));
    assert_int_equal(found->pair.start[1], (int64_t)(start - b->address));
}

/* Gives back how many pairs have bytes in common, whoever writes. */
static uint32_t check_set(const struct region *regions, uint32_t count, const struct overlaps *overlaps)
{
    uint32_t at = 0, references = 0, meet = 0;

    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = i + 1; k < count; k++) {
            bool common = have_bytes_in_common(&regions[i], &regions[k]);
            bool matters = regions[i].writes || regions[k].writes;
            references += matters;
            meet += common;
            if (common && matters) {
                assert_true(at < overlaps->count);
                check_overlap(&overlaps->pairs[at++], &regions[i], &regions[k]);
            }
        }
    }
    assert_int_equal(at, overlaps->count);
    assert_int_equal(references, overlaps->references);
    return meet;
}

static uint32_t log2_above(uint32_t n)
{
    uint32_t log = 0;

    while (1u << log < n) {
        log++;
    }
    return log;
}

/* Sorting takes n log n; then each is asked once more when it has ended, and for each that it meets. */
static void random_sets(void **context)
{
    const char *seed = getenv("PPU_SEED");
    struct overlaps *overlaps = new_overlaps();
    struct region regions[OVERLAP_ARGUMENTS];

    (void)context;
    state = seed ? strtoull(seed, NULL, 0) : 1;
    for (uint32_t set = 0; set < SETS; set++) {
        uint64_t begin = state;
        uint32_t count = below(21), spread = 1 + below(2000);
        for (uint32_t i = 0; i < count; i++) {
            regions[i] = random_region(i, spread);
        }
        assert_true(overlaps_find(regions, count, overlaps));
        uint32_t meet = check_set(regions, count, overlaps);
        if (overlaps->comparisons > count * log2_above(count) + count + meet) {
            fail_msg("PPU_SEED=%llu: %u comparisons for %u regions of which %u pairs meet", (unsigned long long)begin,
                     overlaps->comparisons, count, meet);
        }
    }
    free(overlaps);
}

/* Without overlaps the comparisons of all that a launch may have grow as n log n: far less than pairs. */
static void growth(void **context)
{
    struct overlaps *overlaps = new_overlaps();
    struct region regions[OVERLAP_ARGUMENTS];

    (void)context;
    for (uint32_t count = 2; count <= OVERLAP_ARGUMENTS; count *= 2) {
        for (uint32_t i = 0; i < count; i++) {
            uint64_t start = BASE + (uint64_t)(i * 37 % count) * 4096;
            regions[i] = (struct region){
                .address = start, .start = start, .bytes = 4096, .argument = (uint8_t)i, .writes = true
            };
        }
        assert_true(overlaps_find(regions, count, overlaps));
        assert_int_equal(overlaps->count, 0);
        assert_in_range(overlaps->comparisons, count - 1, count * log2_above(count) + count);
    }
    assert_true(overlaps->comparisons < OVERLAP_ARGUMENTS * (OVERLAP_ARGUMENTS - 1) / 4);
    free(overlaps);
}

static void too_many(void **context)
{
    struct overlaps *overlaps = new_overlaps();
    struct region regions[OVERLAP_ARGUMENTS + 1];

    (void)context;
    for (uint32_t i = 0; i <= OVERLAP_ARGUMENTS; i++) {
        regions[i] = (struct region){ .address = BASE, .start = BASE, .bytes = 64, .argument = (uint8_t)i };
        regions[i].writes = true;
    }
    assert_true(overlaps_find(regions, 23, overlaps)); /* 253 pairs */
    assert_false(overlaps_find(regions, 24, overlaps));
    assert_false(overlaps_find(regions, OVERLAP_ARGUMENTS + 1, overlaps));
    free(overlaps);
}

/* ---- what work-items reach ---- */

static struct region whole(uint32_t argument, uint64_t address, bool writes)
{
    return (struct region){ .address = address,
                            .start = BASE,
                            .bytes = 0x10000,
                            .argument = (uint8_t)argument,
                            .element_log2 = 2,
                            .writes = writes };
}

static void narrowed(void **context)
{
    static const struct {
        uint64_t first, last;
        struct ppu_reach reach;
        uint64_t start, bytes;
    } wanted[] = {
        { 0, 9, { 16, 0, 8 }, BASE + 0x100, 9 * 16 + 8 },
        { 3, 9, { 16, -4, 8 }, BASE + 0x100 + 48 - 4, 6 * 16 + 12 },
        { 0, 9, { -4, 0, 4 }, BASE + 0x100 - 36, 40 },
        { 5, 500, { 0, 4, 12 }, BASE + 0x104, 8 }, /* all the same */
        { 0, 9, { 16, 0, 0 }, BASE, 0x10000 },     /* not known */
        { 0, 0xffff, { 4, 0, 4 }, BASE + 0x100, 0xff00 },
        { 0, 9, { 4, 0x10000, 0x10004 }, BASE + 0x10100, 0 }, /* all outside */
        { 0, PPU_MAX_SMALL_ID - 1, { INT32_MIN, 0, 4 }, BASE, 0x104 },
        { 0, PPU_MAX_SMALL_ID - 1, { INT32_MAX, 0, 4 }, BASE + 0x100, 0xff00 },
        { 0, PPU_MAX_SMALL_ID, { 4, 0, 4 }, BASE, 0x10000 }, /* numbers that a kernel may cut off */
        { UINT64_MAX, 3, { 4, 0, 4 }, BASE, 0x10000 },
    };

    (void)context;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(wanted); i++) {
        struct region region = whole(0, BASE + 0x100, true);
        region_narrow(&region, &wanted[i].reach, wanted[i].first, wanted[i].last);
        assert_int_equal(region.start, wanted[i].start);
        assert_int_equal(region.bytes, wanted[i].bytes);
    }
    struct region wild = whole(0, UINT64_MAX - 3, true);
    const struct ppu_reach reach = { INT32_MAX, INT32_MIN, INT32_MAX };
    region_narrow(&wild, &reach, 0, PPU_MAX_SMALL_ID - 1);
    assert_int_equal(wild.bytes, 0x10000);
}

static bool work_items_meet(const struct region *a, const struct region *b)
{
    for (int64_t item = 0; item < ITEMS; item++) {
        for (int64_t x = a->reach.low; x < a->reach.high; x++) {
            for (int64_t y = b->reach.low; y < b->reach.high; y++) {
                if (a->address + (uint64_t)(item * a->reach.step + x) ==
                    b->address + (uint64_t)(item * b->reach.step + y)) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* A pair that no work-item meets may be called disjoint; one that it meets must not. Steps that differ
 * prove nothing. */
static void work_items_keep_apart(void **context)
{
    struct overlaps *overlaps = new_overlaps();
    uint32_t disjoint = 0;

    (void)context;
    state = 1;
    for (uint32_t n = 0; n < SETS; n++) {
        struct region regions[2] = { whole(0, BASE + 0x1000, true),
                                     whole(1, BASE + 0x1000 + below(64), below(2) != 0) };
        const int32_t step = (int32_t)below(40) - 20;
        for (uint32_t i = 0; i < 2; i++) {
            const int32_t low = (int32_t)below(24) - 12;
            const struct ppu_reach reach = { i == 0 || below(4) != 0 ? step : step + 1, low,
                                             low + 1 + (int32_t)below(12) };
            region_narrow(&regions[i], &reach, 0, ITEMS - 1);
        }
        assert_true(overlaps_find(regions, 2, overlaps));
        if (work_items_meet(&regions[0], &regions[1])) {
            assert_int_equal(overlaps->count, 1);
        } else if (regions[0].reach.step == regions[1].reach.step) {
            assert_int_equal(overlaps->count, 0);
        }
        disjoint += overlaps->disjoint;
    }
    assert_true(disjoint > SETS / 20);
    free(overlaps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "random regions, in n log n comparisons and one for each pair that meets [F1][F2]", random_sets, NULL, NULL,
          NULL },
        { "regions that do not meet are not compared in pairs [F1]", growth, NULL, NULL, NULL },
        { "more overlaps than there is room for are told [F1]", too_many, NULL, NULL, NULL },
        { "regions are what the work-items of a launch reach [F1][F8]", narrowed, NULL, NULL, NULL },
        { "work-items that keep apart in overlapping regions [F8]", work_items_keep_apart, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("opencl: relations", tests, NULL, NULL);
}
