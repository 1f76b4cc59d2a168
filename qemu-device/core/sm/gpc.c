/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/sm/gpc.h"
#include "ppu/mmu.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/sm.h"

#define CONTEXT_SHIFT 52u /* pages of an address space have smaller numbers */

bool gpc_init(struct gpc *gpc, const struct core_config *config)
{
    pthread_mutex_init(&gpc->lock, NULL);
    gpc->exists = true;
    return cache_alloc(&gpc->l15, config->l15_bytes, config->l15_ways, config->cache_line) &&
           cache_alloc(&gpc->tlb, config->gpc_tlb, config->gpc_tlb_ways, 1);
}

void gpc_free(struct gpc *gpc)
{
    if (gpc->exists) {
        pthread_mutex_destroy(&gpc->lock);
        cache_free(&gpc->l15);
        cache_free(&gpc->tlb);
    }
}

void gpc_empty(struct gpc *gpc)
{
    pthread_mutex_lock(&gpc->lock);
    cache_empty(&gpc->l15);
    cache_empty(&gpc->tlb);
    for (uint32_t slot = 0; slot < PPU_MAX_SLOTS; slot++) {
        gpc->started[slot] = 0;
    }
    for (uint32_t i = 0; i < GPC_COUNTERS; i++) {
        gpc->count[i] = 0;
    }
    pthread_mutex_unlock(&gpc->lock);
}

static uint64_t line_of(const struct sm *sm, uint64_t vram_offset)
{
    return vram_offset >> (uint32_t)__builtin_ctz(sm->config->cache_line);
}

/* With the lock. */
static void use_line(struct gpc *gpc, uint64_t line)
{
    gpc->count[cache_use(&gpc->l15, line, true) ? GPC_L15_HITS : GPC_L15_MISSES]++;
}

void gpc_see_task(struct sm *sm, const struct dist_task *task)
{
    const uint64_t first = line_of(sm, task->tmd.params_vram);
    struct gpc *const gpc = sm->gpc;

    pthread_mutex_lock(&gpc->lock);
    if (gpc->started[task->slot] != task->start) {
        gpc->started[task->slot] = task->start;
        cache_empty(&gpc->l15);
    }
    for (uint64_t line = first; task->tmd.param_bytes != 0; line++) {
        use_line(gpc, line);
        if (line == line_of(sm, task->tmd.params_vram + task->tmd.param_bytes - 1)) {
            break;
        }
    }
    pthread_mutex_unlock(&gpc->lock);
}

void gpc_fetch(struct sm *sm, const uint8_t *insn)
{
    pthread_mutex_lock(&sm->gpc->lock);
    use_line(sm->gpc, line_of(sm, (uint64_t)(insn - sm->vram)));
    pthread_mutex_unlock(&sm->gpc->lock);
}

void gpc_translate(struct sm *sm, uint32_t context, uint64_t page_va)
{
    const uint64_t page = page_va / PPU_PAGE_4K;
    /* Pages of 64 KiB, too, are spread over all sets. */
    const uint64_t line = (page ^ page >> 4 ^ context) | (uint64_t)context << CONTEXT_SHIFT;
    struct gpc *const gpc = sm->gpc;

    pthread_mutex_lock(&gpc->lock);
    gpc->count[cache_use(&gpc->tlb, line, true) ? GPC_TLB_HITS : GPC_TLB_MISSES]++;
    pthread_mutex_unlock(&gpc->lock);
}

void gpc_flush(struct gpc *gpc)
{
    pthread_mutex_lock(&gpc->lock);
    cache_empty(&gpc->tlb);
    pthread_mutex_unlock(&gpc->lock);
}

uint64_t gpc_count(struct gpc *gpc, enum gpc_counter counter)
{
    pthread_mutex_lock(&gpc->lock);
    uint64_t count = gpc->count[counter];
    pthread_mutex_unlock(&gpc->lock);
    return count;
}
