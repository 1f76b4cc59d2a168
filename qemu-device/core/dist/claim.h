/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Serves claims: slots that want a place on an SM for which others must leave (preemption). */
#ifndef QEMU_DEVICE_CORE_DIST_CLAIM_H
#define QEMU_DEVICE_CORE_DIST_CLAIM_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/dist/task.h"

struct core;

/* Says what a slot asks of an SM: that CTAs of lower rank leave. */
struct dist_claim {
    struct dist_task task; /* as it is now */
    uint32_t rank;
    bool wide;   /* the CTA is (D8) */
    bool others; /* those of other address spaces: the SM has none of the slot's, or it is for a gang */
    bool own;    /* those of its own address space */
    bool gang;   /* for all of a co-resident grid: everything of lower rank is in its way */
};

/* True when some slot claims a place. [any] */
bool dist_claiming(struct core *core);
/* The claim of the highest rank on this SM, but for those of the slots in `passed`; false: none. [sm] */
bool dist_claim(struct core *core, uint32_t sm, uint64_t passed, struct dist_claim *claim);
/* A co-resident grid leaves all SMs, and comes back when there is room for all of it. [sm] */
void dist_gang_leave(struct core *core, uint32_t index);
bool dist_leaving(struct core *core, uint32_t slot); /* [any] */

#endif
