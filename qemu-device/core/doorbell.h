/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the doorbells: GP_PUT of each channel, and which channels rang. All [lock]. */
#ifndef QEMU_DEVICE_CORE_DOORBELL_H
#define QEMU_DEVICE_CORE_DOORBELL_H

#include <stdint.h>

struct core;

/* Next channel that was rung, from the one after what doorbell_take() was told last; PPU_DB_NONE: none. */
uint32_t doorbell_next(struct core *core);
/* The channel, which exists, does not count as rung any more. */
void doorbell_take(struct core *core, uint32_t channel);

#endif
