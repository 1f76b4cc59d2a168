/* SPDX-License-Identifier: MIT */
#include "firmware/completion.h"

#include "firmware/commands.h"
#include "firmware/context.h"
#include "firmware/launch.h"
#include "firmware/nest.h"
#include "firmware/stats.h"
#include "firmware/taskq.h"
#include "firmware/tmdq.h"
#include "firmware/tmu.h"
#include "firmware/trace.h"
#include "firmware/wdu.h"
#include "ppu/macros.h"

#define ADMISSIONS 16u /* tasks that get places when one has ended, at most */

struct list_node completion_deferred;

void completion_init(void)
{
    list_init(&completion_deferred);
}

void completion_defer(struct task *task)
{
    task_enter(task, TASK_ENDED);
    list_push_back(&completion_deferred, &task->node);
}

void completion_leave_channel(struct task *task)
{
    if (task->channel) {
        if (task_tmd(task)->next_cta) { /* else there is nothing that the device has written */
            channel_count(task->channel, task_counts(task));
        }
        channel_remove_task(task->channel, task);
    }
}

/* ---- waiting for children ---- */

bool completion_can_go_on(const struct task *parent)
{
    if (task_tmd(parent)->flags & PPU_TMD_CTA_GROUPS) {
        return nest_has_idle_cta(parent);
    }
    return tmdq_idle(parent) && parent->children == 0;
}

void completion_unblock(struct task *parent)
{
    if (parent->state == TASK_DRAINING) {
        if (parent->children == 0 && (parent->fault || tmdq_idle(parent))) {
            completion_defer(parent);
        }
    } else if (task_tmd(parent)->flags & PPU_TMD_CTA_GROUPS) {
        wdu_look(parent);
    } else if (parent->waits && completion_can_go_on(parent)) {
        wdu_resume(parent);
    }
}

/* The CTA that a task was launched from, as its launcher says. */
struct origin {
    uint32_t place;
    uint32_t cta;
};

static struct origin origin_of(const struct task *task)
{
    struct origin none = { 0, 0 };
    return task->parent ? (struct origin){ nest_record(task)->place, nest_record(task)->cta } : none;
}

/* A parent that waited for its last child goes on (B7, B8). Called only after the step on the child's TMDQ (B6). */
static void child_completed(struct task *parent, struct origin child)
{
    bool of_ctas = (task_tmd(parent)->flags & PPU_TMD_CTA_GROUPS) != 0;
    parent->children--;
    if (!of_ctas || nest_child_done(parent, child.place, child.cta) || parent->state == TASK_DRAINING) {
        completion_unblock(parent);
    }
}

/* ---- completion ---- */

/* Tasks that wait for places and get some are ready. The others wait until another task with places ends. */
static void release_places(struct task *task)
{
    struct task *next = nest_release(task);
    for (uint32_t n = 1; next; n++) {
        launch_ready(next);
        next = n < ADMISSIONS ? nest_admit_waiting(task->nest) : NULL;
    }
}

/* The TMDQ step of B6. In a tree that is killed nobody follows: what was launched behind is not run. */
static enum tmdq_complete_result step_tmdq(struct task *task)
{
    struct task *next = NULL;
    if (task->parent && (task->fault || task->parent->fault || !task->parent->channel)) {
        return TMDQ_EMPTY;
    }
    enum tmdq_complete_result result = tmdq_complete(task, &next);
    if (result == TMDQ_NEXT && task->parent) {
        launch_start_child(next, task->parent, nest_record(next), task->stream);
    } else if (result == TMDQ_NEXT) {
        launch_start(next);
    }
    return result;
}

/* A TMDQ that does not hold what it must: the tree that scribbled over it ends. */
static void tmdq_broken(struct task *task)
{
    struct ppu_error_record record = { .code = PPU_FAULT_BAD_START,
                                       .address = task->handle,
                                       .correlation = task->correlation };
    nest_lost(task->nest);
    if (task->channel) {
        channel_fail(task->channel, &record);
    }
}

/* The order matters: first the TMDQ and the next task, then whoever waits for this one (B6). */
static void complete_task(struct task *task)
{
    if (task_has_nest(task) && task->fault) {
        nest_lost(task->nest); /* what its threads took or launched, and nobody started */
    }
    enum tmdq_complete_result result = step_tmdq(task);
    wdu_dispatch();

    struct task *parent = task->parent;
    struct origin origin = origin_of(task);
    uint32_t context = task->context;
    uint32_t stream = task->stream;
    bool broken = result == TMDQ_COMPLETE_BROKEN || (result == TMDQ_PENDING && !parent);
    stats_count(PPU_KEY_COMPLETIONS);
    if (task->commands && task->begun) {
        trace_write(PPU_TRACE_LIST_END, task->correlation, task->handle, 0, task->fault);
    } else {
        trace_write(PPU_TRACE_TASK_END, task->correlation, task->handle, task->slot, task->fault);
    }
    if (broken && parent) {
        tmdq_broken(task);
    }
    completion_leave_channel(task);
    if (result == TMDQ_PENDING && parent) {
        nest_linger(task);
    } else {
        launch_give_back(task);
    }
    if (parent) {
        child_completed(parent, origin);
    } else if (broken) {
        /* Only this thread launches into the TMDQs of channels: nobody is between the two steps of B4. */
        launch_rebuild_tmdq(context, stream);
    }
    channel_provide(CHANNEL_NEEDS_RECORD);
    context_remove_task(context);
}

/* Only such a task has its group made anew. */
static bool has_group(const struct task *task)
{
    return task_tmd(task)->flags & PPU_TMD_NEST;
}

void completion_begin(struct task *task)
{
    bool has_nest = task_has_nest(task);
    if (has_nest && task->places != TASK_NO_PLACES) {
        release_places(task);
    }
    taskq_unbind(task);
    if (task->children || (has_nest && !task->fault && has_group(task) && !tmdq_idle(task))) {
        task_enter(task, TASK_DRAINING);
        wdu_dispatch();
        return;
    }
    if (commands_follow(task)) {
        trace_write(PPU_TRACE_TASK_END, task->correlation, task->handle, task->slot, 0);
        wdu_dispatch();
        return;
    }
    complete_task(task);
}

void completion_cancel(struct task *task, uint16_t fault)
{
    switch (task->state) {
    case TASK_RUNNING:
    case TASK_STOPPING:
        /* One that is just completing has left its slot, which may have another task by now. */
        if (wdu_has(task)) {
            task->fault = fault;
            wdu_kill(task);
        }
        return;
    case TASK_READY:
        tmu_remove(task);
        break;
    case TASK_ADMITTED:
        nest_withdraw(task);
        break;
    case TASK_DRAINING:
        task->fault = fault;
        if (task->children == 0) {
            completion_defer(task);
        }
        completion_leave_channel(task);
        return;
    case TASK_HELD:
        task->fault = fault;
        completion_leave_channel(task);
        return;
    case TASK_ENDED:
        /* About to complete, or to wait for children: they end now, and do not count themselves off. */
        task->fault = task->fault ? task->fault : fault;
        return;
    case TASK_PARKED:
        list_remove(&task->node); /* a list of commands may wait for something */
        break;
    default:
        return;
    }
    task->fault = fault;
    taskq_unbind(task);
    completion_defer(task);
    completion_leave_channel(task);
}

bool completion_run(uint32_t most)
{
    uint32_t done = 0;
    for (; done < most && !list_empty(&completion_deferred); done++) {
        completion_begin(PPU_CONTAINER_OF(list_take_front(&completion_deferred), struct task, node));
    }
    return done != 0;
}
