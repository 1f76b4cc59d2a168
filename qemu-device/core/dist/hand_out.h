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

/* Next CTA that fits; false: none now (sm_wake() tells when that may change). The room of those that have ended is
 * free, whoever is told of them later. [sm] */
bool dist_take(struct core *core, uint32_t sm, const struct dist_room *room, struct dist_ends *ends,
               struct dist_cta *out);

#endif
