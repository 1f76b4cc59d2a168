/* SPDX-License-Identifier: MIT */
/*
 * Manages ready tasks (task management unit; A4): for each priority and address space it keeps a list of tasks that are
 * ready to run, and a bitmap of the priorities that have some.
 *
 * Strict priority; within a level address spaces take turns, and the tasks of each. Who may have no slot now (quota.h)
 * is passed over. But a level that was passed over PPU_POLICY_AGE times (policy.def)
 * gives the next task, so that none starves (trap of a spinner that waits for a task below it). Nor is a task passed
 * over more often than that by those that go to the head of its own list.
 */
#ifndef FIRMWARE_TMU_H
#define FIRMWARE_TMU_H

#include <stdbool.h>

#include "firmware/task.h"

void tmu_init(void);

/* Makes a task READY: at the head of its list when its TMD asks for that, else at the tail. */
void tmu_insert(struct task *task);

/* Makes a task READY that gave up its slot with work left: at the head of its list (A5). */
void tmu_return(struct task *task);

/* Makes a task READY whose time slice is over: at the tail of its list. */
void tmu_rotate(struct task *task);

/* Bit p: tasks of priority p are READY. */
extern uint32_t tmu_ready;

/* No task is ready. */
static inline bool tmu_is_empty(void)
{
    return !tmu_ready;
}

/* The highest priority of those that are READY; one is. */
uint32_t tmu_highest(void);

/* Takes the task that is to run next, with the slot that counts for its address space; NULL: none may run. It stays
 * READY. */
struct task *tmu_take(void);

/* Takes this READY task off its list. */
void tmu_remove(struct task *task);

/* True when a READY task has a higher priority. */
bool tmu_has_above(uint32_t priority);

/* A slice of a task of this priority is over: levels below age. True when a task is to have its turn now: of the same
 * priority or a higher one, or of a level that has been passed over too often. */
bool tmu_slice_over(uint32_t priority);

/* The address space has a ready task of this priority or a higher one. */
bool tmu_space_has(uint32_t context, uint32_t priority);

#endif
