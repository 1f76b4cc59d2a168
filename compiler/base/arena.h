/* SPDX-License-Identifier: MIT */
/* Allocates the memory of one compilation piece by piece (an arena); it is freed all at once. */
#ifndef COMPILER_BASE_ARENA_H
#define COMPILER_BASE_ARENA_H

#include <setjmp.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    jmp_buf *no_memory; /* where arena_alloc() goes when there is none */
};

/* `bytes` zeros, aligned for anything. */
void *arena_alloc(struct arena *arena, size_t bytes);
void arena_free(struct arena *arena);

#define arena_new(arena, type, count) ((type *)arena_alloc((arena), sizeof(type) * (size_t)(count)))

/* Doubles an array of `count` elements when `cap` of them are in use; the old one stays in the arena. */
void *arena_grow(struct arena *arena, void *array, size_t element_bytes, unsigned count, unsigned *cap);

#endif
