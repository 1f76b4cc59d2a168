/* SPDX-License-Identifier: MIT */
/* Declares what hal_mcu.c has for the start-up code alone. */
#ifndef FIRMWARE_HAL_MCU_H
#define FIRMWARE_HAL_MCU_H

#include <stdint.h>

#include "ppu/regs.h"

/* A register of the device. Inline: the start-up code calls nothing outside the first 4 KiB before it has checked the
 * rest. */
static inline volatile uint32_t *hal_mcu_reg(uint32_t reg)
{
    return (volatile uint32_t *)(PPU_MCU_REGS + reg);
}

void hal_interrupts_enable(void);

/* Where hal_crash() was called; line 0: it was not. */
extern const char *hal_crash_file;
extern uint32_t hal_crash_line;

#endif
