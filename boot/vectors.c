/* SPDX-License-Identifier: MIT */
/* Fills the vector table: stack, reset, 14 exceptions of the core, the interrupt lines of the device (enum ppu_irq). */
#include "boot/image.h"
#include "firmware/hal_mcu.h"
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
    [2 ... CORE_EXCEPTIONS - 1] = { .handler = crash_entry },
    [CORE_EXCEPTIONS... CORE_EXCEPTIONS + PPU_IRQ_COUNT - 1] = { .handler = hal_interrupt },
};
