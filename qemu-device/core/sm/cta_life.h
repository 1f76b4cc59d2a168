/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Brings CTAs to an SM and takes them off it. */
#ifndef QEMU_DEVICE_CORE_SM_CTA_LIFE_H
#define QEMU_DEVICE_CORE_SM_CTA_LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/dist/room.h"

struct dist_cta;
struct dist_task;
struct sm;
struct sm_cta;

/* Takes a CTA from the distributor, and puts it onto the SM. False: there is none, or no room for it. */
bool sm_take_cta(struct sm *sm);
/* As dist_take(). What the SM knows of code and data is as their task needs it then. */
uint32_t sm_ask_for_ctas(struct sm *sm, const struct dist_room *room, uint32_t most, struct dist_cta *out);
/* A place for another CTA; NULL: there is none. */
struct sm_cta *sm_free_cta(struct sm *sm);
/* Puts a CTA that was taken onto the SM: `cta` alone is set. */
void sm_cta_came(struct sm *sm, struct sm_cta *cta);
/* The CTA leaves the SM so that others get its room; false: it cannot yet. */
bool sm_leave(struct sm *sm, struct sm_cta *cta);
/* Returns the room that is left for another CTA. */
struct dist_room sm_room(const struct sm *sm);
/* The CTA, all of whose warps have ended, leaves its place, its registers and its shared memory to the next of its
 * task. */
void sm_cta_replace(struct sm *sm, struct sm_cta *cta, const struct dist_cta *next);
/* All warps of the CTA have ended: others have its room. */
void sm_cta_end(struct sm *sm, struct sm_cta *cta);
/* A CTA has ended: what its program is may be known better. */
void sm_learn(struct sm *sm, const struct sm_cta *cta);
/* Gives back what a CTA holds on the SM; sm_cta.used is false afterwards. */
void sm_cta_free(struct sm *sm, struct sm_cta *cta);
/* Puts a CTA whose `cta` and `warp` are set onto the SM; its warps get their start state. */
void sm_cta_place(struct sm *sm, struct sm_cta *cta);
/* Puts a CTA whose `cta` alone is set onto the SM likewise. */
void sm_cta_begin(struct sm *sm, struct sm_cta *cta);
/* Gives a warp of a CTA its start state: `warp[number]` and the CTA's size are set. */
void sm_warp_start(struct sm *sm, struct sm_cta *cta, uint32_t number);
/* The warp whose turn comes next, round robin. */
uint32_t sm_warp_behind(const struct sm *sm, uint32_t index);
/* `ctas` more of the task's CTAs are here, all wide or none: 1, or as many as -1 modulo 2^32. */
void sm_count_room(struct sm *sm, const struct dist_task *task, bool wide, uint32_t ctas);

#endif
