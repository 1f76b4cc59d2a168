/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps save areas: places for CTAs that leave their SM and come back (context switch). */
#ifndef QEMU_DEVICE_CORE_DIST_SAVE_AREA_H
#define QEMU_DEVICE_CORE_DIST_SAVE_AREA_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_slot;
struct dist_cta;

/* VRAM offset of a CTA's place in the save area. */
uint32_t dist_save_place(const struct dist_cta *cta);
/* True when CTAs of the slot that have a place are to be saved. [any] */
bool dist_saving(struct core *core, uint32_t slot);

/* All places of the slot's task, as bits. */
uint64_t save_places(const struct dist_slot *slot);
/* True when a place is left, or none is needed. */
bool save_exists(const struct dist_slot *slot);
/* A place that no CTA has; the slot has one or needs none. */
uint32_t save_take(struct dist_slot *slot);
/* That place is free again. DIST_NO_SAVE is no place. */
void save_give(struct dist_slot *slot, uint32_t n);
/* The states in memory, for whoever starts the task again. */
void save_states_write(struct core *core, const struct dist_slot *slot);
/* Reads what is in place `n` of a task that starts again; false: it cannot be. */
bool save_state_read(struct core *core, struct dist_slot *slot, uint32_t n);

#endif
