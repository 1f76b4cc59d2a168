/* SPDX-License-Identifier: MIT */
/*
 * Keeps TMDQs (B2, B4, B6): the tasks of one stream run in launch order, one at a time. A TMDQ is a last-task word in a
 * thread-group context and the next-stream words of its tasks (ppu/task.h); launchers and the scheduler change them at
 * the same time, without a lock.
 *
 * The words lie in memory the driver can write, so every handle read from them is
 * checked; a TMDQ that does not hold what it must is BROKEN, and its owner rebuilds it as empty.
 */
#ifndef FIRMWARE_TMDQ_H
#define FIRMWARE_TMDQ_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/task.h"

enum tmdq_append_result {
    TMDQ_FIRST,  /* nothing is before it: start it */
    TMDQ_BEHIND, /* it waits for the task before it */
    TMDQ_APPEND_BROKEN,
};

enum tmdq_complete_result {
    TMDQ_EMPTY,   /* no task follows */
    TMDQ_NEXT,    /* *next is to be started */
    TMDQ_PENDING, /* a task follows, whose launcher has yet to link it: the launcher will read WAITING and
                     have it started; the completed record must stay until then */
    TMDQ_COMPLETE_BROKEN,
};

/* Needs layout. All TMDQs empty. */
void tmdq_init(void);

/* An address space opens: its channels have PPU_GROUP_TMDQS TMDQs, all empty. */
void tmdq_open_group(uint32_t context);

/* From now on they have `count`, not fewer, whose last-task words are at `words`. What is in a TMDQ stays there. */
void tmdq_move(uint32_t context, ppu_vram_t words, uint32_t count);

/* How many the channels of an address space have. */
uint32_t tmdq_count(uint32_t context);

static inline bool tmdq_exists(uint32_t context, uint32_t stream)
{
    return stream < tmdq_count(context);
}

/*
 * Launch (B4, B13): counts the task in its group and puts it at the end of its TMDQ. `task` is HELD and has its group
 * and stream. Frees the former task's record when that has completed meanwhile.
 */
enum tmdq_append_result tmdq_append(struct task *task);

/* Completion (B6): takes the task out of its group's count and of its TMDQ. */
enum tmdq_complete_result tmdq_complete(struct task *task, struct task **next);

/* A task's own group: no children, every TMDQ empty, no error. The task has a nest. */
void tmdq_begin(const struct task *task);

/* True when every task launched from the task's own group has completed (B7). Threads can write the counter. */
bool tmdq_idle(const struct task *task);

/* Makes one TMDQ of a channel's streams empty, whatever is in its words. */
void tmdq_clear(uint32_t context, uint32_t stream);

#endif
