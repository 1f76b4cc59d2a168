/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saves and loads the distributor in a snapshot. Load functions leave `snap->bad` set when a value cannot be. All
 * [lock].
 */
#ifndef QEMU_DEVICE_CORE_DIST_DIST_SNAPSHOT_H
#define QEMU_DEVICE_CORE_DIST_DIST_SNAPSHOT_H

struct core;
struct snap;

void dist_save(struct core *core, struct snap *snap);
void dist_load(struct core *core, struct snap *snap);
void dist_check(struct core *core, struct snap *snap); /* the SMs have their state too: does it fit the slots'? */
void dist_loaded(struct core *core);                   /* it does: tell the SMs what is asked of them */

#endif
