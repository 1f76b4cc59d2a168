/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device as the MCU and the host signal through it: MCU control, interrupt lines, MSI-X vectors, the MCU's timer.
 */
#include "qemu-device/core/mcu.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/memory/clear.h"
#include "qemu-device/core/regs.h"

#define CONTROL_RUN 1u

void mcu_control(struct core *core, uint32_t value)
{
    bool run = value & CONTROL_RUN;

    if (run == (reg_get(core, PPU_REG_MCU_CONTROL) & CONTROL_RUN)) {
        return;
    }
    reg_set(core, PPU_REG_MCU_CONTROL, run);
    reg_set(core, PPU_REG_BOOT_STATUS, 0);
    reg_set(core, PPU_REG_BOOT_DETAIL, 0);
    if (!run || !clear_going(core)) {
        core->ops.mcu_run(core->opaque, run);
    }
}

void mcu_irq_raise(struct core *core, enum ppu_irq line)
{
    reg_set(core, PPU_REG_IRQ_PENDING, reg_get(core, PPU_REG_IRQ_PENDING) | 1u << line);
    core->ops.mcu_irq(core->opaque, line, true);
}

void mcu_irq_clear(struct core *core, uint32_t lines)
{
    uint32_t pending = reg_get(core, PPU_REG_IRQ_PENDING);

    reg_set(core, PPU_REG_IRQ_PENDING, pending & ~lines);
    for (uint32_t line = 0; line < PPU_IRQ_COUNT; line++) {
        if (pending & lines & 1u << line) {
            core->ops.mcu_irq(core->opaque, line, false);
        }
    }
}

void mcu_vector_raise(struct core *core, uint32_t vector)
{
    reg_set(core, PPU_REG_VECTOR_PENDING, reg_get(core, PPU_REG_VECTOR_PENDING) | 1u << vector);
    core->ops.raise_vector(core->opaque, vector);
}

void mcu_timer_arm(struct core *core)
{
    core->timer_ns = reg_get(core, PPU_REG_TIMER_LO) | (uint64_t)reg_get(core, PPU_REG_TIMER_HI) << 32;
    core_timer_request(core);
}

void mcu_timer_run(struct core *core, uint64_t now_ns)
{
    if (core->timer_ns <= now_ns && core->timer_ns != CORE_NEVER) {
        core->timer_ns = CORE_NEVER;
        mcu_irq_raise(core, PPU_IRQ_TIMER);
    }
}
