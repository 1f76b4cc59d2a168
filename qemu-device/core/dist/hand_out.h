/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses the next CTA for an SM that has room. */
#ifndef QEMU_DEVICE_CORE_DIST_HAND_OUT_H
#define QEMU_DEVICE_CORE_DIST_HAND_OUT_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_cta;
struct dist_ends;
struct dist_room;
struct dist_slot;

/*
 * Next CTA that fits, and while all of them fit together and no other task has any, up to `most` of the same task that
 * begin; returns how many: 0: none now (sm_wake() tells when that may change). The room of those that have ended is
 * free, whoever is told of them later. [sm]
 */
uint32_t dist_take(struct core *core, uint32_t sm, const struct dist_room *room, struct dist_ends *ends, uint32_t most,
                   struct dist_cta *out);
/* True when the next CTA of the slot that the SM would get is wide (D8). [sm, lock] */
bool dist_next_is_wide(struct core *core, const struct dist_slot *slot, uint32_t sm);

#endif
