/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/debug_state.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/run_time.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/history.h"

#include "ppu/task.h"

#include <stdlib.h>
#include <string.h>

static size_t marks(const struct core *core)
{
    return (size_t)core->config.sms * core->config.sm_warps;
}

bool debug_init(struct core *core)
{
    pthread_mutex_init(&core->debug.watching, NULL);
    pthread_mutex_init(&core->debug.lock, NULL);
    core->debug.mark = calloc(marks(core), sizeof(struct debug_mark));
    return core->debug.mark;
}

void debug_destroy(struct core *core)
{
    history_free(core);
    pthread_mutex_destroy(&core->debug.watching);
    pthread_mutex_destroy(&core->debug.lock);
    free(core->debug.mark);
}

bool debug_halts(const struct core *core, uint32_t context)
{
    return (__atomic_load_n(&core->debug.halted[context / 32], __ATOMIC_RELAXED) >> context % 32 & 1u) != 0;
}

void debug_halt(struct core *core, uint32_t context, bool halt)
{
    uint32_t *word = &core->debug.halted[context / 32];

    if (halt) {
        __atomic_fetch_or(word, 1u << context % 32, __ATOMIC_SEQ_CST);
    } else {
        __atomic_fetch_and(word, ~(1u << context % 32), __ATOMIC_SEQ_CST);
    }
    dist_stand(core, context);
}

/* ---- tasks that stand alone ---- */

/* A handle is that of one task while it lives, also when it changes its slot. */
static uint64_t pack(uint32_t context, uint32_t task)
{
    return (uint64_t)(context + 1) << 32 | task;
}

static uint32_t context_in(uint64_t held)
{
    return (uint32_t)(held >> 32) - 1;
}

static uint32_t held_end(const struct core *core)
{
    return __atomic_load_n(&core->debug.held_end, __ATOMIC_RELAXED);
}

static uint64_t held_at(const struct core *core, uint32_t i)
{
    return __atomic_load_n(&core->debug.held[i], __ATOMIC_RELAXED);
}

static bool is_held(const struct core *core, uint64_t packed)
{
    for (uint32_t i = 0; i < held_end(core); i++) {
        if (held_at(core, i) == packed) {
            return true;
        }
    }
    return false;
}

static void held_grow(struct core *core, uint32_t end)
{
    uint32_t before = held_end(core);

    while (before < end && !__atomic_compare_exchange_n(&core->debug.held_end, &before, end, false, __ATOMIC_SEQ_CST,
                                                        __ATOMIC_RELAXED)) {
    }
}

bool debug_hold(struct core *core, uint32_t context, uint32_t task)
{
    const uint64_t packed = pack(context, task);
    bool held = is_held(core, packed);

    for (uint32_t i = 0; i < PPU_DEBUG_HELD && !held; i++) {
        uint64_t nobody = 0;
        held_grow(core, i + 1);
        held = __atomic_compare_exchange_n(&core->debug.held[i], &nobody, packed, false, __ATOMIC_SEQ_CST,
                                           __ATOMIC_RELAXED);
    }
    dist_stand(core, context);
    return held;
}

/* Forgets a task, or all of a context; two threads may have held it at the same time. */
static void forget_held(struct core *core, uint32_t context, uint32_t task)
{
    for (uint32_t i = 0; i < held_end(core); i++) {
        uint64_t held = held_at(core, i);
        if (held != 0 && (task == PPU_TASK_NULL ? context_in(held) == context : held == pack(context, task))) {
            __atomic_compare_exchange_n(&core->debug.held[i], &held, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        }
    }
}

void debug_release(struct core *core, uint32_t context, uint32_t task)
{
    forget_held(core, context, task);
    dist_stand(core, context);
}

void debug_ended(struct core *core, uint32_t context, uint32_t task)
{
    forget_held(core, context, task);
}

bool debug_stands(const struct core *core, uint32_t context, uint32_t task)
{
    return history_is_away(core) || debug_halts(core, context) ||
           (held_end(core) != 0 && is_held(core, pack(context, task)));
}

bool debug_stands_in(const struct core *core, uint32_t context)
{
    bool stands = debug_halts(core, context);

    for (uint32_t i = 0; i < held_end(core) && !stands; i++) {
        stands = held_at(core, i) != 0 && context_in(held_at(core, i)) == context;
    }
    return stands;
}

bool debug_spread(struct core *core, uint32_t context)
{
    struct ppu_debug_task task;
    bool all = true;

    for (uint32_t slot = 0; slot < core->config.slots && debug_halts(core, context); slot++) {
        if (dist_describe(core, slot, &task) && task.context == context) {
            all = task.task != PPU_TASK_NULL && debug_hold(core, context, task.task) && all;
        }
    }
    if (all && debug_halts(core, context)) {
        debug_halt(core, context, false);
    }
    return all;
}

void debug_gather(struct core *core, uint32_t context)
{
    if (debug_stands_in(core, context)) {
        debug_halt(core, context, true);
        debug_release(core, context, PPU_TASK_NULL);
    }
}

/* ---- stops ---- */

static void drop_step(struct debug *debug)
{
    __atomic_store_n(&debug->step.underway, 0, __ATOMIC_SEQ_CST);
}

void debug_forget(struct core *core)
{
    struct debug *debug = &core->debug;

    history_free(core);
    __atomic_store_n(&debug->on, 0, __ATOMIC_SEQ_CST);
    drop_step(debug);
    for (uint32_t context = 0; context < core->config.contexts; context++) {
        if (debug_stands_in(core, context)) {
            debug_release(core, context, PPU_TASK_NULL);
            debug_halt(core, context, false);
        }
    }
    __atomic_store_n(&debug->held_end, 0, __ATOMIC_SEQ_CST);
    debug->one_task = 0;
    memset(debug->break_at, 0, sizeof(debug->break_at));
    memset(debug->watch, 0, sizeof(debug->watch));
    memset(debug->mark, 0, marks(core) * sizeof(struct debug_mark));
    debug->breaks = debug->watches = debug->stop_at = debug->stopped_sm = 0;
    debug->owner = 0;
    pthread_mutex_lock(&debug->lock);
    debug->events = 0;
    pthread_mutex_unlock(&debug->lock);
}

void debug_forget_context(struct core *core, uint32_t context)
{
    struct debug *debug = &core->debug;

    drop_step(debug);
    debug_release(core, context, PPU_TASK_NULL);
    debug_halt(core, context, false);
    for (uint32_t i = 0; i < debug->breaks; i++) {
        debug->break_at[i].set = debug->break_at[i].set && debug->break_at[i].context != context;
    }
    for (uint32_t i = 0; i < debug->watches; i++) {
        debug->watch[i].set = debug->watch[i].set && debug->watch[i].context != context;
    }
}

void debug_stop(struct core *core, uint32_t context, uint32_t task, struct ppu_debug_event *event)
{
    struct debug *debug = &core->debug;

    drop_step(debug);
    if (debug->one_task == 0 || task == PPU_TASK_NULL || !debug_hold(core, context, task)) {
        debug_halt(core, context, true);
    }
    if (debug->history) {
        debug->history->phase = HISTORY_STANDS;
    }
    debug_tell(core, context, event);
}

void debug_tell(struct core *core, uint32_t context, struct ppu_debug_event *event)
{
    struct debug *debug = &core->debug;

    pthread_mutex_lock(&debug->lock);
    event->context = context;
    event->number = debug->events + 1;
    debug->event[debug->events % PPU_DEBUG_EVENTS] = *event;
    debug->events++;
    pthread_mutex_unlock(&debug->lock);
}
