/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the time that CTAs of a slot are on SMs. [lock] where nothing else is said. */
#ifndef QEMU_DEVICE_CORE_DIST_RUN_TIME_H
#define QEMU_DEVICE_CORE_DIST_RUN_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_slot;

/* How long CTAs of the slot have been on SMs. */
uint64_t slot_run_ns(const struct core *core, const struct dist_slot *slot);
/* So many CTAs are on SMs from now on. */
void slot_run_ctas(const struct core *core, struct dist_slot *slot, uint32_t ctas);
/* A CTA of a queue task has begun or ended. Of a grid nobody asks. */
void slot_run_step(const struct core *core, struct dist_slot *slot);
/* Tasks of a context stand still now (a debugger's doing), which is no time of theirs, or go on. [any] */
void dist_stand(struct core *core, uint32_t context);

#endif
