/* SPDX-License-Identifier: MIT */
#include "tmdq.h"

#include <string.h>

#include "hal.h"
#include "machine.h"
#include "shared.h"

static struct ppu_group *groups; /* one a context, in protected VRAM */

void tmdq_init(void)
{
    groups = hal_vram(layout.groups);
    for (uint32_t i = 0; i < machine.contexts; i++) {
        tmdq_open_group(i);
    }
}

void tmdq_open_group(uint32_t group)
{
    memset(&groups[group], 0, sizeof(groups[group]));
}

/* The task a shared word names, if it can be in the same TMDQ as `task`. */
static struct task *same_tmdq(const struct task *task, ppu_task_t handle)
{
    struct task *other = task_find(handle);
    return other && other != task && other->group == task->group && other->stream == task->stream ? other : NULL;
}

/*
 * B4. The exchange of last_task orders the launchers; each then tells the task before its own. Between the two steps
 * the former task's next_stream is still null: tmdq_complete() then leaves WAITING there and forgets it.
 */
enum tmdq_append_result tmdq_append(struct task *task)
{
    struct ppu_group *group = &groups[task->group];
    task_status(task)->next_stream = PPU_TASK_NULL;
    shared_add(&group->work, 1);
    if (task->stream == PPU_STREAM_NONE) {
        return TMDQ_FIRST;
    }
    ppu_task_t former = shared_exchange(&group->last_task[task->stream], task->handle);
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
    struct ppu_group *group = &groups[task->group];
    shared_add(&group->work, (uint32_t)-1);
    if (task->stream == PPU_STREAM_NONE) {
        return TMDQ_EMPTY;
    }
    uint32_t *last = &group->last_task[task->stream];
    if (shared_read(last) == task->handle && shared_replace(last, task->handle, PPU_TASK_NULL)) {
        return TMDQ_EMPTY;
    }
    ppu_task_t follower = shared_exchange(&task_status(task)->next_stream, PPU_TASK_WAITING);
    if (follower == PPU_TASK_NULL) {
        return TMDQ_PENDING;
    }
    *next = same_tmdq(task, follower);
    return *next && (*next)->state == TASK_HELD ? TMDQ_NEXT : TMDQ_COMPLETE_BROKEN;
}

void tmdq_clear(uint32_t group, uint32_t stream)
{
    shared_publish(&groups[group].last_task[stream], PPU_TASK_NULL);
}
