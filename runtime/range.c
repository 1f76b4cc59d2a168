/* SPDX-License-Identifier: MIT */
#include "runtime/range.h"

#include <assert.h>
#include <stdlib.h>

struct range_node {
    struct range_node *prev, *next;
    uint64_t start, bytes;
    bool used;
};

static struct range_node *node_new(uint64_t start, uint64_t bytes)
{
    struct range_node *node = calloc(1, sizeof(*node));

    if (node) {
        node->start = start;
        node->bytes = bytes;
    }
    return node;
}

static void node_insert_after(struct range_node *node, struct range_node *added)
{
    added->prev = node;
    added->next = node->next;
    if (node->next) {
        node->next->prev = added;
    }
    node->next = added;
}

/* Cuts `node` in two at `bytes`; false: no memory. */
static bool node_split(struct range_node *node, uint64_t bytes)
{
    if (bytes == node->bytes) {
        return true;
    }
    struct range_node *rest = node_new(node->start + bytes, node->bytes - bytes);
    if (!rest) {
        return false;
    }
    node->bytes = bytes;
    node_insert_after(node, rest);
    return true;
}

/* Joins a free node with the next one when that is free too. */
static void node_merge(struct range_node *node)
{
    struct range_node *next = node->next;

    if (!next || node->used || next->used) {
        return;
    }
    node->bytes += next->bytes;
    node->next = next->next;
    if (next->next) {
        next->next->prev = node;
    }
    free(next);
}

bool range_pool_init(struct range_pool *pool, uint64_t start, uint64_t bytes)
{
    pool->first = node_new(start, bytes);
    return pool->first;
}

void range_pool_fini(struct range_pool *pool)
{
    struct range_node *next = NULL;

    for (struct range_node *node = pool->first; node; node = next) {
        next = node->next;
        free(node);
    }
    pool->first = NULL;
}

/* Bytes to leave out at the front of `node` so that what follows is aligned; false: `bytes` do not fit then. */
static bool node_fits(const struct range_node *node, uint64_t bytes, uint64_t align, uint64_t *skip)
{
    *skip = -node->start & (align - 1);
    return !node->used && *skip <= node->bytes && bytes <= node->bytes - *skip;
}

/* Takes `bytes` of a free node, `skip` from its start; false: no memory. */
static bool node_take(struct range_node *node, uint64_t skip, uint64_t bytes, uint64_t *start)
{
    if (skip > 0) {
        if (!node_split(node, skip)) {
            return false;
        }
        node = node->next;
    }
    if (!node_split(node, bytes)) {
        if (skip > 0) {
            node_merge(node->prev);
        }
        return false;
    }
    node->used = true;
    *start = node->start;
    return true;
}

bool range_take(struct range_pool *pool, uint64_t bytes, uint64_t align, uint64_t *start)
{
    for (struct range_node *node = pool->first; node && bytes > 0; node = node->next) {
        uint64_t skip = 0;
        if (node_fits(node, bytes, align, &skip)) {
            return node_take(node, skip, bytes, start);
        }
    }
    return false;
}

bool range_take_at(struct range_pool *pool, uint64_t start, uint64_t bytes)
{
    for (struct range_node *node = pool->first; node && bytes > 0; node = node->next) {
        if (node->start <= start && start - node->start < node->bytes) {
            uint64_t skip = start - node->start;
            return !node->used && bytes <= node->bytes - skip && node_take(node, skip, bytes, &start);
        }
    }
    return false;
}

void range_give(struct range_pool *pool, uint64_t start)
{
    struct range_node *node = pool->first;

    while (node && node->start != start) {
        node = node->next;
    }
    assert(node && node->used);
    node->used = false;
    node_merge(node);
    if (node->prev) {
        node_merge(node->prev);
    }
}
