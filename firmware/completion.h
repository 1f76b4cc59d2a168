/* SPDX-License-Identifier: MIT */
/*
 * Completes tasks (B6, B8): the step on the task's TMDQ starts the next task there, then whoever waited for this one
 * goes on. A task completes when its threads and its subtree have ended.
 */
#ifndef FIRMWARE_COMPLETION_H
#define FIRMWARE_COMPLETION_H

#include <stdbool.h>

#include "firmware/task.h"

void completion_init(void);

/* A task's threads have ended; it has no slot. When its subtree has ended too it completes: B6, and the next task of
 * its TMDQ. */
void completion_begin(struct task *task);

/* The task ends without a slot event: it becomes ENDED, and completion_run_deferred() begins its completion. */
void completion_defer(struct task *task);

/* Tasks in state ENDED. */
extern struct list_node completion_deferred;

bool completion_run(uint32_t most);

/* Begins the completion of at most `most` ENDED tasks; true: there were some, and a channel may go on. */
static inline bool completion_run_deferred(uint32_t most)
{
    return !list_empty(&completion_deferred) && completion_run(most);
}

/* Ends a task of a channel that is being stopped. What has a slot ends with its slot event; the others
 * leave the channel now and complete when their turn in the TMDQ comes, without having run. */
void completion_cancel(struct task *task, uint16_t fault);

/* Counts the task off its channel, if it still has one. */
void completion_leave_channel(struct task *task);

/* True when what the task's threads wait for has completed, with its subtrees: all children, or with CTA_GROUPS, where
 * the task is PARKED, those of some CTA that waits (B7). */
bool completion_can_go_on(const struct task *parent);

/* Something that the task's threads waited for has happened, and its group's `work` says so: it goes on when that was
 * the last (B7, B8). */
void completion_unblock(struct task *parent);

#endif
