/* SPDX-License-Identifier: MIT */
#include "firmware/caps.h"

#include "firmware/hal.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

struct caps caps;

struct count {
    uint32_t reg;
    uint32_t least;
    uint32_t most;
    uint32_t *value;
};

static const struct count counts[] = {
    { PPU_REG_CHANNELS, 1, PPU_MAX_CHANNELS, &caps.channels },
    { PPU_REG_CONTEXTS, 1, PPU_MAX_CONTEXTS, &caps.contexts },
    { PPU_REG_SLOTS, 1, PPU_MAX_SLOTS, &caps.slots },
    { PPU_REG_SMS, 1, PPU_MAX_SMS, &caps.sms },
    { PPU_REG_SM_WARPS, 1, UINT32_MAX, &caps.sm_warps },
    { PPU_REG_SM_VREGS, 1, UINT32_MAX, &caps.sm_vregs },
    { PPU_REG_SM_SHARED, 0, UINT32_MAX, &caps.sm_shared },
    { PPU_REG_VECTORS, PPU_VECTOR_FIRST_CHANNEL, PPU_MAX_VECTORS, &caps.vectors },
    { PPU_REG_COPIES, 1, UINT32_MAX, &caps.copies },
};

uint32_t caps_init(void)
{
    caps.features = hal_read(PPU_REG_FEATURES);
    caps.vram_bytes = hal_read(PPU_REG_VRAM_SIZE_LO) | (uint64_t)hal_read(PPU_REG_VRAM_SIZE_HI) << 32;
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(counts); i++) {
        *counts[i].value = hal_read(counts[i].reg);
        if (*counts[i].value < counts[i].least || *counts[i].value > counts[i].most) {
            return counts[i].reg;
        }
    }
    if (caps.vram_bytes < PPU_MIN_VRAM(caps.sms, caps.channels)) {
        return PPU_REG_VRAM_SIZE_LO;
    }
    /* A channel's entry of the semaphore table has the channel's number. */
    return hal_read(PPU_REG_ARMED) < caps.channels ? (uint32_t)PPU_REG_ARMED : 0;
}
