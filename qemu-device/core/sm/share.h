/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shares an SM between address spaces. */
#ifndef QEMU_DEVICE_CORE_SM_SHARE_H
#define QEMU_DEVICE_CORE_SM_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"

struct dist_task;
struct sm;

/*
 * How the address spaces share the SM: who has had less time goes first. Time is that of the host thread, or of slices,
 * in which an instruction takes 1 ns.
 */
struct sm_share {
    uint32_t spaces;   /* of which there are CTAs */
    uint32_t sole;     /* the one, when there is one */
    uint32_t all;      /* CTAs, of any */
    uint8_t rank;      /* of the first of them, when it came */
    bool ranks_differ; /* another's was another */
    uint64_t since_ns; /* time that is not yet anybody's begins here; 0: the SM runs no CTA */
    uint64_t insns;    /* executed, ever */
    uint16_t ctas[PPU_MAX_CONTEXTS];
    uint64_t turn_ns[PPU_MAX_CONTEXTS]; /* what each has had beside others, from where the least had when it came */
    uint64_t time_ns[PPU_MAX_CONTEXTS]; /* what each has had; atomic */
};

/* The SM begins to run CTAs, unless it does already: its time is somebody's from now on. Or it stops. */
void share_begin(struct sm *sm);
void share_end(struct sm *sm);
/* A CTA of the task is here, or has left. */
void share_came(struct sm *sm, const struct dist_task *task);
void share_left(struct sm *sm, const struct dist_task *task);
/* The warp that has a turn of those that go to the highest rank; the number of warps: none can run. */
uint32_t share_pick_urgent(const struct sm *sm);
/* As a warp's turn, when there are CTAs of several address spaces: the time is its own's. */
uint32_t share_pick(struct sm *sm);
void share_charge(struct sm *sm, uint32_t context);
/* Takes off CTAs so that a slot which claims a place gets it; false: some cannot leave yet. */
bool share_make_room(struct sm *sm);

#endif
