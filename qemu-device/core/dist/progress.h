/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps how far a task has come, in its TMD copy. All [lock]. */
#ifndef QEMU_DEVICE_CORE_DIST_PROGRESS_H
#define QEMU_DEVICE_CORE_DIST_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_slot;

/* Where the task stopped; false: what is in memory cannot be. */
bool progress_read(struct core *core, struct dist_slot *slot);
/* Writes where the task stands into its TMD copy, with the states of its saved CTAs. */
void progress_write(struct core *core, const struct dist_slot *slot);

#endif
