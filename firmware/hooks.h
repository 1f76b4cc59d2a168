/* SPDX-License-Identifier: MIT */
/* Serves test hooks, when the device has them: allocations that fail, and marks at which the firmware is held. */
#ifndef FIRMWARE_HOOKS_H
#define FIRMWARE_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/caps.h"

/* False when the test hook makes this allocation fail (HOOK_FAIL_ALLOC). Ask once for each allocation. */
bool hooks_allow_allocation(void);

/* Stays while a test hook holds the firmware at the mark. */
void hooks_hold(uint32_t mark);

/* Where a test hook may hold the firmware, so that others go on between two of its accesses: a mark (mark.def). */
static inline void hooks_hold_point(uint32_t mark)
{
    if (caps.features & PPU_FEATURE_TEST_HOOKS) {
        hooks_hold(mark);
    }
}

#endif
