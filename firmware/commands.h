/* SPDX-License-Identifier: MIT */
/*
 * Executes lists of commands (B15): entries of a TMDQ whose work is copies, fills, semaphore operations, interrupts and
 * a grid at most. They are executed one after the other when the task's turn has come, each when the one before it has
 * ended. Such a task has a slot only for its grid, and no channel waits for it that is not told to.
 */
#ifndef FIRMWARE_COMMANDS_H
#define FIRMWARE_COMMANDS_H

#include <stdbool.h>

#include "firmware/list.h"
#include "firmware/task.h"

extern struct list_node commands_ready;     /* tasks that can go on */
extern struct list_node commands_acquiring; /* tasks at an acquire that did not pass */

void commands_test_again(void);

/* Needs task. */
void commands_init(void);

/*
 * COMMANDS_GOOD, or where the first word is that begins no command of a list for TMDQ `stream` (method.def). *launch is
 * where the list's launch begins, or COMMANDS_NO_LAUNCH.
 */
#define COMMANDS_GOOD UINT32_MAX
#define COMMANDS_NO_LAUNCH UINT32_MAX
uint32_t commands_check(const uint32_t *words, uint32_t count, uint32_t stream, uint32_t *launch);

/* Gives a new task its list, which commands_check() has passed; `position` is for faults (channel_position()). */
void commands_put(struct task *task, const uint32_t *words, uint32_t count, uint64_t position);

/* The task's grid has ended, with all below. True: commands follow it, and the task goes on with them. */
bool commands_follow(struct task *task);

/* The turn of a PARKED task has come, or what it waited for has ended. */
void commands_go_on(struct task *task);

/* A place in the copy queue has come free. */
void commands_copy_ended(void);

/* A semaphore was released, or the host says that one may have been: tasks at an acquire test theirs again. */
static inline void commands_sem_released(void)
{
    if (!list_empty(&commands_acquiring)) {
        commands_test_again();
    }
}

/* Executes commands, at most so many; true: there are more. */
bool commands_run(uint32_t most);

static inline bool commands_serve(uint32_t most)
{
    return !list_empty(&commands_ready) && commands_run(most);
}

#endif
