/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and writes what warps have, for debuggers. All with the host lock held while the SMs stand still. */
#ifndef QEMU_DEVICE_CORE_DEBUG_INSPECT_H
#define QEMU_DEVICE_CORE_DEBUG_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/debug.h"

struct core;
struct debug_watch;
struct sm;

/* What is known of a warp of an SM; false: there is none at this index. */
bool inspect_warp(struct core *core, uint32_t sm, uint32_t index, struct ppu_debug_warp *warp);
/* What is known of a warp that is named; false: it is not there any more. */
bool inspect_find(struct core *core, const struct ppu_debug_at *at, struct ppu_debug_warp *warp);
/* Where a byte is of the memory that a request names; NULL: the warp cannot reach it. */
const uint8_t *inspect_place(struct sm *sm, const struct ppu_debug_request *request, uint64_t address);
/* Reads what is watched; false: it cannot be now. */
bool inspect_watched(struct sm *sm, const struct debug_watch *watch, uint64_t *value);
/* Answers a request about one warp; BAD_REQUEST for all others. */
enum ppu_debug_status inspect_serve(struct core *core, const struct ppu_debug_request *request,
                                    struct ppu_debug_answer *answer);

#endif
