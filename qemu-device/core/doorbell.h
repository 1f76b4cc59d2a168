/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the doorbells: GP_PUT of each channel, and which channels rang. All [lock]. */
#ifndef QEMU_DEVICE_CORE_DOORBELL_H
#define QEMU_DEVICE_CORE_DOORBELL_H

#include <stdint.h>

struct core;

void doorbell_clear(struct core *core, uint32_t word, uint32_t channels);

#endif
