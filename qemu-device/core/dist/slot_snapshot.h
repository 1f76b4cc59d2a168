/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves and loads one slot in a snapshot. All [lock]. */
#ifndef QEMU_DEVICE_CORE_DIST_SLOT_SNAPSHOT_H
#define QEMU_DEVICE_CORE_DIST_SLOT_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_slot;
struct snap;

/* `saving`: its CTAs are being saved. */
void slot_save(struct core *core, const struct dist_slot *slot, bool saving, struct snap *snap);
/* False: as the snapshot is told. */
bool slot_load(struct core *core, struct dist_slot *slot, struct snap *snap);

#endif
