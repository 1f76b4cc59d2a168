/* SPDX-License-Identifier: MIT */
#include "firmware/tmdq.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/hal.h"
#include "firmware/hooks.h"
#include "firmware/nest.h"
#include "firmware/shared.h"
#include "firmware/words.h"

/* Where tasks are launched from, and where the last task of each TMDQ there is named. */
struct tmdq_group {
    struct ppu_group *group;
    ppu_task_t *last_task;
};

/* What channels of each context launch: a group in protected VRAM, and the last tasks in there, or where the driver has
 * put as many TMDQs as it has asked for. */
static struct tmdq_group hosts[PPU_MAX_CONTEXTS];
static uint16_t counts[PPU_MAX_CONTEXTS]; /* TMDQs */

void tmdq_init(void)
{
    struct ppu_group *groups = hal_vram(layout.groups);
    for (uint32_t i = 0; i < caps.contexts; i++) {
        hosts[i].group = &groups[i];
        tmdq_open_group(i);
    }
}

void tmdq_open_group(uint32_t context)
{
    struct ppu_group *group = hosts[context].group;
    memset(group, 0, sizeof(*group));
    hosts[context].last_task = group->last_task;
    counts[context] = PPU_GROUP_TMDQS;
}

void tmdq_move(uint32_t context, ppu_vram_t words, uint32_t count)
{
    ppu_task_t *moved = hal_vram(words);
    /* The driver may name some of the words of before again. */
    memmove(moved, hosts[context].last_task, counts[context] * sizeof(moved[0]));
    hosts[context].last_task = moved;
    counts[context] = (uint16_t)count;
}

uint32_t tmdq_count(uint32_t context)
{
    return counts[context];
}

/* The group a task was launched from: its parent's, or that of the address space. */
static struct tmdq_group group_of(const struct task *task)
{
    if (!task->parent) {
        return hosts[task->context];
    }
    struct ppu_group *group = &nest_record(task->parent)->group;
    return (struct tmdq_group){ group, group->last_task };
}

/* The task a shared word names, if it can be in the same TMDQ as `task`, which a channel launched. */
static struct task *same_tmdq(const struct task *task, ppu_task_t handle)
{
    struct task *other = task_find(handle);
    return other && other != task && !other->parent && other->context == task->context && other->stream == task->stream
               ? other
               : NULL;
}

/*
 * The task behind `task`. What threads launched is LENT until its turn has come. Threads may write over the words that
 * name what channels launched, so those name the task that is behind, or nobody.
 */
static struct task *follower_of(const struct task *task, ppu_task_t handle)
{
    if (task->parent) {
        struct task *next = task_find_lent(handle);
        return next && next->nest == task->nest ? next : NULL;
    }
    struct task *next = same_tmdq(task, handle);
    return next && task_index(next) == task->follower && next->state == TASK_HELD ? next : NULL;
}

/*
 * B4. The exchange of last_task orders the launchers; each then tells the task before its own. Between the two steps
 * the former task's next_stream is still null: tmdq_complete() then leaves WAITING there and forgets it.
 */
enum tmdq_append_result tmdq_append(struct task *task)
{
    struct tmdq_group host = hosts[task->context];
    task_status(task)->next_stream = PPU_TASK_NULL;
    shared_add(&host.group->work, 1);
    if (task->stream == TASK_NO_STREAM) {
        return TMDQ_FIRST;
    }
    ppu_task_t former = shared_exchange(&host.last_task[task->stream], task->handle);
    if (former == PPU_TASK_NULL) {
        return TMDQ_FIRST;
    }
    struct task *before = same_tmdq(task, former);
    if (!before || before->follower != TASK_NO_FOLLOWER) {
        return TMDQ_APPEND_BROKEN;
    }
    before->follower = (uint16_t)task_index(task);
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
    struct tmdq_group from = group_of(task);
    shared_add(&from.group->work, (uint32_t)-1);
    if (task->stream == TASK_NO_STREAM) {
        return TMDQ_EMPTY;
    }
    uint32_t *last = &from.last_task[task->stream];
    if (shared_read(last) == task->handle) {
        hooks_hold_point(PPU_MARK_TMDQ_LAST);
        if (shared_replace(last, task->handle, PPU_TASK_NULL)) {
            return task->parent || task->follower == TASK_NO_FOLLOWER ? TMDQ_EMPTY : TMDQ_COMPLETE_BROKEN;
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
    shared_publish(&hosts[context].last_task[stream], PPU_TASK_NULL);
}
