/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs warps while there is a debugger, and stops them. A warp is stopped by not being given turns: nothing of its
 * state says so, and a CTA may be killed, saved and brought back meanwhile.
 */
#ifndef QEMU_DEVICE_CORE_DEBUG_RUN_H
#define QEMU_DEVICE_CORE_DEBUG_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct sm;

bool debug_on(const struct core *core);
/* True: the warp gets no turn now. */
bool debug_holds(const struct sm *sm, uint32_t index);
/* As engine_run(), and stops where the debugger wants it. */
uint32_t debug_run(struct sm *sm, uint32_t index, uint32_t budget);
/* A context goes on, or a task of it: each SM has a turn of a warp of it, beginning behind the SM that stopped last.
 * The SMs stand still. [lock] */
void debug_first_turns(struct core *core, uint32_t context);
/* The warp has a fault. True: it stops before the fault is reported. */
bool debug_fault(struct sm *sm, uint32_t index);
/* Executes again a part of what was recorded, under the host lock; false: the state is the present one, and nobody
 * wants to leave it. `more`: there is more of it to do. */
bool debug_replay(struct core *core, bool *more);
/* The warp leaves the SM. */
void debug_gone(struct sm *sm, uint32_t index);

#endif
