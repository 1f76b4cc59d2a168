/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gives CTAs of a slot backings of local memory. All [lock]. */
#ifndef QEMU_DEVICE_CORE_DIST_LOCAL_MEMORY_H
#define QEMU_DEVICE_CORE_DIST_LOCAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_slot;

/* Words of `local_used` that the machine has use for: a bit for each CTA that its SMs hold. */
uint32_t local_words(const struct core *core);
/* No backing is used. */
void local_clear(const struct core *core, struct dist_slot *slot);
/* A backing that no other CTA uses; UINT32_MAX: none left. Tasks without local memory all get 0. */
uint32_t local_take(const struct core *core, struct dist_slot *slot);
/* Nobody uses that backing any more. */
void local_give(struct dist_slot *slot, uint32_t n);
/* True when one is left, or none is needed. */
bool local_exists(const struct core *core, struct dist_slot *slot);

#endif
