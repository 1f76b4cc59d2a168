/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps thread-group contexts of CTAs (B3, ppu/task.h), in memory that threads write. A task with CTA_GROUPS has one
 * for each of its places. What is read there decides only when a CTA of that task goes on.
 */
#ifndef QEMU_DEVICE_CORE_DIST_CTA_GROUP_H
#define QEMU_DEVICE_CORE_DIST_CTA_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/tmd.h"

struct core;
struct dist_cta;
struct dist_task;

static inline bool cta_groups_exist(const struct ppu_tmd *tmd)
{
    return (tmd->flags & PPU_TMD_CTA_GROUPS) != 0;
}

/* True when the groups of a TMD copy lie where they can. */
bool cta_groups_usable(const struct core *core, const struct ppu_tmd *tmd);
/* A CTA begins: its group has no children, whatever those of the CTA before it are doing. */
void cta_group_begin(struct core *core, const struct dist_cta *cta);
/* Returns the places of the mask whose CTA has nothing left to wait for. */
uint64_t cta_groups_idle(const struct core *core, const struct dist_task *task, uint64_t places);

#endif
