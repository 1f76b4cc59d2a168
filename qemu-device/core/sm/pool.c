/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The SMs of a device, on host threads or in slices of virtual time. */
#define _POSIX_C_SOURCE 200809L /* clocks of condition variables */

#include "qemu-device/core/sm/pool.h"
#include "ppu/macros.h"
#include "ppu/poll.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/debug/run.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/sm/cache.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/turn.h"
#include "qemu-device/core/sm/warp.h"
#include "qemu-device/core/tier/tier.h"

#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SM_TURN 65536u      /* warp instructions of an SM before its thread looks at the next */
#define SM_RETRY_NS 200000u /* host time between two tries of stalled warps */
#define SLICE_NEVER UINT64_MAX
#define NS_PER_S 1000000000l

/* ---- threads ---- */

/* SM n belongs to thread n modulo the number of threads. */
static enum sm_activity worker_turn(struct sm_worker *worker)
{
    struct sm_pool *pool = worker->pool;
    enum sm_activity most = SM_IDLE;

    for (uint32_t i = worker->number; i < pool->sms; i += pool->workers) {
        enum sm_activity activity;
        sm_run(&pool->sm[i], SM_TURN, &activity);
        most = PPU_MAX(activity, most);
    }
    return most;
}

static void wait_retry(struct sm_pool *pool)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += SM_RETRY_NS;
    until.tv_sec += until.tv_nsec / NS_PER_S;
    until.tv_nsec %= NS_PER_S;
    pthread_cond_timedwait(&pool->wake, &pool->lock, &until);
}

static void worker_park(struct sm_pool *pool)
{
    pool->parked++;
    pthread_cond_broadcast(&pool->idle);
    while (pool->paused && !pool->quit) {
        pthread_cond_wait(&pool->wake, &pool->lock);
    }
    pool->parked--;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* There is a reason to look again, or to park or end. */
static bool is_worker_called(const struct sm_pool *pool, uint64_t epoch)
{
    return __atomic_load_n(&pool->epoch, __ATOMIC_SEQ_CST) != epoch || sm_pool_paused(pool);
}

/* Without the lock. */
static void look_until_called(struct sm_worker *worker, uint64_t epoch, uint64_t before_ns, uint64_t until_ns)
{
    while (!is_worker_called(worker->pool, epoch) && before_ns < until_ns) {
        sched_yield();
        uint64_t after_ns = now_ns();
        if (after_ns - before_ns >= PPU_POLL_CROWDED_NS) {
            ppu_poll_crowded(&worker->poll, after_ns);
            break;
        }
        before_ns = after_ns;
    }
}

/* Until there is a reason to look again; it may be without one. Enters and leaves with the lock. */
static void wait_work(struct sm_worker *worker, uint64_t epoch)
{
    struct sm_pool *pool = worker->pool;
    const uint64_t began_ns = now_ns();
    const uint32_t window_ns = pool->looks ? 0 : ppu_poll_begin(&worker->poll, began_ns);

    if (window_ns != 0) {
        pool->looks = true;
        pthread_mutex_unlock(&pool->lock);
        look_until_called(worker, epoch, began_ns, began_ns + window_ns);
        pthread_mutex_lock(&pool->lock);
        pool->looks = false;
    }
    if (!pool->quit && !is_worker_called(pool, epoch)) {
        pthread_cond_wait(&pool->wake, &pool->lock);
    }
    ppu_poll_end(&worker->poll, now_ns() - began_ns);
}

static void *worker_main(void *argument)
{
    struct sm_worker *worker = argument;
    struct sm_pool *pool = worker->pool;

    pthread_mutex_lock(&pool->lock);
    while (!pool->quit) {
        uint64_t epoch = pool->epoch;

        if (pool->paused) {
            worker_park(pool);
            continue;
        }
        pthread_mutex_unlock(&pool->lock);
        enum sm_activity activity = worker_turn(worker);
        sm_pool_share_offers(pool);
        pthread_mutex_lock(&pool->lock);
        if (activity == SM_BUSY || epoch != pool->epoch || pool->paused || pool->quit) {
            continue;
        }
        if (activity == SM_STALLED) {
            wait_retry(pool);
        } else {
            wait_work(worker, epoch);
        }
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* `all`: each thread is to look. Else the one that looks already will do, when there is one. [any] */
static void stir(struct sm_pool *pool, bool all)
{
    if (sm_pool_in_slices(pool)) {
        __atomic_store_n(&pool->stirred, 1, __ATOMIC_SEQ_CST);
        core_kick(pool->core);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->epoch, pool->epoch + 1, __ATOMIC_SEQ_CST);
    const bool spares = pool->looks && !all;
    __atomic_store_n(&pool->spared, spares || (pool->spared && !all), __ATOMIC_SEQ_CST);
    if (!spares) {
        pthread_cond_broadcast(&pool->wake);
    }
    pthread_mutex_unlock(&pool->lock);
}

void sm_pool_wake_spared(struct sm_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->spared, false, __ATOMIC_SEQ_CST);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void call_attention(struct sm_pool *pool)
{
    for (uint32_t i = 0; i < pool->sms; i++) {
        __atomic_store_n(&pool->sm[i].attention, 1, __ATOMIC_SEQ_CST);
    }
}

static void wake(struct sm_pool *pool, bool all)
{
    for (uint32_t i = 0; i < pool->sms; i++) {
        __atomic_store_n(&pool->sm[i].has_work, 1, __ATOMIC_SEQ_CST);
    }
    stir(pool, all);
}

void sm_wake(struct core *core)
{
    wake(*core_sm_pool(core), true);
}

void sm_offer(struct core *core)
{
    wake(*core_sm_pool(core), false);
}

void sm_kill(struct core *core, uint32_t slot)
{
    struct sm_pool *pool = *core_sm_pool(core);

    (void)slot; /* an SM asks dist_killing() for each of its CTAs: a late attention cannot hit the slot's next task */
    call_attention(pool);
    stir(pool, true);
}

void sm_flush(struct core *core, uint32_t context)
{
    struct sm_pool *pool = *core_sm_pool(core);

    for (uint32_t i = 0; i < pool->sms; i++) {
        __atomic_fetch_or(&pool->sm[i].flush[context / 64], 1ull << (context % 64), __ATOMIC_SEQ_CST);
    }
    call_attention(pool);
    stir(pool, true);
}

bool sm_move_tokens(struct core *core, uint32_t sm, uint32_t warp, uint32_t first)
{
    struct sm_pool *pool = *core_sm_pool(core);

    history_outside(core);

    if (sm >= pool->sms || warp >= core_config_of(core)->sm_warps) {
        return false;
    }
    __atomic_store_n(&pool->sm[sm].token_answer[warp], first + 1, __ATOMIC_RELEASE);
    stir(pool, true);
    return true;
}

/* ---- life ---- */

static bool start_workers(struct sm_pool *pool, uint32_t count)
{
    pool->worker = calloc(count ? count : 1, sizeof(*pool->worker));
    if (!pool->worker) {
        return false;
    }
    pool->workers = count;
    for (uint32_t i = 0; i < count; i++) {
        pool->worker[i].pool = pool;
        pool->worker[i].number = i;
        if (pthread_create(&pool->worker[i].thread, NULL, worker_main, &pool->worker[i]) != 0) {
            pool->workers = i;
            return false;
        }
    }
    return true;
}

static void init_locks(struct sm_pool *pool)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, &monotonic);
    pthread_cond_init(&pool->idle, NULL);
    pthread_condattr_destroy(&monotonic);
}

/* Caches that SMs share. */
static bool init_caches(struct sm_pool *pool, const struct core_config *config)
{
    bool ok = cache_l2_init(&pool->l2, config);

    for (uint32_t i = 0; i < config->gpcs; i++) {
        ok = gpc_init(&pool->gpc[i], config) && ok;
    }
    return ok;
}

bool sm_pool_new(struct core *core)
{
    const struct core_config *config = core_config_of(core);
    struct sm_pool *pool = calloc(1, sizeof(*pool));

    *core_sm_pool(core) = pool;
    if (!pool) {
        return false;
    }
    pool->core = core;
    pool->paused = true;
    pool->slice_ns = SLICE_NEVER;
    init_locks(pool);
    pool->tier = tier_new(config);
    pool->sm = calloc(config->sms, sizeof(*pool->sm));
    pool->sms = pool->sm ? config->sms : 0;
    bool ok = pool->sm && (!config->cache_model || init_caches(pool, config));
    for (uint32_t i = 0; i < pool->sms; i++) {
        struct gpc *gpc = &pool->gpc[core_gpc_of(config, i)];

        ok = sm_new(&pool->sm[i], core, i, config->cache_model ? &pool->l2 : NULL, config->cache_model ? gpc : NULL,
                    pool->tier) &&
             ok;
    }
    if (!ok || !start_workers(pool, PPU_MIN(config->sm_threads, config->sms))) {
        sm_pool_free(core);
        return false;
    }
    return true;
}

void sm_pool_free(struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);

    if (!pool) {
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    __atomic_store_n(&pool->paused, true, __ATOMIC_RELAXED);
    call_attention(pool);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->workers; i++) {
        pthread_join(pool->worker[i].thread, NULL);
    }
    for (uint32_t i = 0; i < pool->sms; i++) {
        sm_free(&pool->sm[i]);
    }
    tier_free(pool->tier);
    cache_l2_free(&pool->l2);
    for (uint32_t i = 0; i < PPU_MAX_GPCS; i++) {
        gpc_free(&pool->gpc[i]);
    }
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->idle);
    pthread_mutex_destroy(&pool->lock);
    free(pool->worker);
    free(pool->sm);
    free(pool);
    *core_sm_pool(core) = NULL;
}

void sm_pool_pause(struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);

    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->paused, true, __ATOMIC_RELAXED);
    call_attention(pool);
    pthread_cond_broadcast(&pool->wake);
    while (pool->parked < pool->workers) {
        pthread_cond_wait(&pool->idle, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void sm_pool_resume(struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);

    pthread_mutex_lock(&pool->lock);
    __atomic_store_n(&pool->paused, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool->lock);
    sm_wake(core);
}

void sm_pool_reset(struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);

    sm_pool_pause(core);
    for (uint32_t i = 0; i < pool->sms; i++) {
        sm_drop_all(&pool->sm[i]);
    }
    if (core_config_of(core)->cache_model) {
        cache_empty(&pool->l2.cache);
        for (uint32_t i = 0; i < core_config_of(core)->gpcs; i++) {
            gpc_empty(&pool->gpc[i]);
        }
    }
    pool->slice_ns = SLICE_NEVER;
    pool->spent_ns = 0;
    pool->slice.underway = false;
    __atomic_store_n(&pool->stirred, 0, __ATOMIC_SEQ_CST);
}

/* ---- slices ---- */

void sm_service_slices(struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);

    if (!sm_pool_in_slices(pool) || __atomic_exchange_n(&pool->stirred, 0, __ATOMIC_SEQ_CST) == 0) {
        return;
    }
    for (uint32_t i = 0; i < pool->sms; i++) {
        sm_attend(&pool->sm[i]);
    }
    if (pool->slice.underway) { /* an SM that has had its turn in it has one in the next */
        pool->slice.activity = SM_BUSY;
    }
    if (pool->slice_ns == SLICE_NEVER) {
        uint64_t now = core_now(core);
        pool->slice_ns = PPU_MAX(now, pool->spent_ns);
    }
}

uint64_t sm_slice_deadline(struct core *core)
{
    return (*core_sm_pool(core))->slice_ns;
}

static void slice_begin(struct sm_pool *pool, uint64_t now)
{
    pool->slice = (struct sm_slice){
        .underway = true,
        .begin_ns = now - pool->slice_ns < SM_SLICE_NS ? pool->slice_ns : now,
        .longest = 1,
        .activity = SM_IDLE,
    };
}

/* Lets the SM whose turn it is do so much work. Returns what it has done, an instruction at least. */
static uint64_t slice_turn(struct sm_pool *pool, uint64_t work)
{
    struct sm_slice *slice = &pool->slice;
    struct sm *sm = &pool->sm[slice->sm];
    const uint64_t before = sm->count[PPU_COUNTER_TRANSACTIONS];
    enum sm_activity activity;
    uint32_t executed = sm_run_part(sm, SM_SLICE_NS - slice->executed, work, &activity);

    slice->executed += executed;
    if (executed == 0 || activity != SM_BUSY || slice->executed >= SM_SLICE_NS) {
        slice->longest = PPU_MAX(slice->executed, slice->longest);
        slice->activity = PPU_MAX(activity, slice->activity);
        slice->executed = 0;
        slice->turn = 0;
        slice->sm++;
    }
    return 1 + executed + sm->count[PPU_COUNTER_TRANSACTIONS] - before;
}

/*
 * One warp instruction is 1 ns; the SMs run side by side, so a slice takes as long as the busiest. This is called under
 * the host's lock, so it does a part, which
 * must not depend on the host's speed, and leaves the deadline in the past when there is more.
 */
void sm_slice_run(struct core *core)
{
    struct sm_pool *pool = *core_sm_pool(core);
    struct sm_slice *slice = &pool->slice;
    bool more;

    if (debug_replay(core, &more)) {
        slice->underway = false;
        pool->slice_ns = more ? core_now(core) : SLICE_NEVER;
        return;
    }
    if (!slice->underway) {
        slice_begin(pool, core_now(core));
    }
    for (uint64_t done = 0; done < SM_SLICE_PART && slice->sm < pool->sms;) {
        done += slice_turn(pool, SM_SLICE_PART - done);
    }
    if (slice->sm == pool->sms) {
        slice->underway = false;
        pool->spent_ns = slice->begin_ns + (slice->activity == SM_STALLED ? SM_SLICE_NS : slice->longest);
        pool->slice_ns = slice->activity == SM_IDLE ? SLICE_NEVER : pool->spent_ns;
    }
}

/* ---- being observed ---- */

uint64_t sm_translations(struct core *core)
{
    return tier_made((*core_sm_pool(core))->tier);
}

/* The sum of a word of all SMs, at this offset. */
static uint64_t sum_of_sms(struct core *core, size_t offset)
{
    const struct sm_pool *pool = *core_sm_pool(core);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < pool->sms; i++) {
        const void *const word = (const uint8_t *)&pool->sm[i] + offset;
        sum += __atomic_load_n((const uint64_t *)word, __ATOMIC_RELAXED);
    }
    return sum;
}

uint64_t sm_whole_ctas(struct core *core)
{
    return sum_of_sms(core, offsetof(struct sm, whole_ctas));
}

uint64_t sm_replaced_ctas(struct core *core)
{
    return sum_of_sms(core, offsetof(struct sm, replaced_ctas));
}

uint64_t sm_count(struct core *core, uint32_t sm, enum ppu_counter counter)
{
    const struct sm_pool *pool = *core_sm_pool(core);

    return sm < pool->sms ? __atomic_load_n(&pool->sm[sm].count[counter], __ATOMIC_RELAXED) : 0;
}

uint64_t sm_gpc_count(struct core *core, uint32_t gpc, enum gpc_counter counter)
{
    struct sm_pool *pool = *core_sm_pool(core);

    return core_config_of(core)->cache_model && gpc < core_config_of(core)->gpcs ? gpc_count(&pool->gpc[gpc], counter)
                                                                                 : 0;
}

void sm_pool_text(struct core *core, char *buf, size_t size)
{
    static const char *const names[] = { "free", "ready", "barrier", "system", "stalled", "faulted", "done" };
    const struct sm_pool *pool = *core_sm_pool(core);
    bool was_paused = sm_pool_paused(pool) || sm_pool_in_slices(pool);
    size_t at = 0;

    if (size == 0) {
        return;
    }
    buf[0] = 0;
    if (!was_paused) {
        sm_pool_pause(core);
    }
    for (uint32_t i = 0; i < pool->sms && at < size; i++) {
        const struct sm *sm = &pool->sm[i];
        at += (size_t)snprintf(buf + at, size - at, "sm %u: %u CTAs;", i, sm->ctas_used);
        at = counters_text(sm->count, buf, size, at);
        for (uint32_t w = 0; w < core_config_of(core)->sm_warps && at < size; w++) {
            const struct warp *warp = &sm->warp[w];
            if (warp->state != WARP_FREE) {
                const struct dist_cta *cta = &sm->cta[warp->cta].cta;
                at += (size_t)snprintf(buf + at, size - at, "  slot %u cta %u,%u,%u warp %u: %s, instruction %u\n",
                                       cta->task->slot, cta->id[0], cta->id[1], cta->id[2], warp->number,
                                       names[warp->state], warp->pc);
            }
        }
    }
    if (!was_paused) {
        sm_pool_resume(core);
    }
}
