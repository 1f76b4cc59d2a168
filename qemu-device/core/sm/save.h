/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Saves CTAs that leave an SM, with their state, and restores them. */
#ifndef QEMU_DEVICE_CORE_SM_SAVE_H
#define QEMU_DEVICE_CORE_SM_SAVE_H

#include <stdbool.h>

struct sm;
struct sm_cta;

/* Every thread left waits for children: the CTA leaves the SM. */
void sm_save_waiting(struct sm *sm, struct sm_cta *cta);
/* The slot is evicted: the CTA leaves the SM if it has a place. False: it cannot yet. */
bool sm_save_evicted(struct sm *sm, struct sm_cta *cta);
/* Others get the room of the CTA, which leaves the SM. False: it cannot yet. */
bool sm_save_switched(struct sm *sm, struct sm_cta *cta);
/* Gives a CTA that was just placed the state it was saved with; a state that cannot be is a fault of its task. */
void sm_save_restore(struct sm *sm, struct sm_cta *cta);

#endif
