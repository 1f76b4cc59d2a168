/* SPDX-License-Identifier: MIT */
#include "compiler/mir/live_ranges.h"

#include "ppu/macros.h"

void ranges_add(struct arena *arena, struct ranges *ranges, uint32_t from, uint32_t to)
{
    if (ranges->count != 0 && ranges->list[ranges->count - 1].from <= to) {
        struct range *last = &ranges->list[ranges->count - 1];
        last->from = PPU_MIN(from, last->from);
        last->to = PPU_MAX(to, last->to);
        return;
    }
    ranges->list = arena_grow(arena, ranges->list, sizeof(ranges->list[0]), ranges->count, &ranges->cap);
    ranges->list[ranges->count++] = (struct range){ from, to };
}

bool ranges_overlap(const struct ranges *x, const struct ranges *y)
{
    uint32_t i = 0, j = 0;

    while (i < x->count && j < y->count) {
        if (x->list[i].from >= y->list[j].to) {
            i++;
        } else if (y->list[j].from >= x->list[i].to) {
            j++;
        } else {
            return true;
        }
    }
    return false;
}

bool ranges_hold(const struct ranges *ranges, uint32_t position)
{
    for (uint32_t i = 0; i < ranges->count; i++) {
        if (ranges->list[i].from <= position) {
            return position < ranges->list[i].to;
        }
    }
    return false;
}

void ranges_cover(struct arena *arena, struct ranges *ranges, uint32_t from, uint32_t to)
{
    struct ranges old = *ranges;
    uint32_t i = 0;

    *ranges = (struct ranges){ .list = NULL };
    for (; i < old.count && old.list[i].from > to; i++) {
        ranges_add(arena, ranges, old.list[i].from, old.list[i].to);
    }
    for (; i < old.count && old.list[i].to >= from; i++) {
        from = PPU_MIN(old.list[i].from, from);
        to = PPU_MAX(old.list[i].to, to);
    }
    ranges_add(arena, ranges, from, to);
    for (; i < old.count; i++) {
        ranges_add(arena, ranges, old.list[i].from, old.list[i].to);
    }
}

bool ranges_within(const struct ranges *x, const struct ranges *y)
{
    for (uint32_t i = 0, j = 0; i < x->count; i++) {
        while (j < y->count && y->list[j].from > x->list[i].from) {
            j++;
        }
        if (j == y->count || x->list[i].to > y->list[j].to) {
            return false;
        }
    }
    return true;
}

void ranges_merge(struct arena *arena, struct ranges *x, const struct ranges *y)
{
    struct ranges old = *x;
    uint32_t i = 0, j = 0;

    *x = (struct ranges){ .list = NULL };
    while (i < old.count || j < y->count) {
        bool first = j == y->count || (i < old.count && old.list[i].from > y->list[j].from);
        struct range range = first ? old.list[i++] : y->list[j++];
        ranges_add(arena, x, range.from, range.to);
    }
}
