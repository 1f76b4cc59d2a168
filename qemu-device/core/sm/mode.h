/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides as the control unit which mode segments run in that leave it open (D8). */
#ifndef QEMU_DEVICE_CORE_SM_MODE_H
#define QEMU_DEVICE_CORE_SM_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/sm/cache_window.h"

struct dist_task;
struct exec;
struct sm;

#define SM_PROBE 32u /* segments of a task, or CTAs, of which one runs in normal mode to be looked at */

/* Keeps what an SM knows of a task's segments that leave their mode open (D8). */
struct mode {
    uint64_t start;             /* dist_task.start of the task */
    struct cache_window normal; /* lines that its segments loaded in normal mode */
    uint32_t segments;          /* since the rate is known, or one was looked at: at most SM_PROBE */
    uint32_t ctas;              /* of those that might be wide, that have begun since one was: at most SM_PROBE */
    bool subvector;             /* what was chosen last */
};

/* A segment that leaves its mode open begins: true, it is to run part by part. */
bool sm_mode_subvector(struct exec *x);
/* One begins that must, as the CTA is narrow. */
void sm_mode_narrow(struct exec *x);
/* A CTA that might be wide or not has begun. */
void sm_mode_begun(struct sm *sm, const struct dist_task *task, bool wide);
/* A segment that was measured ends. */
void sm_mode_end(struct exec *x);

#endif
