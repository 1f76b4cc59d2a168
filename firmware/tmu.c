/* SPDX-License-Identifier: MIT */
#include "tmu.h"

#include "ppu/limits.h"

static struct list_node ready[PPU_PRIORITIES];
static uint32_t not_empty; /* bit p: ready[p] has a task */

void tmu_init(void)
{
    not_empty = 0;
    for (uint32_t i = 0; i < PPU_PRIORITIES; i++) {
        list_init(&ready[i]);
    }
}

void tmu_insert(struct task *task)
{
    struct list_node *list = &ready[task->priority];
    task_enter(task, TASK_READY);
    if (task->head) {
        list_push_front(list, &task->queue);
    } else {
        list_push_back(list, &task->queue);
    }
    not_empty |= 1u << task->priority;
}

void tmu_remove(struct task *task)
{
    list_remove(&task->queue);
    if (list_empty(&ready[task->priority])) {
        not_empty &= ~(1u << task->priority);
    }
}

struct task *tmu_take(void)
{
    if (!not_empty) {
        return NULL;
    }
    uint32_t highest = 31u - (uint32_t)__builtin_clz(not_empty);
    struct task *task = LIST_OBJECT(ready[highest].next, struct task, queue);
    tmu_remove(task);
    return task;
}
