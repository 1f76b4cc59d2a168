/* SPDX-License-Identifier: MIT */
#include "firmware/tmu.h"

#include "firmware/policy.h"
#include "firmware/wdu.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

/*
 * For each priority the address spaces that have ready tasks of it stand in a circle, first the one whose turn it is;
 * each has a list of those tasks.
 */
struct space {
    struct list_node ready[PPU_PRIORITIES];
    uint8_t next[PPU_PRIORITIES]; /* in the circle */
    uint8_t prev[PPU_PRIORITIES];
    uint8_t jumps[PPU_PRIORITIES]; /* to the head of the list since one that had not jumped was taken from it */
};

static struct space spaces[PPU_MAX_CONTEXTS];
static uint8_t turn[PPU_PRIORITIES];
uint32_t tmu_ready;
static uint32_t passed[PPU_PRIORITIES]; /* times another level was taken from since this one was not empty */

_Static_assert(PPU_MAX_CONTEXTS <= 256, "the number of an address space is a byte");

void tmu_init(void)
{
    tmu_ready = 0;
    for (uint32_t i = 0; i < PPU_MAX_CONTEXTS; i++) {
        for (uint32_t p = 0; p < PPU_PRIORITIES; p++) {
            list_init(&spaces[i].ready[p]);
        }
    }
    for (uint32_t p = 0; p < PPU_PRIORITIES; p++) {
        passed[p] = 0;
    }
}

/* The address space has its turn after all others of this priority. */
static void circle_join(uint32_t priority, uint8_t context)
{
    if (!(tmu_ready & (1u << priority))) {
        tmu_ready |= 1u << priority;
        turn[priority] = context;
        spaces[context].next[priority] = context;
        spaces[context].prev[priority] = context;
        return;
    }
    uint8_t first = turn[priority];
    uint8_t last = spaces[first].prev[priority];
    spaces[context].next[priority] = first;
    spaces[context].prev[priority] = last;
    spaces[last].next[priority] = context;
    spaces[first].prev[priority] = context;
}

static void circle_leave(uint32_t priority, uint8_t context)
{
    uint8_t next = spaces[context].next[priority];
    uint8_t prev = spaces[context].prev[priority];
    if (next == context) {
        tmu_ready &= ~(1u << priority);
        passed[priority] = 0;
        return;
    }
    spaces[prev].next[priority] = next;
    spaces[next].prev[priority] = prev;
    if (turn[priority] == context) {
        turn[priority] = next;
    }
}

static void insert(struct task *task, bool head)
{
    struct list_node *list = &spaces[task->context].ready[task->priority];
    task_enter(task, TASK_READY);
    if (list_empty(list)) {
        circle_join(task->priority, (uint8_t)task->context);
        spaces[task->context].jumps[task->priority] = 0;
    }
    if (head) {
        list_push_front(list, &task->node);
    } else {
        list_push_back(list, &task->node);
    }
}

/* Others of the list were passed over too often: the task has its turn after them. */
static bool may_jump(const struct task *task)
{
    uint8_t *jumps = &spaces[task->context].jumps[task->priority];
    if (!task->head || *jumps >= PPU_MIN(policy(PPU_POLICY_AGE), UINT8_MAX)) {
        return false;
    }
    ++*jumps;
    return true;
}

void tmu_insert(struct task *task)
{
    task->jumped = may_jump(task);
    insert(task, task->jumped);
}

void tmu_return(struct task *task)
{
    task->jumped = false;
    insert(task, true);
}

void tmu_rotate(struct task *task)
{
    task->jumped = false;
    insert(task, false);
}

void tmu_remove(struct task *task)
{
    list_remove(&task->node);
    if (list_empty(&spaces[task->context].ready[task->priority])) {
        circle_leave(task->priority, (uint8_t)task->context);
    }
}

/* Levels below `priority` are passed over once more. Returns the lowest that was so too often, else `priority`. */
static uint32_t age_below(uint32_t priority)
{
    uint32_t chosen = priority;
    uint32_t level = 0;
    for (uint32_t left = tmu_ready & ((1u << priority) - 1u); left; left &= ~(1u << level)) {
        level = 31u - (uint32_t)__builtin_clz(left);
        if (++passed[level] >= policy(PPU_POLICY_AGE)) {
            chosen = level;
        }
    }
    return chosen;
}

/* The first task of the address space whose turn it is, among those that may have a slot; NULL: none may. */
static struct task *first_that_may(uint32_t priority)
{
    uint8_t context = turn[priority];
    while (!wdu_takes_slot(priority, context)) {
        context = spaces[context].next[priority];
        if (context == turn[priority]) {
            return NULL;
        }
    }
    turn[priority] = spaces[context].next[priority];
    return PPU_CONTAINER_OF(spaces[context].ready[priority].next, struct task, node);
}

uint32_t tmu_highest(void)
{
    return 31u - (uint32_t)__builtin_clz(tmu_ready);
}

struct task *tmu_take(void)
{
    if (!tmu_ready) {
        return NULL;
    }
    uint32_t level = tmu_highest();
    if (tmu_ready & (tmu_ready - 1)) { /* more levels than one */
        level = age_below(level);
    }
    struct task *task = first_that_may(level);
    for (uint32_t left = tmu_ready & ~(1u << level); !task && left; left &= ~(1u << level)) {
        level = 31u - (uint32_t)__builtin_clz(left);
        task = first_that_may(level);
    }
    if (task) {
        passed[level] = 0;
        if (!task->jumped) {
            spaces[task->context].jumps[level] = 0;
        }
        tmu_remove(task);
    }
    return task;
}

bool tmu_has_above(uint32_t priority)
{
    return tmu_ready >> (priority + 1u);
}

bool tmu_slice_over(uint32_t priority)
{
    return age_below(priority) != priority || tmu_ready >> priority;
}

bool tmu_space_has(uint32_t context, uint32_t priority)
{
    for (uint32_t left = tmu_ready >> priority << priority; left; left &= left - 1) {
        if (!list_empty(&spaces[context].ready[__builtin_ctz(left)])) {
            return true;
        }
    }
    return false;
}
