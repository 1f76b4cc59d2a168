/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements the microcontroller's side: bring-up, interrupt lines, vectors, timer. All [lock]. */
#ifndef QEMU_DEVICE_CORE_MCU_H
#define QEMU_DEVICE_CORE_MCU_H

#include <stdint.h>

#include "ppu/regs.h"

struct core;

void mcu_control(struct core *core, uint32_t value);
void mcu_irq_raise(struct core *core, enum ppu_irq line);
void mcu_irq_clear(struct core *core, uint32_t lines);
void mcu_vector_raise(struct core *core, uint32_t vector);
void mcu_timer_arm(struct core *core);
void mcu_timer_run(struct core *core, uint64_t now_ns);

#endif
