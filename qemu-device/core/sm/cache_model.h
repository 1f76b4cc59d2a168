/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Models a set-associative cache, as far as hits and misses go (A10): which lines it has, and which of a set was used
 * last. It holds no data. A line belongs to the set that its number gives, modulo their count; the least recently used
 * of a set gives place.
 */
#ifndef QEMU_DEVICE_CORE_SM_CACHE_MODEL_H
#define QEMU_DEVICE_CORE_SM_CACHE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cache {
    uint64_t *way; /* [set][way]: number of the line + 1, that used last first; 0: none, behind all others */
    uint32_t sets; /* a power of two */
    uint32_t ways;
};

/* `bytes` and `line_bytes` are powers of two, and so are `ways`; at least one set. False: out of memory. */
bool cache_alloc(struct cache *cache, uint32_t bytes, uint32_t ways, uint32_t line_bytes);
void cache_free(struct cache *cache);
void cache_empty(struct cache *cache);
/* True: the line is there; it is the one used last now. One that is not is brought in when `fetch` says so. */
bool cache_use(struct cache *cache, uint64_t line, bool fetch);
/* The line is not there any more. */
void cache_drop(struct cache *cache, uint64_t line);
size_t cache_state_bytes(const struct cache *cache); /* of what `way` points to: all state there is */

#endif
