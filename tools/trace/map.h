/* SPDX-License-Identifier: MIT */
/* Maps numbers to numbers, and texts to numbers. Room that cannot be had ends the program with a sentence. */
#ifndef TOOLS_TRACE_MAP_H
#define TOOLS_TRACE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map {
    struct map_entry {
        uint64_t key;
        uint32_t value; /* MAP_NONE: the entry is free */
    } * entry;
    uint32_t size; /* a power of two, or 0 */
    uint32_t used;
};

/* MAP_NONE: there is none. */
uint32_t map_get(const struct map *map, uint64_t key);
void map_set(struct map *map, uint64_t key, uint32_t value);
void map_free(struct map *map);

/* Each text once. */
struct texts {
    char **text;
    uint32_t count;
    struct map by_hash;
};

uint32_t texts_add(struct texts *texts, const char *text, size_t bytes);
uint32_t texts_format(struct texts *texts, const char *format, ...) __attribute__((format(printf, 2, 3)));
void texts_free(struct texts *texts);

/* Room for one more element of a list of `count`; it grows by doubling. */
void *list_more(void *list, uint32_t count, size_t size);

#endif
