/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares the table of a profile. */
#ifndef QEMU_DEVICE_CORE_MEMORY_PROFILE_TABLE_H
#define QEMU_DEVICE_CORE_MEMORY_PROFILE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/profile.h"

struct core;

/* PROFILE_PERIOD has a new value: SMs use the table that the registers name, if it is usable. [lock] */
void profile_setup(struct core *core);
/* The protected range has changed; the table may lie in it now. [lock] */
void profile_recheck(struct core *core);
void profile_reset(struct core *core);
/* True while SMs count. [any] */
bool profile_on(const struct core *core);
/* Adds to the counts of a key. [any] */
void profile_add(struct core *core, uint64_t key, const uint32_t count[PPU_PROFILE_COUNTS]);

#endif
