/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Save areas: places for CTAs that leave their SM and come back. */
#ifndef QEMU_DEVICE_CORE_DIST_SAVE_AREA_H
#define QEMU_DEVICE_CORE_DIST_SAVE_AREA_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_cta;

/* VRAM offset of a CTA's place in the save area. */
uint32_t dist_save_place(const struct dist_cta *cta);
/* True when CTAs of the slot that have a place are to be saved. [any] */
bool dist_saving(struct core *core, uint32_t slot);

#endif
