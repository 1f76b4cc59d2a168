/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ends of CTAs that the distributor has not been told of yet: until there are many, the SM does anything that
 * others may wait for, or it has nothing else to do. Nobody is told of an end before what was added is in memory.
 */
#include "qemu-device/core/sm/pending_ends.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_life.h"
#include "qemu-device/core/dist/ends.h"
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/sm.h"

void pending_ends_hold(struct sm *sm, const struct dist_cta *ended, const uint64_t count[PPU_COUNTERS])
{
    struct dist_ends *const ends = &sm->ends;

    if (ends->held == DIST_ENDS) {
        pending_ends_report(sm);
    }
    ends->cta[ends->held] = *ended;
    pending_ends_copy(ends->count[ends->held++], count);
    if (sm->core->debug.history) { /* which CTA comes next must not depend on when nobody looked */
        pending_ends_report(sm);
    }
}

void pending_ends_report(struct sm *sm)
{
    pending_adds_flush(sm);
    if (sm->ends.held != 0) {
        dist_done(sm->core, sm->number, &sm->ends);
        sm_has_room(sm); /* what they had in the distributor's books is free again */
    }
}
