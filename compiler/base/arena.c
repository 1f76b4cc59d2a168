/* SPDX-License-Identifier: MIT */
#include "compiler/base/arena.h"

#include "ppu/macros.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (256u * 1024u)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used;
    size_t size;
    max_align_t data[];
};

static struct arena_chunk *chunk_new(struct arena *arena, size_t bytes)
{
    size_t size = PPU_MAX(bytes, CHUNK_BYTES);
    struct arena_chunk *chunk = bytes < SIZE_MAX / 2 ? calloc(1, sizeof(*chunk) + size) : NULL;

    if (!chunk) {
        longjmp(*arena->no_memory, 1);
    }
    chunk->size = size;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    struct arena_chunk *chunk = arena->chunks;
    size_t rounded = ppu_align_up64(bytes, alignof(max_align_t));

    if (!chunk || chunk->size - chunk->used < rounded) {
        chunk = chunk_new(arena, rounded);
    }
    chunk->used += rounded;
    return (char *)chunk->data + chunk->used - rounded;
}

void *arena_grow(struct arena *arena, void *array, size_t element_bytes, unsigned count, unsigned *cap)
{
    if (count < *cap) {
        return array;
    }
    *cap = *cap != 0 ? 2 * *cap : 8;
    void *grown = arena_alloc(arena, element_bytes * *cap);
    if (count != 0) {
        memcpy(grown, array, element_bytes * count);
    }
    return grown;
}

void arena_free(struct arena *arena)
{
    while (arena->chunks) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}
