/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decides as the control unit which mode segments run in that leave it open (D8). */
#ifndef QEMU_DEVICE_CORE_SM_MODE_H
#define QEMU_DEVICE_CORE_SM_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/sm/cache_window.h"

struct exec;

#define SM_PROBE 32u /* segments of a task, of which one runs in normal mode to be looked at */

/* Keeps what an SM knows of a task's segments that leave their mode open (D8). */
struct mode {
    uint64_t start;             /* dist_task.start of the task */
    struct cache_window normal; /* lines that its segments loaded in normal mode */
    uint32_t segments;          /* since the rate is known, modulo 2^32 */
    bool subvector;             /* what was chosen last */
};

/* A segment that leaves its mode open begins: true, it is to run part by part. */
bool sm_mode_subvector(struct exec *x);
/* A segment that was measured ends. */
void sm_mode_end(struct exec *x);

#endif
