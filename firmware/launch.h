/* SPDX-License-Identifier: MIT */
/*
 * Launches tasks: takes a TMD from a context's memory, checks it, makes a task of it, and starts the task after its
 * predecessors (B4, B10, A11). completion.h says what follows.
 */
#ifndef FIRMWARE_LAUNCH_H
#define FIRMWARE_LAUNCH_H

#include <stdbool.h>

#include "firmware/channel.h"
#include "firmware/task.h"

enum launch_result {
    LAUNCH_ACCEPTED,
    LAUNCH_NO_RECORD, /* every task record is in use: try again when one is free */
    LAUNCH_FAULT,     /* *code and *payload say why (fault.def) */
};

/* Accepts the task described at `tmd` for the channel, in TMDQ `stream` of its context (B4, B10, A11). */
enum launch_result launch_task(struct channel *channel, ppu_va_t tmd, uint32_t stream, uint32_t correlation,
                               uint16_t *code, uint64_t *payload);

/*
 * Makes a task of a list of commands that commands_check() has passed (B15), in TMDQ `stream` of the channel's context.
 * `launch` is where its launch begins, as commands_check() says.
 */
enum launch_result launch_commands(struct channel *channel, uint32_t stream, const uint32_t *words, uint32_t count,
                                   uint32_t launch, uint16_t *code, uint64_t *payload);

/* The turn of the task's grid has come, which has not begun. */
void launch_grid(struct task *task);

/*
 * A thread of the address space asks for a task that was launched there (B4, last step), and names the former task when
 * its link read WAITING. Both handles may be anything. False: they name no tasks that can have been launched; nothing
 * was done. What was launched by a task that is about to die dies with it.
 */
bool launch_child(uint32_t context, ppu_task_t handle, ppu_task_t former);

/* Everything before the task in its TMDQ has completed: it starts, or ends without having run when it has a fault. */
void launch_start(struct task *task);

/* A LENT record becomes the parent's child and starts. What the launcher wrote, in `record`, is copied once, here. */
void launch_start_child(struct task *child, struct task *parent, const struct ppu_nest_task *record, uint32_t stream);

/* The task has all it needs but a slot. A queue task requests one when there are entries. */
void launch_ready(struct task *task);

/*
 * The words of a TMDQ were written over, so its order is lost: the TMDQ becomes empty, the tasks that waited in it end
 * with a fault, and those that run complete without it. Looks at every record; only a context that harmed itself comes
 * here.
 */
void launch_rebuild_tmdq(uint32_t context, uint32_t stream);

/* The record is free for other launches. */
void launch_give_back(struct task *task);

#endif
