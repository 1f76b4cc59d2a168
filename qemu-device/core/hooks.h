/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements test hooks: faults and holds that a test injects. */
#ifndef QEMU_DEVICE_CORE_HOOKS_H
#define QEMU_DEVICE_CORE_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct core;

bool hook_walk_fails(struct core *core); /* [any] */
bool hook_copy_fails(struct core *core); /* [lock] */
/* True while a warp or the copy engine must stay at `mark`. Constant false without test hooks. [any] */
bool hook_holds(struct core *core, uint32_t mark);
/* A warp begins (true) or ceases to be held, for HOOK_HELD. [any] */
void hook_count_held(struct core *core, bool held);
void hook_release(struct core *core);
uint32_t hook_alloc_take(struct core *core);       /* 1: this allocation of the firmware fails */
uint32_t hook_ring_limit(const struct core *core); /* UINT32_MAX: none [any] */

#endif
