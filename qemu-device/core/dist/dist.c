/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The distributor as a whole. Task-table slots and the distribution of CTAs (A5, A6, A8): the SMs ask for CTAs; what
 * they got they give back with dist_done() or dist_killed(). A slot is free again when nothing of it is on any SM, and
 * its last event says why.
 */
#include "qemu-device/core/dist/dist.h"
#include "ppu/limits.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/switch_area.h"

#include <stdlib.h>
#include <string.h>

bool dist_take_stirred(struct dist *dist)
{
    bool stirred = dist->stirred;

    dist->stirred = false;
    return stirred;
}

void dist_reset(struct core *core)
{
    struct dist *dist = &core->dist;

    pthread_mutex_lock(&dist->lock);
    for (uint32_t i = 0; i < PPU_MAX_SLOTS; i++) {
        free(dist->slot[i].switched_cta);
        memset(&dist->slot[i], 0, sizeof(dist->slot[i]));
        dist->slot[i].task.slot = i;
    }
    mask_clear(&dist->offering, UINT64_MAX);
    mask_clear(&dist->killing, UINT64_MAX);
    mask_clear(&dist->saving, UINT64_MAX);
    mask_clear(&dist->claiming, UINT64_MAX);
    mask_clear(&dist->preempting, UINT64_MAX);
    mask_clear(&dist->leaving, UINT64_MAX);
    memset(dist->present, 0, sizeof(dist->present));
    for (uint32_t i = 0; i < PPU_MAX_CONTEXTS; i++) {
        switch_close(core, i);
    }
    memset(dist->cursor, 0, sizeof(dist->cursor));
    memset(dist->used, 0, sizeof(dist->used));
    memset(dist->gpc_ctas, 0, sizeof(dist->gpc_ctas));
    dist->all_ctas = 0;
    __atomic_store_n(&dist->gangs, 0, __ATOMIC_SEQ_CST);
    dist->gang_clock = 0;
    dist->stood_back = false;
    dist->stirred = false;
    dist->flush_head = 0;
    dist->flush_count = 0;
    dist->flush_left = 0;
    pthread_mutex_unlock(&dist->lock);
}

void dist_free(struct core *core)
{
    for (uint32_t i = 0; i < PPU_MAX_SLOTS; i++) {
        free(core->dist.slot[i].switched_cta);
    }
    for (uint32_t i = 0; i < PPU_MAX_CONTEXTS; i++) {
        switch_close(core, i);
    }
}
