/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clears VRAM after a reset. All [lock]. */
#ifndef QEMU_DEVICE_CORE_MEMORY_CLEAR_H
#define QEMU_DEVICE_CORE_MEMORY_CLEAR_H

#include <stdbool.h>

struct core;
struct snap;

void clear_begin(struct core *core);
bool clear_going(const struct core *core);
void clear_step(struct core *core); /* a part, when the MCU is held */
void clear_save(const struct core *core, struct snap *snap);
void clear_load(struct core *core, struct snap *snap);

#endif
