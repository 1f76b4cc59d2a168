/* SPDX-License-Identifier: MIT */
/*
 * Keeps the capabilities of the device: reads the identity registers once (A1) and checks them against what this build
 * can serve, so that every count below may index the static arrays.
 */
#ifndef FIRMWARE_CAPS_H
#define FIRMWARE_CAPS_H

#include <stdint.h>

#include "ppu/regs.h"

struct caps {
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

extern struct caps caps;

/* 0, or the offset of the register whose value this firmware cannot serve. */
uint32_t caps_init(void);

#endif
