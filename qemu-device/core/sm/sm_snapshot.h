/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves and loads warps, CTAs and shared memory in a snapshot, while SMs are paused. See snapshot.h for the byte
 * string.
 */
#ifndef QEMU_DEVICE_CORE_SM_SM_SNAPSHOT_H
#define QEMU_DEVICE_CORE_SM_SM_SNAPSHOT_H

#include <stdbool.h>

struct core;
struct sm;
struct sm_cta;
struct snap;

/* Snapshot of warps, CTAs, shared memory, while paused [lock]; see snapshot.h for the byte string. */
void sm_pool_save(struct core *core, struct snap *snap);
bool sm_pool_load(struct core *core, struct snap *snap); /* false: not a state of this machine */
/* State of a CTA but for what it is and where on the SM it lies; get() checks it: false, it cannot be. */
void sm_snap_put(const struct sm *sm, const struct sm_cta *cta, struct snap *snap);
bool sm_snap_get(struct sm *sm, struct sm_cta *cta, struct snap *snap);

#endif
