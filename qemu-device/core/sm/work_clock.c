/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells how long a host thread has worked, mostly without a system call. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include "qemu-device/core/sm/work_clock.h"
#include "ppu/macros.h"

#include <time.h>

static uint64_t read_ns(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/*
 * The thread has worked at most as long as the wall's clock says, and at most as long as its own says since the last
 * reading. That is at most WORK_CLOCK_NS before `*since_ns`, as each call sees to it.
 */
uint64_t work_clock_spent(struct work_clock *clock, uint64_t *since_ns)
{
    const uint64_t wall_ns = read_ns(CLOCK_MONOTONIC);
    uint64_t spent_ns = wall_ns - *since_ns;

    if (wall_ns - clock->wall_ns >= WORK_CLOCK_NS) {
        const uint64_t thread_ns = read_ns(CLOCK_THREAD_CPUTIME_ID), worked_ns = thread_ns - clock->thread_ns;

        spent_ns = PPU_MIN(worked_ns, spent_ns);
        *clock = (struct work_clock){ .wall_ns = wall_ns, .thread_ns = thread_ns };
    }
    *since_ns = wall_ns;
    return spent_ns;
}
