/* SPDX-License-Identifier: MIT */
#include "tests/device-core/fake_sm.h"
#include "ppu/fault.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/census.h"
#include "qemu-device/core/dist/cta_life.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/ends.h"
#include "qemu-device/core/dist/hand_out.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/engine/levels.h"
#include "qemu-device/core/sm/gauges.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/sm_snapshot.h"
#include "qemu-device/core/snapshot.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_NS 1000u
#define SM_CTAS 256u

struct fake_sm {
    struct dist_cta cta[SM_CTAS];
    uint32_t count; /* resident; only the SM's thread changes it, atomically */
    struct dist_room room;
    uint64_t flush[PPU_MAX_CONTEXTS / 64]; /* atomic */
    uint64_t random;
    uint64_t insns;
};

struct sm_pool {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fake_plan plan;
    struct fake_sm sm[PPU_MAX_SMS];
    pthread_t thread[PPU_MAX_SMS];
    uint32_t threads;
    uint32_t standing;  /* threads that stand still */
    uint32_t attention; /* atomic: something to look at */
    bool paused;
    bool quit;
    uint64_t slice_ns;
};

struct worker {
    struct core *core;
    uint32_t first;
};

static struct sm_pool *pool_of(struct core *core)
{
    return *core_sm_pool(core);
}

static uint32_t chance(struct fake_sm *sm, uint32_t in)
{
    sm->random ^= sm->random << 13;
    sm->random ^= sm->random >> 7;
    sm->random ^= sm->random << 17;
    return in != 0 && (sm->random >> 20) % in == 0;
}

static void room_add(struct dist_room *room, const struct dist_cta *cta, int sign)
{
    const struct dist_task *task = cta->task;

    room->passes += (uint32_t)sign * task->cta_passes;
    room->ctas += (uint32_t)sign;
    room->vregs += (uint32_t)sign * task->cta_vregs[cta->wide];
    room->shared_bytes += (uint32_t)sign * task->tmd.shared_bytes;
}

/* CTAs that may be so are wide and narrow by turns. */
bool sm_wants_wide(struct core *core, uint32_t sm, const struct dist_task *task)
{
    (void)task;
    return pool_of(core)->sm[sm].count % 2 != 0;
}

static struct dist_cta drop(struct core *core, uint32_t index, uint32_t at)
{
    struct fake_sm *sm = &pool_of(core)->sm[index];
    struct dist_cta cta = sm->cta[at];

    sm->cta[at] = sm->cta[sm->count - 1];
    __atomic_store_n(&sm->count, sm->count - 1, __ATOMIC_SEQ_CST);
    room_add(&sm->room, &cta, 1);
    __atomic_store_n(&pool_of(core)->attention, 1, __ATOMIC_SEQ_CST); /* there is room for another */
    return cta;
}

static void step_cta(struct core *core, uint32_t index, uint32_t at, struct dist_ends *ends)
{
    struct sm_pool *pool = pool_of(core);
    struct fake_sm *sm = &pool->sm[index];
    const struct dist_cta cta = sm->cta[at];

    sm->insns++;
    if (dist_killing(core, cta.task->slot)) {
        drop(core, index, at);
        dist_killed(core, index, &cta, (const uint64_t[PPU_COUNTERS]){ 1 });
    } else if (chance(sm, pool->plan.fault_in)) {
        struct ppu_fault_event event = { .code = PPU_FAULT_TRAP, .address = cta.number };

        dist_fault(core, index, &cta, &event);
    } else if (chance(sm, pool->plan.end_in)) {
        drop(core, index, at);
        if (pool->plan.ended) {
            pool->plan.ended(pool->plan.opaque, index, &cta);
        }
        if (ends->held == DIST_ENDS) {
            dist_done(core, index, ends);
        }
        ends->cta[ends->held] = cta;
        ends->count[ends->held++][0] = 10;
    }
}

static void answer_flushes(struct core *core, uint32_t index)
{
    struct fake_sm *sm = &pool_of(core)->sm[index];

    for (uint32_t context = 0; context < PPU_MAX_CONTEXTS; context++) {
        uint64_t bit = 1ull << context % 64;

        if (__atomic_fetch_and(&sm->flush[context / 64], ~bit, __ATOMIC_SEQ_CST) & bit) {
            dist_flushed(core, index, context);
        }
    }
}

static void take_ctas(struct core *core, uint32_t index, struct dist_ends *ends)
{
    struct fake_sm *sm = &pool_of(core)->sm[index];
    struct dist_cta cta;

    while (sm->count < SM_CTAS && dist_take(core, index, &sm->room, ends, 1, &cta)) {
        room_add(&sm->room, &cta, -1);
        sm->cta[sm->count] = cta;
        __atomic_store_n(&sm->count, sm->count + 1, __ATOMIC_SEQ_CST);
    }
}

/* The distributor is told of ends when others have the room of the CTAs already. */
static void step_sm(struct core *core, uint32_t index)
{
    struct dist_ends ends = { .held = 0 };

    answer_flushes(core, index);
    take_ctas(core, index, &ends);
    for (uint32_t at = pool_of(core)->sm[index].count; at-- > 0;) {
        step_cta(core, index, at, &ends);
    }
    take_ctas(core, index, &ends);
    if (ends.held != 0) {
        dist_done(core, index, &ends);
    }
}

/* ---- threads ---- */

/* False: the pool ends. */
static bool stand(struct sm_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->standing++;
    pthread_cond_broadcast(&pool->changed);
    while (pool->paused && !pool->quit) {
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pool->standing--;
    bool go_on = !pool->quit;
    pthread_mutex_unlock(&pool->lock);
    return go_on;
}

static bool must_stand(struct sm_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool must = pool->paused || pool->quit;
    pthread_mutex_unlock(&pool->lock);
    return must;
}

static void *work(void *argument)
{
    struct worker worker = *(struct worker *)argument;
    struct sm_pool *pool = pool_of(worker.core);
    uint32_t sms = core_config_of(worker.core)->sms;

    free(argument);
    while (!must_stand(pool) || stand(pool)) {
        for (uint32_t sm = worker.first; sm < sms; sm += pool->threads) {
            step_sm(worker.core, sm);
        }
        sched_yield();
    }
    return NULL;
}

/* ---- the interface of sm.c ---- */

static void clear_sms(struct core *core)
{
    const struct core_config *config = core_config_of(core);

    for (uint32_t i = 0; i < config->sms; i++) {
        struct fake_sm *sm = &pool_of(core)->sm[i];

        memset(sm, 0, sizeof(*sm));
        sm->random = 88172645463325252ull + i;
        sm->room =
            (struct dist_room){ config->sm_warps, config->sm_ctas, config->sm_vregs, config->sm_shared, UINT32_MAX };
    }
}

bool sm_pool_new(struct core *core)
{
    struct sm_pool *pool = calloc(1, sizeof(*pool));

    if (!pool) {
        return false;
    }
    *core_sm_pool(core) = pool;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->paused = true;
    pool->threads = core_config_of(core)->sm_threads;
    pool->plan.end_in = 3;
    clear_sms(core);
    for (uint32_t i = 0; i < pool->threads; i++) {
        struct worker *worker = malloc(sizeof(*worker));

        *worker = (struct worker){ core, i };
        pthread_create(&pool->thread[i], NULL, work, worker);
    }
    return true;
}

void sm_pool_pause(struct core *core)
{
    struct sm_pool *pool = pool_of(core);

    pthread_mutex_lock(&pool->lock);
    pool->paused = true;
    while (pool->standing != pool->threads) {
        pthread_cond_wait(&pool->changed, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

void sm_pool_resume(struct core *core)
{
    struct sm_pool *pool = pool_of(core);

    pthread_mutex_lock(&pool->lock);
    pool->paused = false;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

void sm_pool_reset(struct core *core)
{
    sm_pool_pause(core);
    clear_sms(core);
}

void sm_pool_free(struct core *core)
{
    struct sm_pool *pool = pool_of(core);

    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->threads; i++) {
        pthread_join(pool->thread[i], NULL);
    }
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->changed);
    free(pool);
}

void sm_wake(struct core *core)
{
    __atomic_store_n(&pool_of(core)->attention, 1, __ATOMIC_SEQ_CST);
    core_kick(core);
}

void sm_offer(struct core *core)
{
    sm_wake(core);
}

void sm_kill(struct core *core, uint32_t slot)
{
    (void)slot; /* every step looks at dist_killing() */
    sm_wake(core);
}

bool sm_move_tokens(struct core *core, uint32_t sm, uint32_t warp, uint32_t first)
{
    (void)first; /* no warp has a queue */
    return sm < core_config_of(core)->sms && warp < core_config_of(core)->sm_warps;
}

void sm_flush(struct core *core, uint32_t context)
{
    for (uint32_t i = 0; i < core_config_of(core)->sms; i++) {
        __atomic_fetch_or(&pool_of(core)->sm[i].flush[context / 64], 1ull << context % 64, __ATOMIC_SEQ_CST);
    }
    sm_wake(core);
}

void sm_service_system(struct core *core)
{
    (void)core;
}

bool sm_waits_for_system(struct core *core)
{
    (void)core;
    return false;
}

void sm_service_slices(struct core *core)
{
    (void)core;
}

uint64_t sm_slice_deadline(struct core *core)
{
    struct sm_pool *pool = pool_of(core);
    bool idle = fake_resident(core) == 0 && __atomic_load_n(&pool->attention, __ATOMIC_SEQ_CST) == 0;

    if (idle) {
        pool->slice_ns = UINT64_MAX;
    } else if (pool->slice_ns == UINT64_MAX || pool->slice_ns == 0) {
        pool->slice_ns = core_now(core) + SLICE_NS;
    }
    return pool->slice_ns;
}

void sm_slice_run(struct core *core)
{
    struct sm_pool *pool = pool_of(core);

    __atomic_store_n(&pool->attention, 0, __ATOMIC_SEQ_CST);
    pool->slice_ns = core_now(core) + SLICE_NS;
    for (uint32_t sm = 0; sm < core_config_of(core)->sms; sm++) {
        step_sm(core, sm);
    }
}

uint64_t sm_time_ns(struct core *core, uint32_t context)
{
    (void)core, (void)context;
    return 0;
}

struct sm_gauges sm_gauges(struct core *core, uint32_t number)
{
    (void)core;
    return (struct sm_gauges){ .busy_ns = 1000u + number, .ctas = number };
}

uint32_t sm_threads(struct core *core)
{
    (void)core;
    return 0;
}

uint64_t sm_thread_ns(struct core *core, uint32_t thread)
{
    (void)core, (void)thread;
    return 0;
}

uint64_t sm_gpc_count(struct core *core, uint32_t gpc, enum gpc_counter counter)
{
    (void)core;
    return ((uint64_t)(counter + 1) << 32) + 100 + gpc;
}

uint64_t sm_count(struct core *core, uint32_t sm, enum ppu_counter counter)
{
    return counter != PPU_COUNTER_INSNS ? 0 : __atomic_load_n(&pool_of(core)->sm[sm].insns, __ATOMIC_SEQ_CST);
}

void sm_pool_save(struct core *core, struct snap *snap)
{
    for (uint32_t i = 0; i < core_config_of(core)->sms; i++) {
        const struct fake_sm *sm = &pool_of(core)->sm[i];

        snap_put_u32(snap, sm->count);
        for (uint32_t at = 0; at < sm->count; at++) {
            snap_put_u32(snap, sm->cta[at].task->slot);
            snap_put_u64(snap, sm->cta[at].number);
            snap_put_u32(snap, sm->cta[at].local_backing);
            snap_put_u32(snap, sm->cta[at].wide);
        }
    }
}

static bool load_cta(struct core *core, struct snap *snap, uint32_t index)
{
    struct fake_sm *sm = &pool_of(core)->sm[index];
    struct dist_cta cta = { .task = dist_task_of(core, snap_get_u32(snap)), .save = DIST_NO_SAVE };

    cta.number = snap_get_u64(snap);
    cta.local_backing = snap_get_u32(snap);
    cta.wide = snap_get_flag(snap);
    if (!cta.task || sm->room.ctas == 0 || snap->bad) {
        return false;
    }
    if (!dist_loaded_cta(core, index, &cta, snap)) {
        return false;
    }
    room_add(&sm->room, &cta, -1);
    sm->cta[sm->count++] = cta;
    return true;
}

bool sm_pool_load(struct core *core, struct snap *snap)
{
    for (uint32_t i = 0; i < core_config_of(core)->sms; i++) {
        uint32_t count = snap_get_u32(snap);

        for (uint32_t at = 0; at < count; at++) {
            if (!load_cta(core, snap, i)) {
                return false;
            }
        }
    }
    return !snap->bad;
}

void sm_pool_text(struct core *core, char *buf, size_t size)
{
    snprintf(buf, size, "SMs: %u CTAs resident\n", fake_resident(core));
}

/* ---- for tests ---- */

void fake_plan_set(struct core *core, const struct fake_plan *plan)
{
    sm_pool_pause(core);
    pool_of(core)->plan = *plan;
    sm_pool_resume(core);
}

uint32_t fake_resident(struct core *core)
{
    uint32_t resident = 0;

    for (uint32_t i = 0; i < core_config_of(core)->sms; i++) {
        resident += __atomic_load_n(&pool_of(core)->sm[i].count, __ATOMIC_SEQ_CST);
    }
    return resident;
}

/* Without an engine every level that a machine may ask for is there. */
uint32_t engine_level(uint32_t wanted)
{
    return wanted == 0 ? 1 : wanted;
}
