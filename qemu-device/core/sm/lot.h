/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes CTAs of a task that are short several at once, and runs them one after the other on an SM that has none. */
#ifndef QEMU_DEVICE_CORE_SM_LOT_H
#define QEMU_DEVICE_CORE_SM_LOT_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/room.h"

struct dist_task;
struct sm;

#define SM_LOT_CTAS 32u

/* CTAs of one task that were taken at once. Each has room, as if the SM had nothing else. */
struct sm_lot {
    const struct dist_task *task;
    struct dist_room room; /* of the SM without CTAs */
    uint32_t cta_insns;    /* warp instructions that one is expected to execute, at most */
    uint32_t count;
    uint32_t full; /* of them, the first ones: all lanes of their warps have a thread */
    struct dist_cta cta[SM_LOT_CTAS];
};

/*
 * Takes CTAs and runs them to their end, one after the other, while `budget` warp instructions last. The SM has none.
 * The first that cannot be run so is on the SM afterwards, and so are those taken with it. Returns how many
 * instructions were executed.
 */
uint32_t sm_run_lots(struct sm *sm, uint32_t budget);
/* The SM has CTAs that others better do not join: when they have ended, sm_run_lots() takes those that follow. */
bool sm_lots_follow(const struct sm *sm);
/*
 * All of the lot have ended: takes the next, for `budget` warp instructions. False: there is none that goes on
 * likewise. The lot may have another's then, which is to be placed.
 */
bool sm_lot_next(struct sm *sm, struct sm_lot *lot, uint32_t budget);
/* Puts the CTAs of the lot from number `first` on onto the SM. */
void sm_lot_place(struct sm *sm, const struct sm_lot *lot, uint32_t first);

#endif
