/* SPDX-License-Identifier: MIT */
/*
 * Hands out ranges of an address space, first fit: VRAM, virtual addresses, page-table
 * pages, bus addresses. Not thread-safe: the owner has the lock.
 */
#ifndef RUNTIME_RANGE_H
#define RUNTIME_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct range_node;

struct range_pool {
    struct range_node *first; /* every range, used and free, by address, without gaps */
};

/* False: no memory. An empty pool has nothing to hand out. */
bool range_pool_init(struct range_pool *pool, uint64_t start, uint64_t bytes);
void range_pool_fini(struct range_pool *pool);

/* `align` is a power of two. False: no free range is large enough, or no memory. */
bool range_take(struct range_pool *pool, uint64_t bytes, uint64_t align, uint64_t *start);
/* Takes exactly this range. False: part of it is taken or outside, or no memory. */
bool range_take_at(struct range_pool *pool, uint64_t start, uint64_t bytes);
/* Gives back what range_take() or range_take_at() gave. */
void range_give(struct range_pool *pool, uint64_t start);

#endif
