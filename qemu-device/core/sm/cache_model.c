/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/sm/cache_model.h"

#include <stdlib.h>
#include <string.h>

bool cache_alloc(struct cache *cache, uint32_t bytes, uint32_t ways, uint32_t line_bytes)
{
    cache->ways = ways;
    cache->sets = bytes / line_bytes / ways;
    cache->way = calloc((size_t)cache->sets * ways, sizeof(*cache->way));
    return cache->way;
}

void cache_free(struct cache *cache)
{
    free(cache->way);
    cache->way = NULL;
}

size_t cache_state_bytes(const struct cache *cache)
{
    return (size_t)cache->sets * cache->ways * sizeof(*cache->way);
}

void cache_empty(struct cache *cache)
{
    for (size_t i = 0; i < (size_t)cache->sets * cache->ways; i++) {
        if (cache->way[i] != 0) { /* pages that nobody wrote stay so */
            cache->way[i] = 0;
        }
    }
}

static uint64_t *set_of(const struct cache *cache, uint64_t line)
{
    return cache->way + (size_t)(line & (cache->sets - 1)) * cache->ways;
}

/* Where the line is in its set; the number of ways: nowhere. */
static uint32_t find_line(const struct cache *cache, const uint64_t *set, uint64_t line)
{
    uint32_t at = 0;

    while (at < cache->ways && set[at] != line + 1) {
        at++;
    }
    return at;
}

bool cache_use(struct cache *cache, uint64_t line, bool fetch)
{
    uint64_t *const set = set_of(cache, line);
    uint64_t moved = line + 1;

    if (!fetch && find_line(cache, set, line) == cache->ways) {
        return false;
    }
    for (uint32_t at = 0; at < cache->ways; at++) {
        const uint64_t had = set[at];

        set[at] = moved;
        if (had == line + 1) {
            return true;
        }
        moved = had;
    }
    return false;
}

void cache_drop(struct cache *cache, uint64_t line)
{
    uint64_t *const set = set_of(cache, line);
    const uint32_t at = find_line(cache, set, line);

    for (uint32_t i = at; i + 1 < cache->ways; i++) {
        set[i] = set[i + 1];
    }
    if (at < cache->ways) {
        set[cache->ways - 1] = 0;
    }
}
