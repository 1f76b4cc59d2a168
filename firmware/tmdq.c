/* SPDX-License-Identifier: MIT */
#include "firmware/tmdq.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/nest.h"
#include "firmware/shared.h"
#include "firmware/words.h"

static struct ppu_group *groups; /* one a context, in protected VRAM */

/* The TMDQs of what channels launch, of each context: those of its group, or as many as the driver has asked for. */
static ppu_task_t *last_tasks[PPU_MAX_CONTEXTS];
static uint16_t counts[PPU_MAX_CONTEXTS];

void tmdq_init(void)
{
    groups = hal_vram(layout.groups);
    for (uint32_t i = 0; i < caps.contexts; i++) {
        tmdq_open_group(i);
    }
}

void tmdq_open_group(uint32_t context)
{
    memset(&groups[context], 0, sizeof(groups[context]));
    last_tasks[context] = groups[context].last_task;
    counts[context] = PPU_GROUP_TMDQS;
}

void tmdq_move(uint32_t context, ppu_vram_t words, uint32_t count)
{
    ppu_task_t *moved = hal_vram(words);
    memcpy(moved, last_tasks[context], counts[context] * sizeof(moved[0]));
    last_tasks[context] = moved;
    counts[context] = (uint16_t)count;
}

uint32_t tmdq_count(uint32_t context)
{
    return counts[context];
}

/* The group a task was launched from: its parent's, or that of the address space. */
static struct ppu_group *group_of(const struct task *task)
{
    return task->parent ? &nest_record(task->parent)->group : &groups[task->context];
}

/* The task a shared word names, if it can be in the same TMDQ as `task`, which a channel launched. */
static struct task *same_tmdq(const struct task *task, ppu_task_t handle)
{
    struct task *other = task_find(handle);
    return other && other != task && !other->parent && other->context == task->context && other->stream == task->stream
               ? other
               : NULL;
}

/* The task behind `task`. What threads launched is LENT until its turn has come. */
static struct task *follower_of(const struct task *task, ppu_task_t handle)
{
    if (task->parent) {
        struct task *next = task_find_lent(handle);
        return next && next->nest == task->nest ? next : NULL;
    }
    struct task *next = same_tmdq(task, handle);
    return next && next->state == TASK_HELD ? next : NULL;
}

/*
 * B4. The exchange of last_task orders the launchers; each then tells the task before its own. Between the two steps
 * the former task's next_stream is still null: tmdq_complete() then leaves WAITING there and forgets it.
 */
enum tmdq_append_result tmdq_append(struct task *task)
{
    struct ppu_group *group = group_of(task);
    task_status(task)->next_stream = PPU_TASK_NULL;
    shared_add(&group->work, 1);
    if (task->stream == TASK_NO_STREAM) {
        return TMDQ_FIRST;
    }
    ppu_task_t former = shared_exchange(&last_tasks[task->context][task->stream], task->handle);
    if (former == PPU_TASK_NULL) {
        return TMDQ_FIRST;
    }
    struct task *before = same_tmdq(task, former);
    if (!before) {
        return TMDQ_APPEND_BROKEN;
    }
    switch (shared_exchange(&task_status(before)->next_stream, task->handle)) {
    case PPU_TASK_NULL:
        return TMDQ_BEHIND;
    case PPU_TASK_WAITING:
        if (before->state != TASK_LINKING) {
            return TMDQ_APPEND_BROKEN;
        }
        task_free(before);
        return TMDQ_FIRST;
    default:
        return TMDQ_APPEND_BROKEN;
    }
}

/*
 * B6. When the task is still the last one and stays so for the compare-and-swap, the TMDQ is empty. Else a later one
 * exists or is being linked: the exchange decides which of scheduler and launcher came first, and the second starts it.
 */
enum tmdq_complete_result tmdq_complete(struct task *task, struct task **next)
{
    struct ppu_group *group = group_of(task);
    shared_add(&group->work, (uint32_t)-1);
    if (task->stream == TASK_NO_STREAM) {
        return TMDQ_EMPTY;
    }
    uint32_t *last = task->parent ? &group->last_task[task->stream] : &last_tasks[task->context][task->stream];
    if (shared_read(last) == task->handle) {
        hooks_hold_point(PPU_MARK_TMDQ_LAST);
        if (shared_replace(last, task->handle, PPU_TASK_NULL)) {
            return TMDQ_EMPTY;
        }
    }
    hooks_hold_point(PPU_MARK_TMDQ_FOLLOWED);
    ppu_task_t follower = shared_exchange(&task_status(task)->next_stream, PPU_TASK_WAITING);
    if (follower == PPU_TASK_NULL) {
        return TMDQ_PENDING;
    }
    *next = follower_of(task, follower);
    return *next ? TMDQ_NEXT : TMDQ_COMPLETE_BROKEN;
}

void tmdq_begin(const struct task *task)
{
    struct ppu_nest_task *record = nest_record(task);
    struct ppu_group *group = &record->group;
    group->work = 0;
    group->streams = 0;
    group->refused = 0;
    words_clear(group->last_task, sizeof(group->last_task));
    record->groups_va = 0;
    record->error = 0;
    record->ended = 0;
    record->deferred = 0;
    record->unparks = 0;
    record->parked = 0;
    record->parked_keepers = 0;
}

bool tmdq_idle(const struct task *task)
{
    return shared_read(&nest_record(task)->group.work) == 0;
}

void tmdq_clear(uint32_t context, uint32_t stream)
{
    shared_publish(&last_tasks[context][stream], PPU_TASK_NULL);
}
