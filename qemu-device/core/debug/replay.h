/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Goes back in what was recorded: puts the state of its begin back, and executes the same again in the same order until
 * it is there. All with the host lock held.
 */
#ifndef QEMU_DEVICE_CORE_DEBUG_REPLAY_H
#define QEMU_DEVICE_CORE_DEBUG_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/debug.h"

struct core;
struct sm;

/* ---- requests ---- */

enum ppu_debug_status replay_record(struct core *core, const struct ppu_debug_request *request);
/* Begins to go back; an event tells where to. */
enum ppu_debug_status replay_back(struct core *core, const struct ppu_debug_request *request);
/* False: the state is the present one. Else kernels go on as they did, until something stops them. */
bool replay_go(struct core *core);
/* They do not, and whatever was sought is not. */
void replay_halt(struct core *core);

/* ---- execution ---- */

/* A warp is about to execute, or has, as never before: that is recorded. */
void replay_before(struct sm *sm);
void replay_after(struct sm *sm, uint32_t index);
/* As debug_run() of one instruction that was executed before. */
uint32_t replay_warp(struct sm *sm, uint32_t index);

#endif
