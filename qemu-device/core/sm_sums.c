/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Additions that an SM has gathered (struct sums), and the ends of CTAs that nobody is told of before they are in
 * memory.
 */
#include "sm_state.h"

#include "guest_mem.h"

#include <string.h>

void sums_empty(struct sm *sm)
{
    struct sums *const sums = &sm->sums;
    uint8_t *const base = sums->base;

    if (base == NULL) {
        return;
    }
    sums->base = NULL;
    for (uint32_t word = sums->first; word <= sums->last; word++) {
        if (sums->value[word] != 0) {
            vram_rmw_add32(base + (size_t)word * sizeof(uint32_t), sums->value[word]);
            sums->value[word] = 0;
        }
    }
}

bool sums_open(struct sm *sm, uintptr_t least, uintptr_t most)
{
    struct sums *const sums = &sm->sums;
    const uintptr_t base = least / SUMS_STEP * SUMS_STEP;

    if (most - base >= SUMS_BYTES) {
        return false;
    }
    sums_empty(sm);
    sums->base = (uint8_t *)base;
    sums->first = SUMS_BYTES / sizeof(uint32_t) - 1u;
    sums->last = 0;
    return true;
}

bool sums_hold(struct sm *sm, const struct dist_cta *ended, const uint64_t count[PPU_COUNTERS])
{
    struct sums *const sums = &sm->sums;

    if (sums->base == NULL || sums->held == SUMS_HELD) {
        return false;
    }
    sums->ended[sums->held] = *ended;
    memcpy(sums->count[sums->held++], count, sizeof(sums->count[0]));
    return true;
}

void sums_settle(struct sm *sm)
{
    struct sums *const sums = &sm->sums;
    const uint32_t held = sums->held;

    sums_empty(sm);
    if (held != 0) {
        __atomic_store_n(&sm->has_work, 1, __ATOMIC_SEQ_CST); /* what they had is free again */
    }
    sums->held = 0;
    for (uint32_t i = 0; i < held; i++) {
        dist_done(sm->core, sm->number, &sums->ended[i], sums->count[i]);
    }
}

void sums_drop(struct sm *sm)
{
    memset(&sm->sums, 0, sizeof(sm->sums));
}
