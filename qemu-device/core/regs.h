/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the registers: their values, reset and snapshot. */
#ifndef QEMU_DEVICE_CORE_REGS_H
#define QEMU_DEVICE_CORE_REGS_H

#include <stdint.h>

struct core;
struct snap;

uint32_t reg_get(const struct core *core, uint32_t offset); /* [any] */
void reg_set(struct core *core, uint32_t offset, uint32_t value);
void regs_init(struct core *core);
void regs_reset_host(struct core *core); /* what the host owns */
void regs_reset_mcu(struct core *core);  /* what the MCU owns */
void regs_save(struct core *core, struct snap *snap);
void regs_load(struct core *core, struct snap *snap);

#endif
