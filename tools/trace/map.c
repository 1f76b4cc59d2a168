/* SPDX-License-Identifier: MIT */
#include "tools/trace/map.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE 64u
#define FNV_START 14695981039346656037ull
#define FNV_PRIME 1099511628211ull

static void *need(void *memory)
{
    if (!memory) {
        fputs("read the record: not enough memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* ---- numbers ---- */

static uint32_t entry_of(const struct map *map, uint64_t key)
{
    uint64_t hash = key * 0x9e3779b97f4a7c15ull;
    uint32_t at = (uint32_t)(hash >> 32) & (map->size - 1);

    while (map->entry[at].value != MAP_NONE && map->entry[at].key != key) {
        at = (at + 1) & (map->size - 1);
    }
    return at;
}

static void grow(struct map *map)
{
    const struct map old = *map;

    map->size = old.size ? 2 * old.size : FIRST_SIZE;
    map->entry = need(malloc(map->size * sizeof(*map->entry)));
    for (uint32_t i = 0; i < map->size; i++) {
        map->entry[i] = (struct map_entry){ 0, MAP_NONE };
    }
    for (uint32_t i = 0; i < old.size; i++) {
        if (old.entry[i].value != MAP_NONE) {
            map->entry[entry_of(map, old.entry[i].key)] = old.entry[i];
        }
    }
    free(old.entry);
}

uint32_t map_get(const struct map *map, uint64_t key)
{
    return map->size ? map->entry[entry_of(map, key)].value : MAP_NONE;
}

void map_set(struct map *map, uint64_t key, uint32_t value)
{
    if (2 * (map->used + 1) > map->size) {
        grow(map);
    }
    struct map_entry *entry = &map->entry[entry_of(map, key)];
    map->used += entry->value == MAP_NONE;
    *entry = (struct map_entry){ key, value };
}

void map_free(struct map *map)
{
    free(map->entry);
    *map = (struct map){ .size = 0 };
}

/* ---- texts ---- */

static uint64_t hash_of(const char *text, size_t bytes)
{
    uint64_t hash = FNV_START;

    for (size_t i = 0; i < bytes; i++) {
        hash = (hash ^ (uint8_t)text[i]) * FNV_PRIME;
    }
    return hash;
}

/* Texts of one hash follow each other under the next keys. */
uint32_t texts_add(struct texts *texts, const char *text, size_t bytes)
{
    uint64_t key = hash_of(text, bytes);

    for (uint32_t found; (found = map_get(&texts->by_hash, key)) != MAP_NONE; key++) {
        if (strlen(texts->text[found]) == bytes && memcmp(texts->text[found], text, bytes) == 0) {
            return found;
        }
    }
    texts->text = list_more(texts->text, texts->count, sizeof(*texts->text));
    char *copy = need(malloc(bytes + 1));
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    texts->text[texts->count] = copy;
    map_set(&texts->by_hash, key, texts->count);
    return texts->count++;
}

uint32_t texts_format(struct texts *texts, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return texts_add(texts, text, strlen(text));
}

void texts_free(struct texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++) {
        free(texts->text[i]);
    }
    free(texts->text);
    map_free(&texts->by_hash);
    *texts = (struct texts){ .count = 0 };
}

/* ---- lists ---- */

void *list_more(void *list, uint32_t count, size_t size)
{
    bool full = count == 0 || (count >= FIRST_SIZE && (count & (count - 1)) == 0);

    return full ? need(reallocarray(list, count ? 2 * (size_t)count : FIRST_SIZE, size)) : list;
}
