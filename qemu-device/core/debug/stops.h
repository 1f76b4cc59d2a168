/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds what stops a warp, both when it runs and when it is executed again (replay.h). */
#ifndef QEMU_DEVICE_CORE_DEBUG_STOPS_H
#define QEMU_DEVICE_CORE_DEBUG_STOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/debug.h"

struct sm;

/* The warp stands, and its context or task with it. `value`: of the event, or NULL. */
void stops_stop(struct sm *sm, uint32_t index, enum ppu_debug_why why, uint32_t id, const uint64_t value[2]);
/* True: the warp stops before the instruction at its pc. */
bool stops_before(struct sm *sm, uint32_t index);
/* The breakpoint that it is at; PPU_DEBUG_BREAKS: none. */
uint32_t stops_break_at(const struct sm *sm, uint32_t index);
/* It is at an entry that is to stop it. */
bool stops_entry_at(const struct sm *sm, uint32_t index);
/* One instruction, after which the warp may have stopped. `watched`: memory of its context is. */
uint32_t stops_execute(struct sm *sm, uint32_t index, bool watched);
/* The watchpoint whose memory is another than when it was looked at last, and that it was and is; or
 * PPU_DEBUG_WATCHES. */
uint32_t stops_find_change(struct sm *sm, uint64_t changed[2]);
/* True: memory of the context is watched. */
bool stops_watched(const struct sm *sm, uint32_t context);
/* The warp that is stepped has no thread any more. */
void stops_ended(struct sm *sm, uint32_t index);

#endif
