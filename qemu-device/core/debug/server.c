/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Serves a debugger (ppu/debug.h). What is in the box may change at any time and be anything: a request is copied once,
 * and each member is checked before it is used. All of it runs with the host lock held.
 */
#include "ppu/isa.h"
#include "ppu/macros.h"
#include "ppu/state.h"
#include "ppu/task.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/debug/inspect.h"
#include "qemu-device/core/debug/replay.h"
#include "qemu-device/core/debug/run.h"
#include "qemu-device/core/debug_state.h"
#include "qemu-device/core/debugger.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"

#include <stddef.h>
#include <string.h>

#define BOX(box, member) ((box) + offsetof(struct ppu_debug_box, member))

/* ---- answers ---- */

static bool put_element(struct ppu_debug_answer *answer, const void *element, uint32_t bytes)
{
    if (answer->bytes + bytes > sizeof(answer->data)) {
        answer->more++;
        return false;
    }
    memcpy(answer->data + answer->bytes, element, bytes);
    answer->bytes += bytes;
    return true;
}

static enum ppu_debug_status list_tasks(struct core *core, struct ppu_debug_answer *answer)
{
    for (uint32_t slot = 0; slot < core->config.slots; slot++) {
        struct ppu_debug_task task;
        if (dist_describe(core, slot, &task)) {
            task.halted = debug_stands(core, task.context, task.task);
            put_element(answer, &task, sizeof(task));
        }
    }
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status list_warps(struct core *core, const struct ppu_debug_request *request,
                                        struct ppu_debug_answer *answer)
{
    struct ppu_debug_warp warp;
    uint32_t skip = request->number;

    for (uint32_t sm = 0; sm < core->config.sms; sm++) {
        for (uint32_t index = 0; index < core->config.sm_warps; index++) {
            if (!inspect_warp(core, sm, index, &warp) || warp.slot != request->slot) {
                continue;
            }
            if (skip != 0) {
                skip--;
            } else {
                put_element(answer, &warp, sizeof(warp));
            }
        }
    }
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status list_events(struct core *core, const struct ppu_debug_request *request,
                                         struct ppu_debug_answer *answer)
{
    struct debug *debug = &core->debug;

    pthread_mutex_lock(&debug->lock);
    uint32_t first = debug->events > PPU_DEBUG_EVENTS ? debug->events - PPU_DEBUG_EVENTS + 1 : 1;
    for (uint32_t n = PPU_MAX(first, request->number); n <= debug->events; n++) {
        put_element(answer, &debug->event[(n - 1) % PPU_DEBUG_EVENTS], sizeof(debug->event[0]));
    }
    pthread_mutex_unlock(&debug->lock);
    return PPU_DEBUG_OK;
}

/* ---- breakpoints ---- */

static enum ppu_debug_status set_break(struct core *core, const struct ppu_debug_request *request)
{
    struct debug *debug = &core->debug;

    if (request->number >= PPU_DEBUG_BREAKS || request->address % PPU_INSN_BYTES != 0 ||
        request->context >= core->config.contexts || (request->flags & ~PPU_DEBUG_OF_ONE_CTA) != 0 ||
        (request->lane != PPU_DEBUG_ANY_LANE && request->lane >= PPU_MAX_WAVE)) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    struct debug_break *at = &debug->break_at[request->number];
    *at = (struct debug_break){
        .set = true,
        .context = request->context,
        .address = request->address,
        .lane = request->lane,
        .of_one_cta = (request->flags & PPU_DEBUG_OF_ONE_CTA) != 0,
    };
    memcpy(at->cta, request->cta, sizeof(at->cta));
    debug->breaks = PPU_MAX(debug->breaks, request->number + 1);
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status unset_break(struct debug *debug, const struct ppu_debug_request *request)
{
    if (request->number >= PPU_DEBUG_BREAKS) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    debug->break_at[request->number].set = false;
    while (debug->breaks != 0 && !debug->break_at[debug->breaks - 1].set) {
        debug->breaks--;
    }
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status set_watch(struct core *core, const struct ppu_debug_request *request)
{
    struct debug *debug = &core->debug;

    if (request->number >= PPU_DEBUG_WATCHES || request->context >= core->config.contexts || request->count == 0 ||
        request->count > sizeof(uint64_t) || request->address % request->count != 0 ||
        !PPU_IS_POWER_OF_TWO(request->count)) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    struct debug_watch watch = {
        .set = true, .context = request->context, .address = request->address, .bytes = request->count
    };
    if (!inspect_watched(&(*core_sm_pool(core))->sm[0], &watch, &watch.value)) {
        return PPU_DEBUG_NOT_MAPPED;
    }
    debug->watch[request->number] = watch;
    debug->watches = PPU_MAX(debug->watches, request->number + 1);
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status unset_watch(struct debug *debug, const struct ppu_debug_request *request)
{
    if (request->number >= PPU_DEBUG_WATCHES) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    debug->watch[request->number].set = false;
    while (debug->watches != 0 && !debug->watch[debug->watches - 1].set) {
        debug->watches--;
    }
    return PPU_DEBUG_OK;
}

static bool is_open(const struct core *core, uint32_t context)
{
    return (reg_get(core, PPU_REG_CTX_ROOT + 4 * context) & 1u) != 0;
}

static bool is_context(const struct core *core, uint32_t context)
{
    return context == PPU_DEBUG_ALL || context < core->config.contexts;
}

static enum ppu_debug_status stop_at(struct core *core, const struct ppu_debug_request *request)
{
    if ((request->flags & ~PPU_DEBUG_AT_BITS) != 0 || !is_context(core, request->context)) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    core->debug.stop_at = request->flags;
    core->debug.stop_context = request->context;
    return PPU_DEBUG_OK;
}

/* ---- running ---- */

/* True: the task of this handle has a slot. */
static bool has_slot(struct core *core, uint32_t context, uint32_t handle)
{
    struct ppu_debug_task task;
    bool has = false;

    for (uint32_t slot = 0; slot < core->config.slots && !has; slot++) {
        has = dist_describe(core, slot, &task) && task.context == context && task.task == handle;
    }
    return has;
}

/* What is past goes on as it did, all of it. A halt stops that, and is one of the present besides. */
static bool replays(struct core *core, const struct ppu_debug_request *request)
{
    if (request->op == PPU_DEBUG_DO_HALT) {
        replay_halt(core);
        return false;
    }
    return replay_go(core);
}

/* A task that goes on alone leaves what has stood with it standing. */
static enum ppu_debug_status halt_or_go_alone(struct core *core, const struct ppu_debug_request *request)
{
    if (request->context >= core->config.contexts || request->number == PPU_TASK_NULL) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if (replays(core, request)) {
        return PPU_DEBUG_OK;
    }
    __atomic_store_n(&core->debug.step.underway, 0, __ATOMIC_RELAXED);
    if (request->op == PPU_DEBUG_DO_HALT) {
        return has_slot(core, request->context, request->number) && debug_hold(core, request->context, request->number)
                   ? PPU_DEBUG_OK
                   : PPU_DEBUG_BAD_REQUEST;
    }
    if (!debug_spread(core, request->context)) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    debug_release(core, request->context, request->number);
    debug_first_turns(core, request->context);
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status halt_or_go(struct core *core, const struct ppu_debug_request *request)
{
    if ((request->flags & ~PPU_DEBUG_ONE_TASK) != 0) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if ((request->flags & PPU_DEBUG_ONE_TASK) != 0) {
        return halt_or_go_alone(core, request);
    }
    if (!is_context(core, request->context)) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if (replays(core, request)) {
        return PPU_DEBUG_OK;
    }
    __atomic_store_n(&core->debug.step.underway, 0, __ATOMIC_RELAXED);
    for (uint32_t context = 0; context < core->config.contexts; context++) {
        if ((request->context == PPU_DEBUG_ALL || request->context == context) && is_open(core, context)) {
            debug_release(core, context, PPU_TASK_NULL);
            debug_halt(core, context, request->op == PPU_DEBUG_DO_HALT);
            if (request->op == PPU_DEBUG_DO_GO) {
                debug_first_turns(core, context);
            }
        }
    }
    return PPU_DEBUG_OK;
}

static enum ppu_debug_status set_scope(struct core *core, const struct ppu_debug_request *request)
{
    if ((request->flags & ~PPU_DEBUG_ONE_TASK) != 0) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    core->debug.one_task = request->flags & PPU_DEBUG_ONE_TASK;
    for (uint32_t context = 0; context < core->config.contexts; context++) {
        if (core->debug.one_task != 0) {
            (void)debug_spread(core, context);
        } else {
            debug_gather(core, context);
        }
    }
    return PPU_DEBUG_OK;
}

/* Answers with the number of the last event before it: what stops later ends the step. */
static enum ppu_debug_status step(struct core *core, const struct ppu_debug_request *request,
                                  struct ppu_debug_answer *answer)
{
    struct debug_step *step = &core->debug.step;
    struct ppu_debug_warp warp;
    struct ppu_debug_task task;

    if ((request->flags & ~PPU_DEBUG_IN_RANGE) != 0 || request->ranges > PPU_DEBUG_RANGES ||
        (request->lane != PPU_DEBUG_ANY_LANE && request->lane >= PPU_MAX_WAVE)) {
        return PPU_DEBUG_BAD_REQUEST;
    }
    if (!inspect_find(core, &request->at, &warp)) {
        return PPU_DEBUG_NO_SUCH_WARP;
    }
    if (!dist_describe(core, warp.slot, &task) || !debug_stands(core, task.context, task.task)) {
        return PPU_DEBUG_RUNS;
    }
    if (history_is_away(core) && core->debug.history->phase != HISTORY_STANDS) {
        return PPU_DEBUG_RUNS;
    }
    *step = (struct debug_step){
        .at = request->at,
        .lane = request->lane,
        .in_range = (request->flags & PPU_DEBUG_IN_RANGE) != 0,
        .ranges = request->ranges,
    };
    memcpy(step->range, request->range, sizeof(step->range));
    put_element(answer, &core->debug.events, sizeof(core->debug.events));
    __atomic_store_n(&step->underway, 1, __ATOMIC_SEQ_CST);
    (void)replay_go(core);
    return PPU_DEBUG_OK;
}

/* ---- requests ---- */

static enum ppu_debug_status tell_recorded(const struct core *core, struct ppu_debug_answer *answer)
{
    const struct history *history = core->debug.history;

    if (!history) {
        return PPU_DEBUG_NO_RECORD;
    }
    const struct ppu_debug_record record = { .units = history->units, .at = history->at, .pages = history->pages };
    put_element(answer, &record, sizeof(record));
    return PPU_DEBUG_OK;
}

static bool writes(enum ppu_debug_op op)
{
    return op == PPU_DEBUG_DO_WRITE_VECTOR || op == PPU_DEBUG_DO_WRITE_SCALAR || op == PPU_DEBUG_DO_WRITE_PREDICATE ||
           op == PPU_DEBUG_DO_WRITE_MEMORY;
}

/* What a debugger writes was not executed, so it cannot be executed again. */
static enum ppu_debug_status look_into(struct core *core, const struct ppu_debug_request *request,
                                       struct ppu_debug_answer *answer)
{
    if (writes(request->op) && history_is_away(core)) {
        return PPU_DEBUG_PAST;
    }
    if (writes(request->op)) {
        history_outside(core);
    }
    return inspect_serve(core, request, answer);
}

static enum ppu_debug_status execute(struct core *core, const struct ppu_debug_request *request,
                                     struct ppu_debug_answer *answer)
{
    switch (request->op) {
    case PPU_DEBUG_DO_TASKS:
        return list_tasks(core, answer);
    case PPU_DEBUG_DO_WARPS:
        return list_warps(core, request, answer);
    case PPU_DEBUG_DO_EVENTS:
        return list_events(core, request, answer);
    case PPU_DEBUG_DO_BREAK:
        return set_break(core, request);
    case PPU_DEBUG_DO_UNBREAK:
        return unset_break(&core->debug, request);
    case PPU_DEBUG_DO_WATCH:
        return set_watch(core, request);
    case PPU_DEBUG_DO_UNWATCH:
        return unset_watch(&core->debug, request);
    case PPU_DEBUG_DO_STOP_AT:
        return stop_at(core, request);
    case PPU_DEBUG_DO_HALT:
    case PPU_DEBUG_DO_GO:
        return halt_or_go(core, request);
    case PPU_DEBUG_DO_SCOPE:
        return set_scope(core, request);
    case PPU_DEBUG_DO_STEP:
        return step(core, request, answer);
    case PPU_DEBUG_DO_RECORD:
        return replay_record(core, request);
    case PPU_DEBUG_DO_RECORDED:
        return tell_recorded(core, answer);
    case PPU_DEBUG_DO_BACK:
        return replay_back(core, request);
    default:
        return look_into(core, request, answer);
    }
}

/* The SMs stand still until go_on() is told the same, unless they do anyway. */
static bool stand_still(struct core *core)
{
    const bool ran = !core->paused;

    if (ran) {
        sm_pool_pause(core);
    }
    return ran;
}

static void go_on(struct core *core, bool ran)
{
    if (ran) {
        sm_pool_resume(core);
    }
}

/* An owner that is gone has not given the box back: others may take it. */
static void release_box(uint8_t *box, uint32_t owner)
{
    if (vram_load_acquire32(BOX(box, owner)) == owner) {
        vram_store_release32(BOX(box, owner), 0);
    }
}

/* `box`: NULL where there is none any more. */
static void drop_debugger(struct core *core, uint8_t *box)
{
    const uint32_t owner = core->debug.owner;
    const bool ran = stand_still(core);

    history_return(core);
    debug_forget(core);
    go_on(core, ran);
    if (box) {
        release_box(box, owner);
        vram_store_release32(BOX(box, serves), 0);
    }
}

static void take_debugger(struct core *core, uint8_t *box, uint32_t owner, uint64_t now_ns)
{
    struct debug *debug = &core->debug;

    debug->owner = owner;
    debug->alive = vram_load_acquire32(BOX(box, alive));
    debug->alive_ns = now_ns;
    debug->answered = vram_load_acquire32(BOX(box, asked));
    vram_store_release32(BOX(box, version), PPU_DEBUG_VERSION);
    vram_store_release32(BOX(box, answered), debug->answered);
    vram_store_release32(BOX(box, session), ++debug->sessions);
    vram_store_release32(BOX(box, events), 0);
    __atomic_store_n(&debug->on, 1, __ATOMIC_SEQ_CST);
    vram_store_release32(BOX(box, serves), owner);
}

static bool is_gone(struct core *core, const uint8_t *box, uint64_t now_ns)
{
    struct debug *debug = &core->debug;
    uint32_t alive = vram_load_acquire32(BOX(box, alive));

    if (alive != debug->alive) {
        debug->alive = alive;
        debug->alive_ns = now_ns;
    }
    return now_ns - debug->alive_ns > PPU_DEBUG_ALIVE_NS;
}

static void look_at_request(struct core *core, uint8_t *box)
{
    struct debug *debug = &core->debug;
    struct ppu_debug_request request;
    struct ppu_debug_answer answer = { .bytes = 0 };
    uint32_t asked = vram_load_acquire32(BOX(box, asked)); /* partner: the owner, behind its request */

    if (asked != debug->answered) {
        vram_copy((uint8_t *)&request, BOX(box, request), sizeof(request));
        const bool ran = stand_still(core);
        answer.status = execute(core, &request, &answer);
        go_on(core, ran);
        vram_copy(BOX(box, answer), (const uint8_t *)&answer,
                  ppu_align_up((uint32_t)offsetof(struct ppu_debug_answer, data) + answer.bytes, 8));
        debug->answered = asked;
        vram_store_release32(BOX(box, answered), asked);
    }
    pthread_mutex_lock(&debug->lock);
    uint32_t events = debug->events;
    pthread_mutex_unlock(&debug->lock);
    vram_store_release32(BOX(box, events), events);
}

/* Contexts that were closed while something of them stood still. */
static void forget_closed(struct core *core)
{
    for (uint32_t context = 0; context < core->config.contexts; context++) {
        if (debug_stands_in(core, context) && !is_open(core, context)) {
            const bool ran = stand_still(core);
            debug_forget_context(core, context);
            go_on(core, ran);
        }
    }
}

static uint8_t *box_of(const struct core *core)
{
    uint32_t base = reg_get(core, PPU_REG_STATE_BASE);

    return base != 0 && core_protected_has(core, base, sizeof(struct ppu_state))
               ? core->vram + base + offsetof(struct ppu_state, debug)
               : NULL;
}

bool core_debug(struct core *core, uint64_t now_ns)
{
    uint8_t *box = box_of(core);
    uint32_t owner = box ? vram_load_acquire32(BOX(box, owner)) : 0;

    if (core->debug.owner != 0 && (owner != core->debug.owner || is_gone(core, box, now_ns))) {
        drop_debugger(core, box);
        owner = box ? vram_load_acquire32(BOX(box, owner)) : 0;
    }
    if (owner == 0) {
        return false;
    }
    if (core->debug.owner == 0) {
        take_debugger(core, box, owner, now_ns);
    }
    forget_closed(core);
    look_at_request(core, box);
    return true;
}
