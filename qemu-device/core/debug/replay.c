/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/debug/replay.h"
#include "ppu/task.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/debug/inspect.h"
#include "qemu-device/core/debug/rewind.h"
#include "qemu-device/core/debug/run.h"
#include "qemu-device/core/debug/stops.h"
#include "qemu-device/core/debug_state.h"
#include "qemu-device/core/dist/run_time.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/engine/look.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

#include <stddef.h>

#define PART_UNITS 2048u /* that are executed again at once: others wait for the host lock */

static struct history *history_of(const struct core *core)
{
    return core->debug.history;
}

static const struct sm_cta *cta_of(const struct sm *sm, uint32_t index)
{
    return &sm->cta[sm->warp[index].cta];
}

/* ---- recording ---- */

void replay_before(struct sm *sm)
{
    struct history *history = history_of(sm->core);

    if (!history->begun) {
        history_empty(sm->core);
        history->begun = rewind_take(sm->core, &history->base);
    }
}

/* What a warp waits for may come at any time. */
void replay_after(struct sm *sm, uint32_t index)
{
    const struct warp *const w = &sm->warp[index];

    pending_adds_flush(sm);
    if (w->state == WARP_STALLED || w->state == WARP_SYSTEM || w->held) {
        (void)history_effect(sm->core);
    } else {
        history_add(sm->core, sm->number, index);
    }
}

/* ---- the present ---- */

static void tell_turning(struct core *core, enum ppu_debug_turning why)
{
    const struct history *history = history_of(core);
    struct ppu_debug_warp warp;
    struct ppu_debug_event event = {
        .why = PPU_DEBUG_TURNED,
        .at = { history->wish.at.sm, PPU_DEBUG_NO_WARP, 0, 0 },
        .slot = PPU_DEBUG_ALL,
        .id = why,
    };

    if (inspect_find(core, &history->wish.at, &warp)) {
        event.at = warp.at;
        event.slot = warp.slot;
        event.pc = warp.pc;
    }
    debug_tell(core, history->context, &event);
}

/* All tasks stand while the state is not the present one, or do not any more. */
static void stand_all(struct core *core)
{
    for (uint32_t context = 0; context < core->config.contexts; context++) {
        dist_stand(core, context);
    }
}

static void put_present(struct core *core)
{
    struct history *history = history_of(core);

    history->phase = HISTORY_STANDS;
    history->runs = false;
    history_go(core);
    history_put_after(core);
    rewind_put(core, &history->present);
    history->past = false;
    history->at = history->units;
    stand_all(core);
    sm_wake(core);
}

static void come_back(struct core *core, enum ppu_debug_turning why)
{
    put_present(core);
    tell_turning(core, why);
}

/* What is executed again did something else than it did: nothing of it can be believed. */
static void give_up_history(struct core *core)
{
    come_back(core, PPU_DEBUG_DIFFERED);
    history_empty(core);
}

/* To the begin of what is recorded. */
static void rewind_all(struct core *core)
{
    struct history *history = history_of(core);

    history_go(core);
    history_put_before(core);
    rewind_put(core, &history->base);
    history->at = 0;
    history->turn_at = history->turn_done = 0;
    history->was_inside = false;
    history->broken = false;
}

static bool leave_present(struct core *core)
{
    struct history *history = history_of(core);

    if (!rewind_take(core, &history->present) || !history_leave(core)) {
        return false;
    }
    history->digest = rewind_digest(core);
    history->checked = false;
    stand_all(core);
    return true;
}

/* ---- requests ---- */

enum ppu_debug_status replay_record(struct core *core, const struct ppu_debug_request *request)
{
    const bool on = (request->flags & PPU_DEBUG_RECORDS) != 0;

    if ((request->flags & ~PPU_DEBUG_RECORDS) != 0 || request->value > HISTORY_UNITS ||
        request->count > HISTORY_PAGES) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if (on && !sm_pool_in_slices(*core_sm_pool(core))) {
        return PPU_DEBUG_UNORDERED;
    }
    if (!on) {
        if (history_is_away(core)) {
            put_present(core);
        }
        history_free(core);
        return PPU_DEBUG_OK;
    }
    if (!history_of(core)) {
        if (!history_new(core, request->value != 0 ? (uint32_t)request->value : HISTORY_UNITS,
                         request->count != 0 ? request->count : HISTORY_PAGES)) {
            return PPU_DEBUG_NO_ROOM;
        }
        history_of(core)->come_back = come_back;
    }
    return PPU_DEBUG_OK;
}

static bool back_is_usable(const struct ppu_debug_request *request)
{
    return request->flags < PPU_DEBUG_BACKS && request->ranges <= PPU_DEBUG_RANGES &&
           (request->lane == PPU_DEBUG_ANY_LANE || request->lane < PPU_MAX_WAVE) &&
           (request->flags != PPU_DEBUG_BACK_REGISTER ||
            (request->number < PPU_MAX_VREGS && request->lane != PPU_DEBUG_ANY_LANE)) &&
           (request->flags != PPU_DEBUG_BACK_MEMORY ||
            (request->count != 0 && request->count <= sizeof(uint64_t) && request->address % request->count == 0));
}

/* Memory that is sought is found while the warp is where it is now. */
static enum ppu_debug_status find_sought(struct core *core, const struct ppu_debug_request *request,
                                         const uint8_t **sought)
{
    struct sm *sm = &(*core_sm_pool(core))->sm[request->at.sm];

    *sought = NULL;
    if (request->flags != PPU_DEBUG_BACK_MEMORY) {
        return PPU_DEBUG_OK;
    }
    const uint8_t *place = inspect_place(sm, request, request->address);
    const uint8_t *last = inspect_place(sm, request, request->address + request->count - 1);
    if (!place || !last || request->space == PPU_DEBUG_OF_LAUNCH) {
        return PPU_DEBUG_NOT_MAPPED;
    }
    *sought = place;
    return PPU_DEBUG_OK;
}

enum ppu_debug_status replay_back(struct core *core, const struct ppu_debug_request *request)
{
    struct history *history = history_of(core);
    struct ppu_debug_warp warp;
    struct ppu_debug_task task;
    const uint8_t *sought;

    if (!back_is_usable(request)) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if (!history) {
        return PPU_DEBUG_NO_RECORD;
    }
    if (!inspect_find(core, &request->at, &warp)) {
        return PPU_DEBUG_NO_SUCH_WARP;
    }
    if (history->phase != HISTORY_STANDS || !dist_describe(core, warp.slot, &task) ||
        !debug_stands(core, task.context, task.task)) {
        return PPU_DEBUG_RUNS;
    }
    const enum ppu_debug_status status = find_sought(core, request, &sought);
    if (status != PPU_DEBUG_OK) {
        return status;
    }
    history->wish = *request;
    history->context = task.context;
    if (history->at == 0) {
        tell_turning(core, PPU_DEBUG_BEGIN);
        return PPU_DEBUG_OK;
    }
    if (!history->past && !leave_present(core)) {
        return PPU_DEBUG_NO_ROOM;
    }
    __atomic_store_n(&core->debug.step.underway, 0, __ATOMIC_RELAXED);
    history->until = history->at;
    history->target = HISTORY_NO_UNIT;
    history->sought = sought;
    rewind_all(core);
    history->phase = HISTORY_SEEKS;
    sm_wake(core);
    return PPU_DEBUG_OK;
}

bool replay_go(struct core *core)
{
    if (!history_is_away(core)) {
        return false;
    }
    if (history_of(core)->phase == HISTORY_STANDS) {
        history_go(core);
        history_of(core)->phase = HISTORY_GOES_ON;
        sm_wake(core);
    }
    return true;
}

void replay_halt(struct core *core)
{
    struct history *history = history_of(core);

    if (!history_is_away(core)) {
        return;
    }
    if (history->phase == HISTORY_GOES_ON) {
        history->phase = HISTORY_STANDS;
        (void)history_stand(core);
    } else if (history->phase != HISTORY_STANDS) {
        put_present(core);
    }
}

/* ---- what is sought ---- */

static bool is_meant(const struct history *history, const struct sm *sm, uint32_t index)
{
    const struct ppu_debug_request *wish = &history->wish;
    const struct dist_cta *cta = &cta_of(sm, index)->cta;

    return wish->at.sm == sm->number && wish->at.warp == index && wish->at.start == cta->task->start &&
           wish->at.cta == cta->number &&
           (wish->lane == PPU_DEBUG_ANY_LANE || lanes_has(&sm->warp[index].active, wish->lane));
}

static bool is_in_ranges(const struct ppu_debug_request *wish, uint32_t pc)
{
    bool inside = false;

    for (uint32_t i = 0; i < wish->ranges && !inside; i++) {
        inside = pc >= wish->range[i].first && pc < wish->range[i].end;
    }
    return inside;
}

/* The instruction writes the memory that is sought. Blocks of shared memory move, so that is looked for each time. */
static bool writes_sought(const struct history *history, struct sm *sm, uint32_t index)
{
    const struct ppu_debug_request *wish = &history->wish;
    const struct sm_cta *cta = cta_of(sm, index);

    if (wish->flags != PPU_DEBUG_BACK_MEMORY) {
        return false;
    }
    if (wish->space != PPU_DEBUG_OF_CTA) {
        return engine_writes(sm, index, history->sought, wish->count);
    }
    return wish->at.sm == sm->number && wish->at.start == cta->cta.task->start && wish->at.cta == cta->cta.number &&
           engine_writes(sm, index, sm->file[SM_FILE_SHARED].bytes + cta->block[SM_FILE_SHARED].off + wish->address,
                         wish->count);
}

static void found(struct history *history, enum ppu_debug_why why, uint32_t id)
{
    history->target = history->at;
    history->event = (struct ppu_debug_event){ .why = why, .id = id };
}

static void seek_warp(struct history *history, struct sm *sm, uint32_t index)
{
    const bool inside = is_in_ranges(&history->wish, sm->warp[index].pc);
    const uint32_t what = history->wish.flags;

    if (what == PPU_DEBUG_BACK_INSN || (what == PPU_DEBUG_BACK_OUT && !inside) ||
        (what == PPU_DEBUG_BACK_ENTRY && inside && !history->was_inside)) {
        found(history, PPU_DEBUG_STEPPED, 0);
    } else if (what == PPU_DEBUG_BACK_REGISTER &&
               engine_writes_vector(sm, index, history->wish.number, history->wish.lane)) {
        found(history, PPU_DEBUG_WRITES, 0);
    }
    history->was_inside = inside;
}

static void seek_before(struct history *history, struct sm *sm, uint32_t index)
{
    if (is_meant(history, sm, index)) {
        seek_warp(history, sm, index);
    }
    if (history->wish.flags == PPU_DEBUG_BACK_STOP) {
        const uint32_t number = stops_break_at(sm, index);
        if (stops_entry_at(sm, index)) {
            found(history, PPU_DEBUG_ENTERED, 0);
        } else if (number != PPU_DEBUG_BREAKS) {
            found(history, PPU_DEBUG_AT_BREAK, number);
        }
    }
}

static void seek_after(struct history *history, struct sm *sm, bool wrote)
{
    uint64_t changed[2];
    const uint32_t number =
        history->wish.flags == PPU_DEBUG_BACK_STOP ? stops_find_change(sm, changed) : PPU_DEBUG_WATCHES;

    if (number != PPU_DEBUG_WATCHES) {
        found(history, PPU_DEBUG_AT_WATCH, number);
        history->event.value[0] = changed[0];
        history->event.value[1] = changed[1];
    }
    if (wrote) {
        found(history, PPU_DEBUG_WRITES, 0);
    }
}

/* ---- execution ---- */

/* What is watched is now what it is here. */
static void look_at_watched(struct core *core)
{
    uint64_t changed[2];

    for (uint32_t i = 0; i < core->debug.watches; i++) {
        (void)stops_find_change(&(*core_sm_pool(core))->sm[0], changed);
    }
}

uint32_t replay_warp(struct sm *sm, uint32_t index)
{
    struct history *history = history_of(sm->core);
    struct warp *const w = &sm->warp[index];
    const bool on = history->phase == HISTORY_GOES_ON, seeks = history->phase == HISTORY_SEEKS;
    const bool begins = w->state == WARP_READY && !warp_begun(w);
    struct engine_stepped stepped;
    bool writes = false;
    uint32_t done;

    if (begins && !engine_ready(sm, index)) {
        history->broken = true;
        return 0;
    }
    if (on && begins && stops_before(sm, index)) {
        return 0;
    }
    if (seeks) {
        seek_before(history, sm, index);
        writes = writes_sought(history, sm, index);
    }
    if (on) {
        done = stops_execute(sm, index, stops_watched(sm, cta_of(sm, index)->cta.task->tmd.context));
    } else {
        w->fresh = false;
        done = engine_step(sm, index, &stepped);
    }
    pending_adds_flush(sm);
    if (seeks) {
        seek_after(history, sm, writes && w->state != WARP_FAULTED);
    }
    history->at++;
    stops_ended(sm, index);
    return done;
}

/* The state is where it was to come. */
static void arrive(struct core *core)
{
    struct history *history = history_of(core);
    const struct history_turn *turn = &history->turn[history->turn_at];
    struct sm *sm = &(*core_sm_pool(core))->sm[turn->sm];

    history->phase = HISTORY_STANDS;
    history->runs = false;
    look_at_watched(core);
    (void)history_stand(core);
    if (history->target == HISTORY_NO_UNIT || turn->warp == HISTORY_TAKES) {
        tell_turning(core, PPU_DEBUG_BEGIN);
        return;
    }
    if (sm->warp[turn->warp].state == WARP_READY && !warp_begun(&sm->warp[turn->warp])) {
        (void)engine_ready(sm, turn->warp);
    }
    stops_stop(sm, turn->warp, history->event.why, history->event.id, history->event.value);
}

/* The instruction that the warp was at when it was asked may be the one with which it came into the ranges. */
static void seek_here(struct core *core)
{
    struct history *history = history_of(core);
    const struct ppu_debug_at *at = &history->wish.at;
    struct sm *sm = &(*core_sm_pool(core))->sm[at->sm];
    struct ppu_debug_warp warp;

    if (history->wish.flags == PPU_DEBUG_BACK_ENTRY && inspect_find(core, at, &warp) && engine_ready(sm, at->warp) &&
        is_meant(history, sm, at->warp)) {
        seek_warp(history, sm, at->warp);
    }
}

/* It is in the present that the warp is where it was to come. */
static void stay(struct core *core)
{
    struct history *history = history_of(core);
    const struct ppu_debug_at at = history->wish.at;

    put_present(core);
    stops_stop(&(*core_sm_pool(core))->sm[at.sm], at.warp, history->event.why, 0, NULL);
}

/* All was executed again up to where it is to be left. */
static void end_search(struct core *core)
{
    struct history *history = history_of(core);

    if (!history->checked && history->until == history->units && rewind_digest(core) != history->digest) {
        history->broken = true;
        return;
    }
    history->checked = true;
    seek_here(core);
    if (history->target == history->units) {
        stay(core);
        return;
    }
    rewind_all(core);
    history->phase = HISTORY_GOES_BACK;
}

static bool has_come(struct core *core)
{
    struct history *history = history_of(core);
    const uint64_t target = history->target == HISTORY_NO_UNIT ? 0 : history->target;

    if (history->phase == HISTORY_SEEKS && history->at == history->until) {
        end_search(core);
    } else if (history->phase == HISTORY_GOES_BACK && history->at == target) {
        arrive(core);
    } else if (history->phase == HISTORY_GOES_ON && history->at == history->units) {
        come_back(core, PPU_DEBUG_PRESENT);
    } else {
        return false;
    }
    return true;
}

static void execute_unit(struct core *core)
{
    struct history *history = history_of(core);
    const struct history_turn *turn = &history->turn[history->turn_at];
    struct sm *sm = &(*core_sm_pool(core))->sm[turn->sm];
    const uint64_t before = history->at;
    const enum history_phase phase = history->phase;

    if (turn->warp == HISTORY_TAKES) {
        __atomic_store_n(&sm->has_work, 1, __ATOMIC_SEQ_CST);
        history->broken = !sm_take_cta(sm);
        history->at++;
    } else if (sm->warp[turn->warp].state != WARP_FREE) {
        sm_turn_of(sm, turn->warp, 1);
    }
    history->broken = history->broken || (history->at == before && history->phase == phase);
    if (history->at != before && ++history->turn_done == turn->units) {
        history->turn_at++;
        history->turn_done = 0;
    }
}

bool debug_replay(struct core *core, bool *more)
{
    struct history *history = history_of(core);

    if (!history_is_away(core)) {
        return false;
    }
    for (uint32_t i = 0; i < PART_UNITS && history->past && history->phase != HISTORY_STANDS; i++) {
        history->runs = true;
        if (!has_come(core)) {
            execute_unit(core);
        }
        history->runs = false;
        if (history->broken && history->past) {
            history->broken = false;
            give_up_history(core);
        }
    }
    if (history->past && history->phase == HISTORY_STANDS && history->here_pages == 0) {
        (void)history_stand(core);
    }
    *more = !history->past || history->phase != HISTORY_STANDS;
    return true;
}
