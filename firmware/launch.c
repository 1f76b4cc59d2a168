/* SPDX-License-Identifier: MIT */
#include "firmware/launch.h"

#include <string.h>

#include "firmware/commands.h"
#include "firmware/completion.h"
#include "firmware/context.h"
#include "firmware/dma.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/nest.h"
#include "firmware/policy.h"
#include "firmware/taskq.h"
#include "firmware/timer.h"
#include "firmware/tmd.h"
#include "firmware/tmdq.h"
#include "firmware/trace.h"
#include "firmware/watchdog.h"
#include "firmware/wdu.h"
#include "firmware/words.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"

static FW_DMA struct ppu_tmd fetched; /* a channel's, before it has a record */

/* ---- from a TMD to a record: the launcher's part is copied once, and the copy is checked and run (A11) ---- */

/* Why a launch was refused last. */
static struct {
    uint16_t code; /* fault.def */
    uint64_t payload;
} refusal;

static __attribute__((noinline)) bool refuse_launch(enum ppu_fault fault, uint64_t payload)
{
    refusal.code = (uint16_t)fault;
    refusal.payload = payload;
    return false;
}

/* Launching, waiting and being saved need a nest, and places that are large enough. */
static bool check_nest(const struct ppu_tmd *tmd, uint32_t nest)
{
    if (nest == TASK_NO_NEST) {
        return refuse_launch(PPU_FAULT_TMD_NEST, offsetof(struct ppu_tmd, flags));
    }
    if ((tmd->flags & (PPU_TMD_MAY_WAIT | PPU_TMD_SAVE)) && !nest_can_save(nest, tmd)) {
        return refuse_launch(PPU_FAULT_TMD_SAVE, offsetof(struct ppu_tmd, flags));
    }
    return true;
}

/* Each of these returns false when the launch is refused. */
static bool check_tmd(const struct ppu_tmd *tmd, uint32_t context)
{
    struct tmd_verdict verdict = tmd_check(tmd);
    if (verdict.code) {
        return refuse_launch(verdict.code, verdict.offset);
    }
    if (tmd->kind == PPU_TMD_TASKQ && !taskq_exists(tmd->taskq, context)) {
        return refuse_launch(PPU_FAULT_TMD_TASKQ, offsetof(struct ppu_tmd, taskq));
    }
    return !(tmd->flags & PPU_TMD_NEST) || check_nest(tmd, nest_of(context));
}

static bool fetch_tmd(uint32_t context, ppu_va_t tmd)
{
    if (tmd.va % PPU_TMD_ALIGN) {
        return refuse_launch(PPU_FAULT_TMD_ALIGN, tmd.va);
    }
    if (dma_fetch(context, tmd, &fetched, PPU_TMD_LAUNCHER_BYTES)) {
        return refuse_launch(PPU_FAULT_TMD_MEMORY, dma_failure().address);
    }
    return check_tmd(&fetched, context);
}

/* Shared and local memory are the launcher's own: their addresses mean something else to a child (B14). */
static bool is_private(uint64_t va)
{
    return (va & PPU_WINDOW_MASK) == PPU_SHARED_WINDOW || (va & PPU_WINDOW_MASK) == PPU_LOCAL_WINDOW;
}

static bool params_are_private(const struct ppu_tmd *tmd, const char *params)
{
    for (uint64_t left = tmd->addresses; left; left &= left - 1) {
        uint32_t at = 8u * (uint32_t)__builtin_ctzll(left);
        uint64_t va = 0;
        if (at + sizeof(va) > tmd->param_bytes) {
            break;
        }
        memcpy(&va, params + at, sizeof(va));
        if (is_private(va)) {
            return true;
        }
    }
    return false;
}

static bool fetch_params(const struct task *task, struct ppu_tmd *tmd)
{
    tmd->params_vram = task->params.off;
    if (task_has_nest(task) && tmd->param_bytes > PPU_NEST_MAX_PARAM) {
        return refuse_launch(PPU_FAULT_TMD_PARAM, offsetof(struct ppu_tmd, param_bytes));
    }
    if (tmd->param_bytes &&
        dma_fetch_to_vram(task->context, (ppu_va_t){ tmd->param_va }, task->params, tmd->param_bytes)) {
        return refuse_launch(PPU_FAULT_TMD_PARAM, offsetof(struct ppu_tmd, param_va));
    }
    if (task->parent && params_are_private(tmd, hal_vram(task->params))) {
        return refuse_launch(PPU_FAULT_TMD_PARAM, offsetof(struct ppu_tmd, addresses));
    }
    return true;
}

/* The channel caps what a TMD asks for; a child may inherit from the parent that may wait for it. */
static uint8_t priority_of(const struct task *task, uint8_t wanted)
{
    uint8_t most = task->channel->priority;
    uint8_t own = PPU_MIN(wanted, most);
    bool inherits = task->parent && policy(PPU_POLICY_INHERIT);
    return inherits && task->parent->priority > own ? task->parent->priority : own;
}

/* What a channel launches has the policy's time limit at most, a child its parent's. 0: none. */
static uint64_t limit_ns(const struct task *task, uint64_t own_ns)
{
    uint64_t most_ns =
        task->parent ? task_tmd(task->parent)->watchdog_ns : policy(PPU_POLICY_LIMIT_MS) * TIMER_NS_PER_MS;
    if (!own_ns) {
        return most_ns;
    }
    most_ns = most_ns ? most_ns : PPU_MAX_LIMIT_MS * TIMER_NS_PER_MS;
    return PPU_MIN(own_ns, most_ns);
}

/* Fills in the record, and in the TMD copy what only the firmware may say. */
static void record_task(struct task *task, struct ppu_tmd *tmd, uint32_t correlation)
{
    task->priority = priority_of(task, tmd->priority);
    task->head = (tmd->flags & PPU_TMD_HEAD) != 0;
    task->correlation = tmd->correlation ? tmd->correlation : correlation;

    tmd->priority = task->priority;
    tmd->correlation = task->correlation;
    tmd->taskq_limit = 0;
    tmd->context = task->context;
    tmd->task = task->handle;
    tmd->parent_correlation = task->parent ? task->parent->correlation : 0;
    tmd->channel = (uint16_t)channel_index(task->channel);
    tmd->groups_vram = 0;
    tmd->save_vram = 0;
    tmd->save_bytes = 0;
    tmd->save_count = 0;
    tmd->resume = 0;
    tmd->depth = task_depth(task);
    tmd->next_cta = 0;
    tmd->ctas_done = 0;
    tmd->warp_insns = 0;
    tmd->nest_va = 0;
    if (tmd->flags & PPU_TMD_NEST) {
        tmd->nest_va = nest_record_va(task).va;
        tmdq_begin(task);
    }
    tmd->watchdog_ns = limit_ns(task, tmd->watchdog_ns);
    task->left_us = watchdog_limit_us(tmd);
}

/* A fault that is no fault of the task's threads: it ends with all its tree. It has not begun. */
static void fail_held(struct task *task, enum ppu_fault fault, uint64_t payload)
{
    struct ppu_error_record record = { .code = (uint16_t)fault, .address = payload, .correlation = task->correlation };
    struct channel *channel = task->channel;
    task->fault = (uint16_t)fault;
    completion_leave_channel(task);
    completion_defer(task);
    if (channel) {
        channel_fail(channel, &record);
    }
}

void launch_ready(struct task *task)
{
    if (task->taskq == TASK_NO_TASKQ) {
        wdu_ready(task);
    } else {
        task_enter(task, TASK_PARKED);
        taskq_serve(task);
    }
}

void launch_start(struct task *task)
{
    if (task->fault) {
        completion_defer(task);
    } else if (task->commands) {
        task_enter(task, TASK_PARKED);
        commands_go_on(task);
    } else {
        launch_grid(task);
    }
}

void launch_grid(struct task *task)
{
    const struct ppu_tmd *tmd = task_tmd(task);
    if (tmd->kind == PPU_TMD_TASKQ && !taskq_bind(task, tmd->taskq)) {
        fail_held(task, PPU_FAULT_TMD_TASKQ, offsetof(struct ppu_tmd, taskq));
    } else if (!(tmd->flags & (PPU_TMD_MAY_WAIT | PPU_TMD_SAVE)) || nest_admit(task)) {
        launch_ready(task);
    }
}

/* As a record keeps it: of PPU_STREAM_NONE it is TASK_NO_STREAM. */
static uint16_t tmdq_number(uint32_t stream)
{
    return (uint16_t)stream;
}

/* ---- launches by channels ---- */

void launch_rebuild_tmdq(uint32_t context, uint32_t stream)
{
    tmdq_clear(context, stream);
    for (uint32_t i = 0; i < layout.records; i++) {
        struct task *task = task_at(i);
        if (task->state == TASK_FREE || task->state == TASK_LENT || task->parent || task->context != context ||
            task->stream != stream) {
            continue;
        }
        task->stream = TASK_NO_STREAM;
        if (task->state == TASK_LINKING) {
            task_free(task);
        } else if (task->state == TASK_HELD) {
            fail_held(task, PPU_FAULT_BAD_START, task->handle);
        }
    }
}

static void append_task(struct task *task)
{
    switch (tmdq_append(task)) {
    case TMDQ_FIRST:
        launch_start(task);
        wdu_dispatch();
        break;
    case TMDQ_BEHIND:
        break;
    case TMDQ_APPEND_BROKEN:
        launch_rebuild_tmdq(task->context, task->stream);
        break;
    }
}

/* A record for the fetched TMD, with its copy: one of the nest when threads of the task may launch. */
static struct task *new_record(uint32_t context)
{
    if (!hooks_allow_allocation()) {
        return NULL;
    }
    struct task *task = fetched.flags & PPU_TMD_NEST ? nest_borrow(nest_of(context)) : task_new(context);
    if (task) {
        words_copy(task_tmd(task), &fetched, PPU_TMD_LAUNCHER_BYTES);
    }
    return task;
}

void launch_give_back(struct task *task)
{
    if (task_has_nest(task)) {
        nest_return(task);
    } else {
        task_free(task);
    }
}

/* The fetched TMD becomes a task, of no channel yet. */
static bool fetch_task(struct task *task, uint32_t context, uint32_t stream)
{
    task->context = (uint8_t)context;
    task->stream = tmdq_number(stream);
    if (fetch_params(task, task_tmd(task))) {
        return true;
    }
    launch_give_back(task);
    return false;
}

/* The task belongs to the channel from now on, and goes into its TMDQ. */
static void accept_task(struct channel *channel, struct task *task, uint32_t stream, uint32_t correlation)
{
    channel_add_task(channel, task);
    context_add_task(task->context);
    record_task(task, task_tmd(task), correlation);
    *task_status(task) = (struct ppu_task_status){ .task = task->handle, .group = task->context, .stream = stream };
    uint32_t handle = task->handle;
    uint32_t launched = task->correlation;
    uint32_t type = task->commands && task->begun ? PPU_TRACE_LIST : PPU_TRACE_LAUNCH;
    append_task(task);
    trace_write(type, launched, channel_index(channel), handle, stream);
}

enum launch_result launch_task(struct channel *channel, ppu_va_t tmd, uint32_t stream, uint32_t correlation,
                               uint16_t *code, uint64_t *payload)
{
    bool good = fetch_tmd(channel->context, tmd);
    struct task *task = good ? new_record(channel->context) : NULL;
    if (good && !task) {
        return LAUNCH_NO_RECORD;
    }
    if (!good || !fetch_task(task, channel->context, stream)) {
        *code = refusal.code;
        *payload = refusal.payload;
        return LAUNCH_FAULT;
    }
    accept_task(channel, task, stream, correlation);
    return LAUNCH_ACCEPTED;
}

static struct task *new_list(const struct channel *channel, uint32_t stream)
{
    struct task *task = hooks_allow_allocation() ? task_new(channel->context) : NULL;
    if (task) {
        task->stream = tmdq_number(stream);
        task->begun = true; /* there is no grid */
        words_clear(task_tmd(task), PPU_TMD_LAUNCHER_BYTES);
    }
    return task;
}

/* A record for the list's grid, whose parameters leave room for the list. */
static enum launch_result new_listed(const struct channel *channel, ppu_va_t tmd, uint32_t stream, struct task **made)
{
    if (!fetch_tmd(channel->context, tmd)) {
        return LAUNCH_FAULT;
    }
    uint32_t room = fetched.flags & PPU_TMD_NEST ? PPU_NEST_MAX_PARAM : PPU_MAX_PARAM;
    if (fetched.param_bytes > room - PPU_ENQUEUE_GRID_BYTES) {
        refuse_launch(PPU_FAULT_TMD_PARAM, offsetof(struct ppu_tmd, param_bytes));
        return LAUNCH_FAULT;
    }
    struct task *task = new_record(channel->context);
    if (!task) {
        return LAUNCH_NO_RECORD;
    }
    task->listed = true;
    *made = task;
    return fetch_task(task, channel->context, stream) ? LAUNCH_ACCEPTED : LAUNCH_FAULT;
}

enum launch_result launch_commands(struct channel *channel, uint32_t stream, const uint32_t *words, uint32_t count,
                                   uint32_t launch, uint16_t *code, uint64_t *payload)
{
    struct task *task = NULL;
    if (launch == COMMANDS_NO_LAUNCH) {
        task = new_list(channel, stream);
    } else {
        ppu_va_t tmd = { words[launch + 1] | (uint64_t)words[launch + 2] << 32 };
        enum launch_result result = new_listed(channel, tmd, stream, &task);
        if (result == LAUNCH_FAULT) {
            *code = refusal.code;
            *payload = refusal.payload;
        }
        if (result != LAUNCH_ACCEPTED) {
            return result;
        }
    }
    if (!task) {
        return LAUNCH_NO_RECORD;
    }
    commands_put(task, words, count, channel_position(channel));
    accept_task(channel, task, stream, channel->block.correlation);
    return LAUNCH_ACCEPTED;
}

/* ---- launches by threads ---- */

void launch_start_child(struct task *child, struct task *parent, const struct ppu_nest_task *record, uint32_t stream)
{
    struct ppu_tmd *tmd = task_tmd(child);
    nest_adopt(child);
    struct channel *channel = parent->channel;
    child->parent = parent;
    child->depth = (uint16_t)(task_depth(parent) + 1u);
    child->context = parent->context;
    child->stream = tmdq_number(stream);
    child->correlation = parent->correlation;
    parent->children++;
    channel_add_task(channel, child);
    context_add_task(child->context);

    words_copy(tmd, &record->tmd, PPU_TMD_LAUNCHER_BYTES);
    if (!check_tmd(tmd, child->context) || !fetch_params(child, tmd)) {
        fail_held(child, refusal.code, refusal.payload);
        return;
    }
    record_task(child, tmd, parent->correlation);
    launch_start(child);
    wdu_dispatch();
    trace_write(PPU_TRACE_LAUNCH_CHILD, child->correlation, parent->handle, child->handle, stream);
}

/* Its threads may launch, and can: they run, are saved, or have just ended, maybe without a slot event. */
static bool may_launch(const struct task *task)
{
    const uint32_t never = 1u << TASK_HELD | 1u << TASK_LINKING;
    return !(never >> task->state & 1u) && !task->commands && (task_tmd(task)->flags & PPU_TMD_NEST) &&
           task_depth(task) < nest_depth(task->nest);
}

/* It ends with a fault or was cancelled, and what it launched with it. */
static bool dies(const struct task *task)
{
    return task->fault || !task->channel || task->state == TASK_KILLING;
}

/* The record that a launcher found WAITING in: it has completed, and only its launcher was missing (B6). */
static bool release_former(const struct task *child, const struct task *parent, ppu_task_t former)
{
    struct task *before = task_find(former);
    if (!before || before->state != TASK_LINKING || before->nest != child->nest || before->parent != parent) {
        return false;
    }
    nest_linked(before);
    return true;
}

/*
 * The child belongs to the task that counted it, which its status names, and which waits for it since: not always the
 * one whose thread asks, which may have ended meanwhile.
 */
bool launch_child(uint32_t context, ppu_task_t handle, ppu_task_t former)
{
    struct task *child = task_find_lent(handle);
    if (!child || child->nest != nest_of(context)) {
        return false;
    }
    const struct ppu_nest_task *record = nest_record(child);
    struct task *parent = task_find(record->status.group);
    if (!parent || parent->nest != child->nest) {
        return false;
    }
    if (dies(parent)) {
        return true;
    }
    uint32_t stream = record->status.stream; /* once: threads write it */
    if (!may_launch(parent) || (stream >= PPU_GROUP_TMDQS && stream != PPU_STREAM_NONE)) {
        return false;
    }
    if (former != PPU_TASK_NULL && !release_former(child, parent, former)) {
        return false;
    }
    launch_start_child(child, parent, record, stream);
    return true;
}
