/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Additions that an SM has gathered (struct pending_adds). */
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/sm.h"

#include "qemu-device/core/memory/guest_mem.h"

void pending_adds_flush(struct sm *sm)
{
    struct pending_adds *const adds = &sm->pending_adds;
    uint8_t *const base = adds->base;

    if (!base) {
        return;
    }
    adds->base = NULL;
    for (uint32_t word = adds->first; word <= adds->last; word++) {
        if (adds->value[word] != 0) {
            vram_rmw_add32(base + (size_t)word * sizeof(uint32_t), adds->value[word]);
            adds->value[word] = 0;
        }
    }
}

bool pending_adds_open(struct sm *sm, uintptr_t least, uintptr_t most)
{
    struct pending_adds *const adds = &sm->pending_adds;
    const uintptr_t base = least / PENDING_ADDS_STEP * PENDING_ADDS_STEP;

    if (most - base >= PENDING_ADDS_BYTES) {
        return false;
    }
    pending_adds_flush(sm);
    adds->base = (uint8_t *)base;
    adds->first = PENDING_ADDS_BYTES / sizeof(uint32_t) - 1u;
    adds->last = 0;
    return true;
}
