/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides which SM gets CTAs of which slot. All with the distributor's lock held. */
#ifndef QEMU_DEVICE_CORE_DIST_PLACE_H
#define QEMU_DEVICE_CORE_DIST_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_room;
struct dist_slot;
struct dist_task;

/* `wide`: a CTA that is (D8). */
bool place_fits(const struct dist_task *task, bool wide, const struct dist_room *room);
/* True when a co-resident grid of `total` CTAs can be on the SMs at once. */
bool place_gang_fits(const struct core *core, const struct dist_task *task, uint64_t total);
/* Gives gangs that wait their room, as far as there is any. */
void place_plan(struct core *core);
/* SMs may get CTAs of the slot; a gang's when all find room. */
void place_offer(struct core *core, struct dist_slot *slot);
/* They get none any more, and room that was planned is free. */
void place_withdraw(struct core *core, struct dist_slot *slot);
/* True for a gang that has room and CTAs to hand out. */
bool place_is_planned(const struct core *core, const struct dist_slot *slot);
/* This SM, which has room for it, may get a CTA of the slot. */
bool place_allows(struct core *core, const struct dist_slot *slot, bool wide, uint32_t sm);
void place_take(struct core *core, struct dist_slot *slot, bool wide, uint32_t sm);
void place_give(struct core *core, const struct dist_slot *slot, bool wide, uint32_t sm);
/* A CTA was there when the snapshot was taken. */
void place_resident(struct core *core, const struct dist_slot *slot, bool wide, uint32_t sm);

#endif
