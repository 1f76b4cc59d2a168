/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an SM shows to other threads. Its own thread writes it with relaxed stores; nothing hangs on their order. */
#define _POSIX_C_SOURCE 200809L /* clocks of threads */

#include "qemu-device/core/sm/gauges.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"

#include <time.h>

#define NS_PER_S 1000000000ull

static uint32_t shown(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

struct sm_gauges sm_gauges(struct core *core, uint32_t number)
{
    const struct sm_pool *pool = *core_sm_pool(core);
    const struct sm *sm = &pool->sm[number];
    struct sm_gauges gauges = {
        .ctas = shown(&sm->shown.ctas),
        .passes = shown(&sm->shown.passes),
        .vregs = shown(&sm->shown.vregs),
        .shared_bytes = shown(&sm->shown.shared_bytes),
        .thread = sm_pool_in_slices(pool) ? 0 : number % pool->workers,
    };

    for (uint32_t i = 0; i < core->config.contexts; i++) {
        gauges.busy_ns += __atomic_load_n(&sm->share.time_ns[i], __ATOMIC_RELAXED);
    }
    return gauges;
}

uint32_t sm_threads(struct core *core)
{
    return (*core_sm_pool(core))->workers;
}

uint64_t sm_thread_ns(struct core *core, uint32_t thread)
{
    struct timespec used;
    clockid_t clock;

    if (pthread_getcpuclockid((*core_sm_pool(core))->worker[thread].thread, &clock) != 0 ||
        clock_gettime(clock, &used) != 0) {
        return 0;
    }
    return (uint64_t)used.tv_sec * NS_PER_S + (uint64_t)used.tv_nsec;
}
