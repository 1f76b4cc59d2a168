/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes a slot from its start to its last event. All [lock]. */
#ifndef QEMU_DEVICE_CORE_DIST_SLOT_LIFE_H
#define QEMU_DEVICE_CORE_DIST_SLOT_LIFE_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct dist_slot;

/* A CTA is to be handed out, now or when an SM has room. */
bool slot_can_go_on(const struct core *core, struct dist_slot *slot);
/* True for a queue task. */
bool slot_is_queue(const struct dist_slot *slot);
/* Nothing of it can run before children have completed, and it keeps its slot meanwhile (SLOT_LINGER). */
bool slot_lingers(struct core *core, const struct dist_slot *slot);
/* Frees the slot when nothing of it runs and nothing more will. */
void slot_settle(struct core *core, struct dist_slot *slot);
/* CTAs wait that the firmware was not told of. */
void slot_tell(struct core *core, struct dist_slot *slot);
/* Resumes the CTAs that were told of when the firmware found their children complete. Later ones are told of anew. */
void slot_resume(struct core *core, struct dist_slot *slot);
/* Stops the slot: what has begun ends, and nothing begins. */
void slot_stop(struct core *core, struct dist_slot *slot);
/* CTAs that have a place leave their SMs for it. */
void slot_save_all(struct core *core, struct dist_slot *slot);
/* CTAs on SMs are thrown away. */
void slot_kill(struct core *core, struct dist_slot *slot);
/* The slot is free: decodes the TMD copy at `tmd_off` and offers its CTAs, or refuses it. */
void slot_begin(struct core *core, struct dist_slot *slot, uint32_t tmd_off);

#endif
