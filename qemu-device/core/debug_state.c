/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/debug_state.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/run_time.h"

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
    dist_stand(core, context, halt);
}

static void drop_step(struct debug *debug)
{
    __atomic_store_n(&debug->step.underway, 0, __ATOMIC_SEQ_CST);
}

void debug_forget(struct core *core)
{
    struct debug *debug = &core->debug;

    __atomic_store_n(&debug->on, 0, __ATOMIC_SEQ_CST);
    drop_step(debug);
    for (uint32_t context = 0; context < core->config.contexts; context++) {
        if (debug_halts(core, context)) {
            debug_halt(core, context, false);
        }
    }
    memset(debug->break_at, 0, sizeof(debug->break_at));
    memset(debug->watch, 0, sizeof(debug->watch));
    memset(debug->mark, 0, marks(core) * sizeof(struct debug_mark));
    debug->breaks = debug->watches = debug->stop_at = 0;
    debug->owner = 0;
    pthread_mutex_lock(&debug->lock);
    debug->events = 0;
    pthread_mutex_unlock(&debug->lock);
}

void debug_forget_context(struct core *core, uint32_t context)
{
    struct debug *debug = &core->debug;

    drop_step(debug);
    debug_halt(core, context, false);
    for (uint32_t i = 0; i < debug->breaks; i++) {
        debug->break_at[i].set = debug->break_at[i].set && debug->break_at[i].context != context;
    }
    for (uint32_t i = 0; i < debug->watches; i++) {
        debug->watch[i].set = debug->watch[i].set && debug->watch[i].context != context;
    }
}

void debug_stop(struct core *core, uint32_t context, struct ppu_debug_event *event)
{
    struct debug *debug = &core->debug;

    drop_step(debug);
    debug_halt(core, context, true);
    pthread_mutex_lock(&debug->lock);
    event->context = context;
    event->number = debug->events + 1;
    debug->event[debug->events % PPU_DEBUG_EVENTS] = *event;
    debug->events++;
    pthread_mutex_unlock(&debug->lock);
}
