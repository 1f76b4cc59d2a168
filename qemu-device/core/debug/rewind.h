/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies the state of distributor and SMs, and puts it back on the same machine while the same tasks have its slots:
 * unlike a snapshot (snapshot.h) it may hold addresses, and is not checked. With the host lock held.
 */
#ifndef QEMU_DEVICE_CORE_DEBUG_REWIND_H
#define QEMU_DEVICE_CORE_DEBUG_REWIND_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct history_state;

/* False: it cannot be copied now, as a warp waits for system memory or the host has no memory. */
bool rewind_take(struct core *core, struct history_state *state);
/* All but times, which only go on. */
void rewind_put(struct core *core, const struct history_state *state);
/* A number that differs where registers, shared memory, lanes or the pages that the history keeps do. */
uint64_t rewind_digest(struct core *core);

#endif
