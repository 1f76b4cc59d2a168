/* SPDX-License-Identifier: MIT */
#include "opencl/variants/overlap.h"

#include "ppu/macros.h"

#include <assert.h>

#define MOST_ALIGN_LOG2 4u
#define BEYOND (1ull << 61) /* addresses that no arithmetic here takes out of 64 bits are below */

/* ---- regions ---- */

static bool reach_is_known(const struct ppu_reach *reach)
{
    return reach->low < reach->high;
}

void region_narrow(struct region *region, const struct ppu_reach *reach, uint64_t first, uint64_t last)
{
    if (!reach_is_known(reach) || first > last || last >= PPU_MAX_SMALL_ID || region->address >= BEYOND ||
        region->start >= BEYOND || region->bytes >= BEYOND) {
        return;
    }
    int64_t start = (int64_t)region->start, end = start + (int64_t)region->bytes;
    int64_t low = (int64_t)region->address + reach->low + reach->step * (int64_t)(reach->step < 0 ? last : first);
    int64_t high = (int64_t)region->address + reach->high + reach->step * (int64_t)(reach->step < 0 ? first : last);
    low = PPU_MAX(low, start);
    high = PPU_MIN(high, end);
    region->start = (uint64_t)low;
    region->bytes = low < high ? (uint64_t)(high - low) : 0;
    region->reach = *reach;
}

/* True when a work-item does not reach through one what it reaches through the other (F8). */
static bool are_disjoint(const struct region *a, const struct region *b)
{
    if (!reach_is_known(&a->reach) || !reach_is_known(&b->reach) || a->reach.step != b->reach.step) {
        return false;
    }
    int64_t distance = (int64_t)(b->address - a->address);
    return distance + b->reach.low >= a->reach.high || distance + b->reach.high <= a->reach.low;
}

static bool begins_before(struct overlaps *overlaps, const struct region *a, const struct region *b)
{
    overlaps->comparisons++;
    return a->start < b->start;
}

static bool has_ended(struct overlaps *overlaps, const struct region *earlier, const struct region *region)
{
    overlaps->comparisons++;
    return earlier->start + earlier->bytes <= region->start;
}

/* ---- order ---- */

/* Merges [from, middle) and [middle, to) of one list into the other. */
static void merge(struct overlaps *overlaps, const struct region *regions, const uint8_t *list, uint8_t *into,
                  uint32_t from, uint32_t middle, uint32_t to)
{
    uint32_t left = from, right = middle;

    for (uint32_t i = from; i < to; i++) {
        bool take_right =
            left == middle || (right < to && begins_before(overlaps, &regions[list[right]], &regions[list[left]]));
        into[i] = take_right ? list[right++] : list[left++];
    }
}

/* The regions by their starts: numbers into them, in one of the two lists. */
static const uint8_t *sort(struct overlaps *overlaps, const struct region *regions, uint32_t count, uint8_t *list,
                           uint8_t *other)
{
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (uint8_t)i;
    }
    for (uint32_t run = 1; run < count; run *= 2) {
        for (uint32_t from = 0; from < count; from += 2 * run) {
            merge(overlaps, regions, list, other, from, PPU_MIN(from + run, count), PPU_MIN(from + 2 * run, count));
        }
        uint8_t *sorted = other;
        other = list;
        list = sorted;
    }
    return list;
}

static int8_t clamped(int64_t distance)
{
    return (int8_t)(distance > PPU_DISTANCE_MAX    ? PPU_DISTANCE_MAX
                    : distance < -PPU_DISTANCE_MAX ? -PPU_DISTANCE_MAX
                                                   : distance);
}

static struct overlap compare_regions(const struct region *a, const struct region *b)
{
    const struct region *first = a->argument < b->argument ? a : b, *second = a->argument < b->argument ? b : a;
    uint64_t start = PPU_MAX(a->start, b->start);
    uint64_t a_end = a->start + a->bytes, b_end = b->start + b->bytes;
    uint8_t element_log2 = PPU_MIN(first->element_log2, second->element_log2);
    int64_t distance = (int64_t)(second->address - first->address), size = 1ll << element_log2;
    int64_t rest = distance & (size - 1); /* from the next lower multiple on */
    bool same = a->start == b->start && a->bytes == b->bytes && distance == 0;

    return (struct overlap){
        .pair = { .first = first->argument,
                  .second = second->argument,
                  .relation = same ? PPU_RELATION_IDENTICAL : PPU_RELATION_OVERLAP,
                  .element_log2 = element_log2,
                  .distance = clamped((distance - rest) / size),
                  .exact = rest == 0,
                  .start = { (int64_t)(start - first->address), (int64_t)(start - second->address) },
                  .bytes = PPU_MIN(a_end, b_end) - start },
        .distance_bytes = distance,
        .start = start,
    };
}

/* Adds a pair if the two have bytes in common. */
static bool add_pair(struct overlaps *overlaps, const struct region *a, const struct region *b)
{
    if (are_disjoint(a, b)) {
        overlaps->disjoint++;
        return true;
    }
    if (overlaps->count == OVERLAPS_MOST) {
        return false;
    }
    const struct overlap overlap = compare_regions(a, b);
    overlaps->pairs[overlaps->count++] = overlap;
    overlaps->identical += overlap.pair.relation == PPU_RELATION_IDENTICAL;
    return true;
}

static uint8_t argument_of(const struct overlap *overlap, bool second)
{
    return second ? overlap->pair.second : overlap->pair.first;
}

/* Stable; counts, as there are few arguments. `order`: numbers of overlaps. */
static void sort_by(const struct overlaps *overlaps, bool second, const uint8_t *order, uint8_t *sorted)
{
    uint32_t begin[OVERLAP_ARGUMENTS + 1] = { 0 };

    for (uint32_t i = 0; i < overlaps->count; i++) {
        begin[argument_of(&overlaps->pairs[i], second) + 1]++;
    }
    for (uint32_t a = 1; a < OVERLAP_ARGUMENTS; a++) {
        begin[a] += begin[a - 1];
    }
    for (uint32_t i = 0; i < overlaps->count; i++) {
        sorted[begin[argument_of(&overlaps->pairs[order[i]], second)]++] = order[i];
    }
}

static void put_in_order(struct overlaps *overlaps)
{
    uint8_t order[OVERLAPS_MOST], by_second[OVERLAPS_MOST];
    struct overlap pairs[OVERLAPS_MOST];

    if (overlaps->count < 2) {
        return;
    }
    for (uint32_t i = 0; i < overlaps->count; i++) {
        order[i] = (uint8_t)i;
        pairs[i] = overlaps->pairs[i];
    }
    sort_by(overlaps, true, order, by_second);
    sort_by(overlaps, false, by_second, order);
    for (uint32_t i = 0; i < overlaps->count; i++) {
        overlaps->pairs[i] = pairs[order[i]];
    }
}

static uint32_t pairs_of(uint32_t count)
{
    return count == 0 ? 0 : count * (count - 1) / 2;
}

/* A region that has begun and not ended when another begins has bytes in common with it. One that has ended is looked
 * at once more. */
bool overlaps_find(const struct region *regions, uint32_t count, struct overlaps *overlaps)
{
    uint8_t lists[2][OVERLAP_ARGUMENTS], open[OVERLAP_ARGUMENTS];
    uint32_t open_count = 0, readers = 0;

    overlaps->count = overlaps->identical = overlaps->disjoint = overlaps->comparisons = 0;
    if (count > OVERLAP_ARGUMENTS) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        assert(regions[i].argument < OVERLAP_ARGUMENTS);
    }
    const uint8_t *sorted = sort(overlaps, regions, count, lists[0], lists[1]);
    for (uint32_t i = 0; i < count; i++) {
        const struct region *region = &regions[sorted[i]];
        uint32_t kept = 0;
        readers += !region->writes;
        for (uint32_t k = 0; k < open_count; k++) {
            const struct region *other = &regions[open[k]];
            if (has_ended(overlaps, other, region)) {
                continue;
            }
            open[kept++] = open[k];
            if (region->bytes != 0 && (region->writes || other->writes) && !add_pair(overlaps, other, region)) {
                return false;
            }
        }
        open_count = kept;
        if (region->bytes != 0) {
            open[open_count++] = sorted[i];
        }
    }
    overlaps->references = pairs_of(count) - pairs_of(readers);
    put_in_order(overlaps);
    return true;
}

uint8_t address_align_log2(uint64_t address)
{
    return (uint8_t)(address == 0 ? MOST_ALIGN_LOG2 : PPU_MIN((uint32_t)__builtin_ctzll(address), MOST_ALIGN_LOG2));
}
