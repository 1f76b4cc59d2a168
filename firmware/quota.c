/* SPDX-License-Identifier: MIT */
#include "firmware/quota.h"

#include <string.h>

#include "firmware/hal.h"
#include "firmware/state.h"
#include "ppu/fault.h"
#include "ppu/macros.h"

FW_DMA struct quota_pool quota_pools[PPU_RESOURCES];

static const struct ppu_state_span quota_spans[] = {
#define PPU_STATE_QUOTA(name, member, doc) STATE_SPAN(struct quota_pool, member),
#include "ppu/state.def"
};

const struct state_rows quota_state_rows = {
    .rows = quota_pools,
    .most = PPU_RESOURCES,
    .stride = sizeof(quota_pools[0]),
    .first = PPU_STATE_QUOTA_TOTAL,
    .spans = PPU_ARRAY_SIZE(quota_spans),
    .span = quota_spans,
};

static const uint8_t kept_for_each[PPU_RESOURCES] = {
#define PPU_RESOURCE(name, number, kept, doc) [PPU_RESOURCE_##name] = (kept),
#include "ppu/resource.def"
#undef PPU_RESOURCE
};

void quota_init(void)
{
    memset(quota_pools, 0, sizeof(quota_pools));
}

void quota_total(enum ppu_resource resource, uint32_t total)
{
    FW_ASSERT(total <= UINT16_MAX);
    struct quota_pool *pool = &quota_pools[resource];
    *pool = (struct quota_pool){ .total = total, .free = total };
    for (uint32_t i = 0; i < PPU_MAX_CONTEXTS; i++) {
        pool->of[i].most = (uint16_t)total;
    }
}

void quota_open(uint32_t context)
{
    for (uint32_t i = 0; i < PPU_RESOURCES; i++) {
        struct quota_pool *pool = &quota_pools[i];
        struct quota *quota = &pool->of[context];
        quota->most = (uint16_t)pool->total;
        quota->own = kept_for_each[i];
        pool->kept += quota->held ? 0u : quota->own;
    }
}

void quota_close(uint32_t context)
{
    for (uint32_t i = 0; i < PPU_RESOURCES; i++) {
        struct quota_pool *pool = &quota_pools[i];
        struct quota *quota = &pool->of[context];
        pool->kept -= quota->held ? 0u : quota->own;
        quota->own = 0;
    }
}

bool quota_set(uint32_t context, uint32_t resource, uint32_t most)
{
    if (most == 0 || most > quota_pools[resource].total) {
        return false;
    }
    quota_pools[resource].of[context].most = (uint16_t)most;
    return true;
}

/* An address space may have what is kept for itself, however little is left for others. */
static bool may_have(enum ppu_resource resource, uint32_t context, uint32_t count)
{
    const struct quota_pool *pool = &quota_pools[resource];
    const struct quota *quota = &pool->of[context];
    uint32_t own = quota->held ? 0 : quota->own;
    if (count > pool->free || quota->held + count > quota->most) {
        return false;
    }
    return count <= own || count + pool->kept - own <= pool->free;
}

enum ppu_fault quota_refusal(enum ppu_resource resource, uint32_t context)
{
    bool exists = quota_pools[resource].free != 0;
    return exists && !may_have(resource, context, 1) ? PPU_FAULT_QUOTA : PPU_FAULT_NO_RESOURCE;
}

bool quota_take_many(enum ppu_resource resource, uint32_t context, uint32_t count)
{
    struct quota_pool *pool = &quota_pools[resource];
    struct quota *quota = &pool->of[context];
    if (!may_have(resource, context, count)) {
        return false;
    }
    pool->kept -= quota->held ? 0u : quota->own;
    quota->held = (uint16_t)(quota->held + count);
    pool->free -= count;
    return true;
}

void quota_give_many(enum ppu_resource resource, uint32_t context, uint32_t count)
{
    struct quota_pool *pool = &quota_pools[resource];
    struct quota *quota = &pool->of[context];
    FW_ASSERT(quota->held >= count);
    quota->held = (uint16_t)(quota->held - count);
    pool->free += count;
    pool->kept += quota->held ? 0u : quota->own;
}
