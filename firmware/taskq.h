/* SPDX-License-Identifier: MIT */
/*
 * Serves the queues of queue tasks (A6, A12; ppu/taskq.h). Producers publish entries; the firmware finds how far they
 * have been published without a gap and lets so many CTAs of the queue's task begin. A task whose queue is empty has no
 * slot.
 */
#ifndef FIRMWARE_TASKQ_H
#define FIRMWARE_TASKQ_H

#include "firmware/task.h"
#include "ppu/admin.h"
#include "ppu/fault.h"

/* Holds what TASKQ_OPEN says. */
struct taskq_plan {
    uint32_t context;
    ppu_vram_t vram;
    uint32_t entries;
    uint32_t entry_bytes;
};

/* Needs task. */
void taskq_init(void);

/* Number of a new queue. False: none is left. The plan is checked already. */
bool taskq_open(const struct taskq_plan *plan, uint32_t *number);

/* NO_OBJECT, IN_USE: a task takes from it. */
enum ppu_fault taskq_close(uint32_t number);

/* Lets it have another task, whose entries are numbered from 0 again. NO_OBJECT, IN_USE: as above. */
enum ppu_fault taskq_reopen(uint32_t number);

/* Closes those of an address space; nothing of it runs any more. */
void taskq_close_all(uint32_t context);

/* True when the number is that of a queue of this address space. */
bool taskq_exists(uint32_t number, uint32_t context);

/* Gives a task whose turn has come its queue. False: there is none, or it has had its task already. */
bool taskq_bind(struct task *task, uint32_t number);

/* A task that has a queue is complete, or will not run. */
void taskq_unbind(struct task *task);

/*
 * Entries may have been published, or the queue closed: a task that runs may begin more CTAs; one that is PARKED
 * becomes READY, or ENDED when the queue is closed and empty.
 */
void taskq_serve(struct task *task);

/*
 * Serves whatever task the queue has (the method FEED). Nothing happens when the number is that of no queue of
 * this address space: whoever tells cannot know that the task has ended meanwhile, and the queue been closed.
 */
void taskq_feed(uint32_t number, uint32_t context);

/* Entries that have been published without a gap: so many CTAs of the task may begin. */
uint64_t taskq_published(const struct task *task);

/* Lists the queues that had more entries than one look takes in. */
extern struct list_node taskqs_more;

bool taskq_serve_some(uint32_t most);

/* Goes on with queues that had more entries than one look takes in; true: there are more. */
static inline bool taskq_serve_more(uint32_t most)
{
    return !list_empty(&taskqs_more) && taskq_serve_some(most);
}

#endif
