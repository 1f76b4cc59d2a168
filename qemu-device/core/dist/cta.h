/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes a CTA handed to an SM. */
#ifndef QEMU_DEVICE_CORE_DIST_CTA_H
#define QEMU_DEVICE_CORE_DIST_CTA_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/dist/task.h"

/* A CTA handed to an SM. */
#define DIST_NO_SAVE UINT32_MAX

struct dist_cta {
    const struct dist_task *task;
    uint64_t number; /* linear: x fastest */
    uint32_t id[3];
    uint32_t local_backing; /* which backing of local memory it uses */
    uint32_t save;          /* its place in the save area, DIST_NO_SAVE: none */
    uint32_t chunk;         /* of its address space's area: the first of those that have its state; SWITCH_NONE: none */
    bool wide;              /* all its registers are private (D8) */
    bool saved;             /* it has begun, and its state is in that place or those chunks */
    bool left;              /* it has ended, and its room on the SM is free again; nobody has been told yet */
};

/* Says where along a dimension of its task it is: the CTAs of a queue task are all at its beginning. */
static inline uint32_t dist_cta_at(const struct dist_cta *cta, uint32_t dim)
{
    return cta->task->tmd.kind == PPU_TMD_GRID ? cta->id[dim] : 0;
}

/* True when it has as many threads as a CTA of its task can have. */
static inline bool dist_cta_is_whole(const struct dist_cta *cta)
{
    const struct ppu_tmd *const tmd = &cta->task->tmd;
    bool whole = true;

    for (uint32_t dim = 0; cta->task->ragged && dim < 3; dim++) {
        whole = whole && ppu_tmd_size(tmd, dim, dist_cta_at(cta, dim)) == tmd->cta[dim];
    }
    return whole;
}

#endif
