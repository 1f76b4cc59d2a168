/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Additions that an SM has gathered (struct sums). */
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/sm.h"

#include "qemu-device/core/memory/guest_mem.h"

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
