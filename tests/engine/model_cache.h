/* SPDX-License-Identifier: MIT */
/* Models a cache as one would explain it: a list of lines, each with the time it was used last. */
#ifndef TESTS_ENGINE_MODEL_CACHE_H
#define TESTS_ENGINE_MODEL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_LINES 1024u

struct model_cache {
    uint32_t sets;
    uint32_t ways;
    uint64_t clock;
    uint32_t count;
    struct {
        uint64_t line;
        uint64_t used;
    } have[MODEL_LINES];
};

struct model_cache model_cache_new(uint32_t bytes, uint32_t ways, uint32_t line_bytes);
/* As cache_use() and cache_drop(). */
bool model_cache_use(struct model_cache *cache, uint64_t line, bool fetch);
void model_cache_drop(struct model_cache *cache, uint64_t line);

#endif
