/* SPDX-License-Identifier: MIT */
#include "tests/engine/model_cache.h"

#include "tests/device-core/board.h"

struct model_cache model_cache_new(uint32_t bytes, uint32_t ways, uint32_t line_bytes)
{
    assert_true(bytes / line_bytes <= MODEL_LINES);
    return (struct model_cache){ .sets = bytes / line_bytes / ways, .ways = ways };
}

static uint32_t find(const struct model_cache *cache, uint64_t line)
{
    uint32_t at = 0;

    while (at < cache->count && cache->have[at].line != line) {
        at++;
    }
    return at;
}

static void remove_at(struct model_cache *cache, uint32_t at)
{
    cache->have[at] = cache->have[--cache->count];
}

/* The oldest of a full set goes. */
static void make_room(struct model_cache *cache, uint64_t line)
{
    uint32_t of_set = 0, oldest = 0;

    for (uint32_t i = 0; i < cache->count; i++) {
        if (cache->have[i].line % cache->sets == line % cache->sets) {
            oldest = of_set++ == 0 || cache->have[i].used < cache->have[oldest].used ? i : oldest;
        }
    }
    if (of_set == cache->ways) {
        remove_at(cache, oldest);
    }
}

bool model_cache_use(struct model_cache *cache, uint64_t line, bool fetch)
{
    uint32_t at = find(cache, line);
    bool hit = at < cache->count;

    if (!hit && !fetch) {
        return false;
    }
    if (!hit) {
        make_room(cache, line);
        at = cache->count++;
        cache->have[at].line = line;
    }
    cache->have[at].used = ++cache->clock;
    return hit;
}

void model_cache_drop(struct model_cache *cache, uint64_t line)
{
    uint32_t at = find(cache, line);

    if (at < cache->count) {
        remove_at(cache, at);
    }
}
