/* SPDX-License-Identifier: MIT */
#include "firmware/hooks.h"

#include "firmware/hal.h"

bool hooks_allow_allocation(void)
{
    return !(caps.features & PPU_FEATURE_TEST_HOOKS) || hal_read(PPU_REG_HOOK_FAIL_ALLOC) != 1;
}

/* Ends when the host releases what is held; it can also hold the MCU in reset. */
void hooks_hold(uint32_t mark)
{
    hal_write(PPU_REG_MARK, mark);
    while (hal_read(PPU_REG_HOOK_MARK_HELD)) {
    }
}
