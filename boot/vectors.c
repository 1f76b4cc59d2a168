/* SPDX-License-Identifier: MIT */
/*
 * Fills the vector table: stack, reset, 14 exceptions of the core. The interrupt lines of the device (enum ppu_irq)
 * stay masked (firmware/hal_mcu.c).
 */
#include "boot/image.h"
#include "ppu/regs.h"

#define CORE_EXCEPTIONS 16

union vector {
    void (*handler)(void);
    const void *stack;
};

extern const union vector vectors[CORE_EXCEPTIONS + PPU_IRQ_COUNT];

__attribute__((section(".vectors"), used)) const union vector vectors[CORE_EXCEPTIONS + PPU_IRQ_COUNT] = {
    [0] = { .stack = __stack_top },
    [1] = { .handler = start },
    [2 ... CORE_EXCEPTIONS + PPU_IRQ_COUNT - 1] = { .handler = crash_entry },
};
