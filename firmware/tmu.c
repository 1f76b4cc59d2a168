/* SPDX-License-Identifier: MIT */
#include "tmu.h"

#include "policy.h"
#include "ppu/limits.h"

static struct list_node ready[PPU_PRIORITIES];
static uint32_t not_empty;              /* bit p: ready[p] has a task */
static uint32_t passed[PPU_PRIORITIES]; /* times another level was taken from since this one was not empty */

void tmu_init(void)
{
    not_empty = 0;
    for (uint32_t i = 0; i < PPU_PRIORITIES; i++) {
        list_init(&ready[i]);
        passed[i] = 0;
    }
}

static void insert(struct task *task, bool head)
{
    struct list_node *list = &ready[task->priority];
    task_enter(task, TASK_READY);
    if (head) {
        list_push_front(list, &task->queue);
    } else {
        list_push_back(list, &task->queue);
    }
    not_empty |= 1u << task->priority;
}

void tmu_insert(struct task *task)
{
    insert(task, task->head);
}

void tmu_return(struct task *task)
{
    insert(task, true);
}

void tmu_rotate(struct task *task)
{
    insert(task, false);
}

void tmu_remove(struct task *task)
{
    list_remove(&task->queue);
    if (list_empty(&ready[task->priority])) {
        not_empty &= ~(1u << task->priority);
        passed[task->priority] = 0;
    }
}

/* Levels below `priority` are passed over once more. Returns the lowest that was so too often, else `priority`. */
static uint32_t age_below(uint32_t priority)
{
    uint32_t chosen = priority;
    uint32_t level = 0;
    for (uint32_t left = not_empty & ((1u << priority) - 1u); left; left &= ~(1u << level)) {
        level = 31u - (uint32_t)__builtin_clz(left);
        if (++passed[level] >= policy(PPU_POLICY_AGE)) {
            chosen = level;
        }
    }
    return chosen;
}

struct task *tmu_take(void)
{
    if (!not_empty) {
        return NULL;
    }
    uint32_t level = 31u - (uint32_t)__builtin_clz(not_empty);
    if (not_empty & (not_empty - 1)) { /* more levels than one */
        level = age_below(level);
    }
    struct task *task = LIST_OBJECT(ready[level].next, struct task, queue);
    passed[level] = 0;
    tmu_remove(task);
    return task;
}

bool tmu_has_above(uint32_t priority)
{
    return not_empty >> (priority + 1u);
}

bool tmu_slice_over(uint32_t priority)
{
    return age_below(priority) != priority || not_empty >> priority;
}
