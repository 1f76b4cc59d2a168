/* SPDX-License-Identifier: MIT */
/*
 * Keeps quotas (resource.def): how much of the shared resources each address space may have. Beside its quota, nobody
 * who has some gets what is kept for those that have none, so that each can always run a task.
 */
#ifndef FIRMWARE_QUOTA_H
#define FIRMWARE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/crash.h"
#include "ppu/admin.h"
#include "ppu/limits.h"

struct quota {
    uint16_t held;
    uint16_t most;
    uint16_t own; /* kept for it while it is open and has none */
};

struct quota_pool {
    uint32_t total;
    uint32_t free;
    uint32_t kept; /* of those that are free, for open address spaces that have none */
    struct quota of[PPU_MAX_CONTEXTS];
};

extern struct quota_pool quota_pools[PPU_RESOURCES];

/* Before whoever owns a pool says how much there is of it. */
void quota_init(void);
void quota_total(enum ppu_resource resource, uint32_t total);

/* An address space opens, with the right to everything; or closes. */
void quota_open(uint32_t context);
void quota_close(uint32_t context);

/* False: not 1 to the number there are. What it has beyond that it keeps. */
bool quota_set(uint32_t context, uint32_t resource, uint32_t most);

/* For what was not given: QUOTA when there is some that it may not have, else NO_RESOURCE. */
enum ppu_fault quota_refusal(enum ppu_resource resource, uint32_t context);

bool quota_take_many(enum ppu_resource resource, uint32_t context, uint32_t count);
void quota_give_many(enum ppu_resource resource, uint32_t context, uint32_t count);

/* The compiler would add up the address of each member by itself: it is kept from knowing where this points. */
static inline struct quota *quota_of(enum ppu_resource resource, uint32_t context)
{
    struct quota *quota = &quota_pools[resource].of[context];
    __asm__("" : "+r"(quota));
    return quota;
}

static inline uint32_t quota_held(enum ppu_resource resource, uint32_t context)
{
    return quota_pools[resource].of[context].held;
}

/* False, and nothing has changed: it may not have another. */
static inline bool quota_take(enum ppu_resource resource, uint32_t context)
{
    struct quota_pool *pool = &quota_pools[resource];
    struct quota *quota = quota_of(resource, context);
    uint32_t own = quota->held ? 0 : quota->own;
    if (quota->held >= quota->most || (own ? pool->free == 0 : pool->free <= pool->kept)) {
        return false;
    }
    pool->kept -= own;
    pool->free--;
    quota->held++;
    return true;
}

static inline void quota_give(enum ppu_resource resource, uint32_t context)
{
    struct quota_pool *pool = &quota_pools[resource];
    struct quota *quota = quota_of(resource, context);
    FW_ASSERT(quota->held);
    pool->free++;
    if (--quota->held == 0) {
        pool->kept += quota->own;
    }
}

#endif
