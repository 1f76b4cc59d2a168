/* SPDX-License-Identifier: MIT */
/*
 * Takes a task from a TMD in a context's memory to its completion: it is accepted, starts after its predecessors, and
 * completes.
 */
#ifndef FIRMWARE_LAUNCH_H
#define FIRMWARE_LAUNCH_H

#include <stdbool.h>

#include "firmware/channel.h"
#include "firmware/task.h"

void launch_init(void);

enum launch_result {
    LAUNCH_ACCEPTED,
    LAUNCH_NO_RECORD, /* every task record is in use: try again when one is free */
    LAUNCH_FAULT,     /* *code and *payload say why (fault.def) */
};

/* Accepts the task described at `tmd` for the channel, in TMDQ `stream` of its context (B4, B10, A11). */
enum launch_result launch_task(struct channel *channel, ppu_va_t tmd, uint32_t stream, uint32_t correlation,
                               uint16_t *code, uint64_t *payload);

/*
 * A thread of the address space asks for a task that was launched there (B4, last step), and names the former task when
 * its link read WAITING. Both handles may be anything. False: they name no tasks that can have been launched; nothing
 * was done. What was launched by a task that is about to die dies with it.
 */
bool launch_child(uint32_t context, ppu_task_t handle, ppu_task_t former);

/* True when what the task's threads wait for has completed, with its subtrees: all children, or with CTA_GROUPS, where
 * the task is PARKED, those of some CTA that waits (B7). */
bool launch_can_go_on(const struct task *parent);

/* Something that the task's threads waited for has happened, and its group's `work` says so: it goes on when that was
 * the last (B7, B8). */
void launch_unblock(struct task *parent);

/* A task's threads have ended; it has no slot. When its subtree has ended too it completes (B8): B6, and the next task
 * of its TMDQ. */
void launch_complete(struct task *task);

/* Ends a task of a channel that is being stopped. What has a slot ends with its slot event; the others
 * leave the channel now and complete when their turn in the TMDQ comes, without having run. */
void launch_cancel(struct task *task, uint16_t fault);

/* A PARKED task whose CTAs have all ended begins no other: it completes. */
void launch_end_parked(struct task *task);

/* Completes at most `most` tasks that ended without a slot event; true: there were some, and a channel may go on. */
bool launch_complete_ended(uint32_t most);

#endif
