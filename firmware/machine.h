/* SPDX-License-Identifier: MIT */
/*
 * Reads the identity registers once (A1) and checks them against what this build can serve, so that every count below
 * may index the static arrays.
 */
#ifndef FIRMWARE_MACHINE_H
#define FIRMWARE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/regs.h"

struct machine {
    uint64_t vram_bytes;
    uint32_t features; /* PPU_FEATURE_* */
    uint32_t channels;
    uint32_t contexts;
    uint32_t slots;
    uint32_t sms;
    uint32_t sm_warps;  /* passes of 32 lanes */
    uint32_t sm_vregs;  /* 32-bit registers, over all lanes */
    uint32_t sm_shared; /* bytes */
    uint32_t vectors;
    uint32_t copies;
};

extern struct machine machine;

/* 0, or the offset of the register whose value this firmware cannot serve. */
uint32_t machine_init(void);

/* False when the test hook makes this allocation fail (HOOK_FAIL_ALLOC). Ask once for each allocation. */
bool machine_allows_allocation(void);

/* Stays while a test hook holds the firmware at the mark. */
void machine_hold(uint32_t mark);

/* Where a test hook may hold the firmware, so that others go on between two of its accesses: a mark (mark.def). */
static inline void machine_hold_point(uint32_t mark)
{
    if (machine.features & PPU_FEATURE_TEST_HOOKS) {
        machine_hold(mark);
    }
}

#endif
