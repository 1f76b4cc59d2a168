/* SPDX-License-Identifier: MIT */
#include "firmware/machine.h"

#include "firmware/hal.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

struct machine machine;

#define VRAM_MIN (16ull * PPU_MIB)

struct count {
    uint32_t reg;
    uint32_t least;
    uint32_t most;
    uint32_t *value;
};

static const struct count counts[] = {
    { PPU_REG_CHANNELS, 1, PPU_MAX_CHANNELS, &machine.channels },
    { PPU_REG_CONTEXTS, 1, PPU_MAX_CONTEXTS, &machine.contexts },
    { PPU_REG_SLOTS, 1, PPU_MAX_SLOTS, &machine.slots },
    { PPU_REG_SMS, 1, PPU_MAX_SMS, &machine.sms },
    { PPU_REG_SM_WARPS, 1, UINT32_MAX, &machine.sm_warps },
    { PPU_REG_SM_VREGS, 1, UINT32_MAX, &machine.sm_vregs },
    { PPU_REG_SM_SHARED, 0, UINT32_MAX, &machine.sm_shared },
    { PPU_REG_VECTORS, PPU_VECTOR_FIRST_CHANNEL, PPU_MAX_VECTORS, &machine.vectors },
    { PPU_REG_COPIES, 1, UINT32_MAX, &machine.copies },
};

uint32_t machine_init(void)
{
    machine.features = hal_read(PPU_REG_FEATURES);
    machine.vram_bytes = hal_read(PPU_REG_VRAM_SIZE_LO) | (uint64_t)hal_read(PPU_REG_VRAM_SIZE_HI) << 32;
    if (machine.vram_bytes < VRAM_MIN) {
        return PPU_REG_VRAM_SIZE_LO;
    }
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(counts); i++) {
        *counts[i].value = hal_read(counts[i].reg);
        if (*counts[i].value < counts[i].least || *counts[i].value > counts[i].most) {
            return counts[i].reg;
        }
    }
    /* A channel's entry of the semaphore table has the channel's number. */
    return hal_read(PPU_REG_ARMED) < machine.channels ? (uint32_t)PPU_REG_ARMED : 0;
}

bool machine_allows_allocation(void)
{
    return !(machine.features & PPU_FEATURE_TEST_HOOKS) || hal_read(PPU_REG_HOOK_FAIL_ALLOC) != 1;
}

/* Ends when the host releases what is held; it can also hold the MCU in reset. */
void machine_hold(uint32_t mark)
{
    hal_write(PPU_REG_MARK, mark);
    while (hal_read(PPU_REG_HOOK_MARK_HELD)) {
    }
}
