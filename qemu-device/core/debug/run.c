/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs warps while there is a debugger. A task that no breakpoint, watchpoint or step is about runs as ever; any other
 * runs instruction by instruction.
 */
#include "qemu-device/core/debug/run.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/debug/inspect.h"
#include "qemu-device/core/debug/replay.h"
#include "qemu-device/core/debug/stops.h"
#include "qemu-device/core/debug_state.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/engine/look.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/task.h"

#include <string.h>

/* Warp instructions under the host lock: of each SM, and of all. */
#define FIRST_TURN 64u
#define FIRST_TURNS 2048u
_Static_assert(FIRST_TURNS >= PPU_MAX_SMS, "each SM has a turn");

bool debug_on(const struct core *core)
{
    return __atomic_load_n(&core->debug.on, __ATOMIC_RELAXED) != 0;
}

static const struct sm_cta *cta_of(const struct sm *sm, uint32_t index)
{
    return &sm->cta[sm->warp[index].cta];
}

static uint32_t context_of(const struct sm *sm, uint32_t index)
{
    return cta_of(sm, index)->cta.task->tmd.context;
}

static struct debug_mark *mark_of(const struct sm *sm, uint32_t index)
{
    return &sm->core->debug.mark[(size_t)sm->number * sm->config->sm_warps + index];
}

/* What stops warps of a task besides: PPU_DEBUG_AT_*. */
static uint32_t stops_of(const struct sm *sm, uint32_t index)
{
    const struct debug *debug = &sm->core->debug;

    return debug->stop_context == PPU_DEBUG_ALL || debug->stop_context == context_of(sm, index) ? debug->stop_at : 0;
}

/* The warp is the one that is stepped. */
static bool is_stepped(const struct sm *sm, uint32_t index)
{
    const struct debug_step *step = &sm->core->debug.step;
    const struct dist_cta *cta = &cta_of(sm, index)->cta;

    return __atomic_load_n(&step->underway, __ATOMIC_RELAXED) != 0 && step->at.sm == sm->number &&
           step->at.warp == index && step->at.start == cta->task->start && step->at.cta == cta->number;
}

/* The warp that is stepped waits at a barrier, to which the others of its CTA have to come. */
static bool helps_step(const struct sm *sm, uint32_t index)
{
    const struct debug_step *step = &sm->core->debug.step;

    return __atomic_load_n(&step->underway, __ATOMIC_RELAXED) != 0 && step->at.sm == sm->number &&
           sm->warp[step->at.warp].state == WARP_BARRIER && sm->warp[step->at.warp].cta == sm->warp[index].cta &&
           is_stepped(sm, step->at.warp);
}

bool debug_holds(const struct sm *sm, uint32_t index)
{
    const struct ppu_tmd *tmd = &cta_of(sm, index)->cta.task->tmd;

    return debug_stands(sm->core, tmd->context, tmd->task) && !is_stepped(sm, index) && !helps_step(sm, index);
}

/* ---- stopping ---- */

void stops_stop(struct sm *sm, uint32_t index, enum ppu_debug_why why, uint32_t id, const uint64_t value[2])
{
    const struct warp *const w = &sm->warp[index];
    const struct dist_cta *const cta = &cta_of(sm, index)->cta;
    struct ppu_debug_event event = {
        .why = why,
        .at = { sm->number, index, cta->task->start, cta->number },
        .slot = cta->task->slot,
        .pc = w->pc,
        .id = id,
        .value = { value ? value[0] : 0, value ? value[1] : 0 },
    };

    *mark_of(sm, index) = (struct debug_mark){ (uint8_t)why, mark_of(sm, index)->told, w->pc };
    __atomic_store_n(&sm->core->debug.stopped_sm, sm->number, __ATOMIC_RELAXED);
    debug_stop(sm->core, context_of(sm, index), cta->task->tmd.task, &event);
}

/* ---- before an instruction ---- */

static bool matches(const struct debug_break *at, const struct warp *w, const struct dist_cta *cta)
{
    const struct ppu_tmd *tmd = &cta->task->tmd;

    return at->set && at->context == tmd->context && at->address == tmd->code_va + (uint64_t)w->pc * PPU_INSN_BYTES &&
           (at->lane == PPU_DEBUG_ANY_LANE || lanes_has(&w->active, at->lane)) &&
           (!at->of_one_cta || memcmp(at->cta, cta->id, sizeof(at->cta)) == 0);
}

uint32_t stops_break_at(const struct sm *sm, uint32_t index)
{
    const struct debug *debug = &sm->core->debug;

    for (uint32_t i = 0; i < debug->breaks; i++) {
        if (matches(&debug->break_at[i], &sm->warp[index], &cta_of(sm, index)->cta)) {
            return i;
        }
    }
    return PPU_DEBUG_BREAKS;
}

static bool stops_at_break(struct sm *sm, uint32_t index)
{
    const uint32_t number = stops_break_at(sm, index);

    if (number != PPU_DEBUG_BREAKS) {
        stops_stop(sm, index, PPU_DEBUG_AT_BREAK, number, NULL);
    }
    return number != PPU_DEBUG_BREAKS;
}

/* The first warp of a task's first CTA stands for all. */
bool stops_entry_at(const struct sm *sm, uint32_t index)
{
    const struct warp *const w = &sm->warp[index];
    const struct dist_cta *const cta = &cta_of(sm, index)->cta;
    const uint32_t at = stops_of(sm, index);

    return w->fresh && w->number == 0 && cta->number == 0 &&
           ((at & PPU_DEBUG_AT_ENTRY) != 0 || ((at & PPU_DEBUG_AT_CHILD) != 0 && cta->task->tmd.depth > 1));
}

static bool step_is_over(const struct sm *sm, uint32_t index)
{
    const struct debug_step *step = &sm->core->debug.step;
    const struct warp *const w = &sm->warp[index];

    if (step->executed == 0 || (step->lane != PPU_DEBUG_ANY_LANE && !lanes_has(&w->active, step->lane))) {
        return step->executed != 0 && !lanes_has(&w->live, step->lane % PPU_MAX_WAVE);
    }
    for (uint32_t i = 0; step->in_range && i < step->ranges; i++) {
        if (w->pc >= step->range[i].first && w->pc < step->range[i].end) {
            return false;
        }
    }
    return true;
}

bool stops_before(struct sm *sm, uint32_t index)
{
    struct warp *const w = &sm->warp[index];
    struct debug_mark *const mark = mark_of(sm, index);
    const bool passes = mark->stopped != 0 && mark->pc == w->pc;

    if (is_stepped(sm, index) && step_is_over(sm, index)) {
        stops_stop(sm, index, PPU_DEBUG_STEPPED, 0, NULL);
        return true;
    }
    if (!passes && stops_entry_at(sm, index)) {
        stops_stop(sm, index, PPU_DEBUG_ENTERED, 0, NULL);
        return true;
    }
    if (!passes && stops_at_break(sm, index)) {
        return true;
    }
    mark->stopped = 0;
    w->fresh = false; /* it executes what its CTA's first warp has executed, too */
    return false;
}

/* ---- watchpoints ---- */

/* What others than warps have changed meanwhile; then what the warp has. `changed`: filled in; its number, or none. */
uint32_t stops_find_change(struct sm *sm, uint64_t changed[2])
{
    struct debug *debug = &sm->core->debug;

    for (uint32_t i = 0; i < debug->watches; i++) {
        struct debug_watch *watch = &debug->watch[i];
        uint64_t value;
        if (watch->set && inspect_watched(sm, watch, &value) && value != watch->value) {
            changed[0] = watch->value;
            changed[1] = value;
            watch->value = value;
            return i;
        }
    }
    return PPU_DEBUG_WATCHES;
}

static void stop_for_others(struct sm *sm, uint32_t context, uint32_t id, const uint64_t changed[2])
{
    struct ppu_debug_event event = {
        .why = PPU_DEBUG_AT_WATCH,
        .at = { sm->number, PPU_DEBUG_NO_WARP, 0, 0 },
        .slot = PPU_DEBUG_ALL,
        .id = id,
        .value = { changed[0], changed[1] },
    };

    debug_stop(sm->core, context, PPU_TASK_NULL, &event);
}

/* One instruction, and nobody else's meanwhile. */
static uint32_t step_watched(struct sm *sm, uint32_t index, struct engine_stepped *stepped)
{
    uint64_t changed[2];

    pthread_mutex_lock(&sm->core->debug.watching);
    uint32_t id = stops_find_change(sm, changed);
    if (id != PPU_DEBUG_WATCHES) {
        stop_for_others(sm, context_of(sm, index), id, changed);
    }
    uint32_t done = engine_step(sm, index, stepped);
    pending_adds_flush(sm);
    id = stops_find_change(sm, changed);
    pthread_mutex_unlock(&sm->core->debug.watching);
    if (id != PPU_DEBUG_WATCHES) {
        stops_stop(sm, index, PPU_DEBUG_AT_WATCH, id, changed);
    }
    return done;
}

/* ---- running ---- */

static bool concerns_code(const struct debug *debug, const struct ppu_tmd *tmd)
{
    for (uint32_t i = 0; i < debug->breaks; i++) {
        const struct debug_break *at = &debug->break_at[i];
        if (at->set && at->context == tmd->context && at->address - tmd->code_va < tmd->code_bytes) {
            return true;
        }
    }
    return false;
}

bool stops_watched(const struct sm *sm, uint32_t context)
{
    const struct debug *debug = &sm->core->debug;

    for (uint32_t i = 0; i < debug->watches; i++) {
        if (debug->watch[i].set && debug->watch[i].context == context) {
            return true;
        }
    }
    return false;
}

uint32_t stops_execute(struct sm *sm, uint32_t index, bool watched)
{
    struct debug *debug = &sm->core->debug;
    const struct sm_cta *const cta = cta_of(sm, index);
    const uint64_t divergent = cta->count[PPU_COUNTER_DIVERGENT];
    const bool stepped = is_stepped(sm, index);
    struct engine_stepped at;

    if (stepped) {
        debug->step.active = sm->warp[index].active;
    }
    uint32_t done = watched ? step_watched(sm, index, &at) : engine_step(sm, index, &at);

    if (stepped && done != 0) {
        const uint32_t lane = debug->step.lane;
        debug->step.executed += lane == PPU_DEBUG_ANY_LANE || debug->step.executed != 0 ||
                                lanes_has(&debug->step.active, lane % PPU_MAX_WAVE);
    }
    if (done != 0 && (stops_of(sm, index) & PPU_DEBUG_AT_DIVERGENCE) != 0 &&
        cta->count[PPU_COUNTER_DIVERGENT] != divergent && sm->warp[index].state == WARP_READY) {
        stops_stop(sm, index, PPU_DEBUG_DIVERGED, 0, NULL);
    }
    return done;
}

void stops_ended(struct sm *sm, uint32_t index)
{
    if (sm->warp[index].state == WARP_DONE && is_stepped(sm, index)) {
        stops_stop(sm, index, PPU_DEBUG_ENDED, 0, NULL);
    }
}

uint32_t debug_run(struct sm *sm, uint32_t index, uint32_t budget)
{
    const struct debug *debug = &sm->core->debug;
    const struct warp *const w = &sm->warp[index];
    const struct ppu_tmd *tmd = &cta_of(sm, index)->cta.task->tmd;
    const bool watched = stops_watched(sm, tmd->context), recorded = debug->history;
    uint32_t done = 0, more = 1;

    if (history_is_away(sm->core)) {
        return replay_warp(sm, index);
    }
    if (!watched && !recorded && (stops_of(sm, index) & ~PPU_DEBUG_AT_FAULT) == 0 && !is_stepped(sm, index) &&
        mark_of(sm, index)->stopped == 0 && !concerns_code(debug, tmd)) {
        return engine_run(sm, index, budget);
    }
    do {
        if (w->state == WARP_READY && !warp_begun(w) && (!engine_ready(sm, index) || stops_before(sm, index))) {
            break;
        }
        if (recorded) {
            replay_before(sm);
        }
        more = stops_execute(sm, index, watched);
        done += more;
        if (recorded) {
            replay_after(sm, index);
        }
    } while (more != 0 && done < budget && w->state == WARP_READY && !sm_attention(sm) && !debug_holds(sm, index));
    stops_ended(sm, index);
    return done;
}

/* A warp that has stopped may be a few instructions away from its next stop. Without a turn before it, the others would
 * never run where it is always the first to go on. */
void debug_first_turns(struct core *core, uint32_t context)
{
    struct sm_pool *const pool = *core_sm_pool(core);
    const uint32_t last = __atomic_load_n(&core->debug.stopped_sm, __ATOMIC_RELAXED);
    const uint32_t budget = PPU_MIN(FIRST_TURN, FIRST_TURNS / pool->sms);
    uint32_t executed = 0;

    if (core->paused) {
        return;
    }
    /* A fault that was told is reported before others stop with theirs. */
    for (uint32_t i = 0; i < pool->sms; i++) {
        sm_retry_stalled(&pool->sm[i], &executed);
    }
    for (uint32_t i = 1; i <= pool->sms; i++) {
        sm_turn_in(&pool->sm[(last + i) % pool->sms], context, budget);
    }
}

bool debug_fault(struct sm *sm, uint32_t index)
{
    const struct warp *const w = &sm->warp[index];
    const uint64_t address[2] = { w->fault.address, 0 };
    struct debug_mark *const mark = mark_of(sm, index);

    if (history_is_away(sm->core) || debug_holds(sm, index)) {
        return true;
    }
    if ((stops_of(sm, index) & PPU_DEBUG_AT_FAULT) == 0 || mark->told) {
        return false;
    }
    mark->told = true;
    stops_stop(sm, index, PPU_DEBUG_FAULTED, w->fault.code, address);
    return true;
}

void debug_gone(struct sm *sm, uint32_t index)
{
    if (debug_on(sm->core) && sm->warp[index].state != WARP_DONE && is_stepped(sm, index)) {
        stops_stop(sm, index, PPU_DEBUG_ENDED, 0, NULL);
    }
    *mark_of(sm, index) = (struct debug_mark){ .stopped = 0 };
}
