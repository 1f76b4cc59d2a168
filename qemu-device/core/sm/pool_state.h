/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Defines the state of all SMs and of the host threads that run them. */
#ifndef QEMU_DEVICE_CORE_SM_POOL_STATE_H
#define QEMU_DEVICE_CORE_SM_POOL_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "ppu/poll.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/sm/cache.h"
#include "qemu-device/core/sm/gpc.h"
#include "qemu-device/core/sm/work_clock.h"

struct core;
struct sm;
struct sm_pool;

struct sm_worker {
    pthread_t thread;
    struct sm_pool *pool;
    uint32_t number;
    bool parked;             /* under the pool's lock */
    struct ppu_poll poll;    /* the thread's own */
    struct work_clock clock; /* the thread's own */
};

/* Sm_threads 0: a slice that has begun. The SMs have their turns one after the other, in parts. */
struct sm_slice {
    bool underway;
    uint64_t begin_ns;
    uint32_t sm;       /* whose turn it is */
    uint32_t executed; /* warp instructions of its turn so far */
    uint32_t turn;     /* of them in the turn of the warp that goes on */
    uint32_t longest;  /* of the turns so far */
    uint32_t activity; /* enum sm_activity: the most of the turns so far */
};

struct sm_pool {
    struct core *core;
    struct sm *sm;
    uint32_t sms;
    struct cache_l2 l2;           /* when caches are modelled */
    struct gpc gpc[PPU_MAX_GPCS]; /* when caches are modelled: as many as there are */
    struct tier *tier;            /* NULL: everything is interpreted */
    uint32_t workers;
    struct sm_worker *worker;
    pthread_mutex_t lock; /* below all others; guards what follows */
    pthread_cond_t wake;  /* workers wait */
    pthread_cond_t idle;  /* whoever pauses waits */
    uint64_t epoch;       /* counts reasons to look again; also read without the lock */
    bool looks;           /* a worker with nothing to do looks for reasons, and needs not be woken up */
    bool spared;          /* it alone was told of CTAs, the others sleep; also read without the lock */
    bool paused;
    bool quit;
    uint32_t parked;
    uint64_t slice_ns;     /* sm_threads 0: deadline of the next slice; host lock */
    uint64_t spent_ns;     /* sm_threads 0: the last slice lasted until then, whatever woke the SMs since; host lock */
    struct sm_slice slice; /* host lock */
    uint32_t stirred;      /* sm_threads 0: somebody called sm_wake(); atomic */
    uint32_t system_sm;    /* whose requests the main loop looks at first; host lock */
};

static inline bool sm_pool_in_slices(const struct sm_pool *pool)
{
    return pool->workers == 0;
}

static inline bool sm_pool_paused(const struct sm_pool *pool)
{
    return !sm_pool_in_slices(pool) && __atomic_load_n(&pool->paused, __ATOMIC_RELAXED);
}

void sm_pool_wake_spared(struct sm_pool *pool);

/* A worker has taken a CTA, or found none that it can take: others are told of what is left. */
static inline void sm_pool_share_offers(struct sm_pool *pool)
{
    if (__atomic_load_n(&pool->spared, __ATOMIC_SEQ_CST) &&
        __atomic_load_n(&pool->core->dist.offering, __ATOMIC_SEQ_CST) != 0) {
        sm_pool_wake_spared(pool);
    }
}

#endif
