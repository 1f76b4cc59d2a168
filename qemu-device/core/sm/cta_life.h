/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Brings CTAs to an SM and takes them off it. */
#ifndef QEMU_DEVICE_CORE_SM_CTA_LIFE_H
#define QEMU_DEVICE_CORE_SM_CTA_LIFE_H

#include <stdbool.h>

#include "qemu-device/core/dist/room.h"

struct sm;
struct sm_cta;

/* Takes a CTA from the distributor. False: there is none, or no room for it. */
bool sm_take_cta(struct sm *sm);
/* The CTA leaves the SM so that others get its room; false: it cannot yet. */
bool sm_leave(struct sm *sm, struct sm_cta *cta);
/* Returns the room that is left for another CTA. */
struct dist_room sm_room(const struct sm *sm);
/* Gives back what a CTA holds on the SM; sm_cta.used is false afterwards. */
void sm_cta_free(struct sm *sm, struct sm_cta *cta);
/* Puts a CTA whose `cta` and `warp` are set onto the SM; its warps get their start state. */
void sm_cta_place(struct sm *sm, struct sm_cta *cta);
/* Puts a CTA whose `cta` alone is set onto the SM likewise. */
void sm_cta_begin(struct sm *sm, struct sm_cta *cta);

#endif
