/* SPDX-License-Identifier: MIT */
/*
 * Keeps task records (B5): one for each task from its acceptance to its completion. What the firmware alone uses is
 * here; the status words that launchers share, the TMD copy and the parameters lie in protected VRAM at the record's
 * index.
 */
#ifndef FIRMWARE_TASK_H
#define FIRMWARE_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/layout.h"
#include "firmware/list.h"

struct channel;

/* What is still allowed in each state stands in task.c, task_enter(). */
enum task_state {
#define PPU_TASK_STATE(name, number, doc) TASK_##name = (number),
#include "ppu/task_state.def"
    TASK_STATES,
};

#define TASK_NO_SLOT 0xffu
#define TASK_NO_NEST 0xffu
#define TASK_NO_PLACES 0xffu
#define TASK_KEPT_PLACE 0xfeu
#define TASK_NO_STREAM PPU_MAX_STREAMS
#define TASK_NO_TASKQ 0xffu
#define TASK_NO_FOLLOWER 0xffffu

struct task {
    struct list_node node;   /* the pool, a TMU list, the ended tasks, or those that wait for places, by state */
    struct list_node owner;  /* the channel's tasks */
    struct channel *channel; /* NULL when it has ended this task already */
    struct task *parent;     /* whose group it was launched from; NULL: that of the address space, depth 0 */
    ppu_vram_t tmd;          /* its TMD copy */
    ppu_vram_t params;       /* and that of its parameters */
    ppu_task_t handle;       /* index and present generation */
    uint32_t correlation;
    uint32_t left_us; /* of its time limit; 0: it has none */
    uint16_t fault;   /* why it ended, 0 by itself */
    uint16_t stream;  /* TMDQ, or TASK_NO_STREAM */
    union {
        uint16_t depth;    /* of a task with a parent: 2 or more (B2) */
        uint16_t follower; /* of one without: index of the task behind it in its TMDQ, or TASK_NO_FOLLOWER */
    };
    uint16_t children; /* started and not completed */
    uint8_t state;     /* enum task_state */
    uint8_t priority;
    uint8_t slot;      /* that it has or had, or TASK_NO_SLOT */
    uint8_t context;   /* address space */
    uint8_t nest;      /* that the record is of, or TASK_NO_NEST */
    uint8_t places;    /* to be saved in: the first unit (places.h), TASK_KEPT_PLACE or TASK_NO_PLACES */
    uint8_t taskq;     /* queue that it takes from (taskq.h), or TASK_NO_TASKQ */
    bool commands : 1; /* its list of commands goes on, or will when its turn has come (commands.h) */
    bool listed : 1;   /* it has a list and a grid */
    bool begun : 1;    /* its grid, if it has one, has begun */
    bool head : 1;     /* insert at the head of its list (A4) */
    bool jumped : 1;   /* it was, before others that had come earlier */
    bool waits : 1;    /* CTAs wait for children, and the device is to be told when those have completed */
    bool resume : 1;   /* they may go on at the next start */
};

/* Needs layout. */
void task_init(void);

/* A record in state HELD, of no channel yet; NULL: none is free for the address space. */
struct task *task_new(uint32_t context);

/* Gives a record back; its handle is stale from now on. */
void task_free(struct task *task);

/* The record a handle names; NULL when it names none. The handle may come from anywhere. */
struct task *task_find(ppu_task_t handle);

/* The record whose TMD copy lies at this VRAM offset; NULL: none. */
struct task *task_of_tmd(uint32_t vram_offset);

/* The LENT record a handle names; NULL: none. */
struct task *task_find_lent(ppu_task_t handle);

/* Makes the record start a new life in state LENT: its old handle is stale. */
void task_lend(struct task *task);

/* Makes a LENT or LINKING record HELD, and as new. */
void task_adopt(struct task *task);

/* Record number `index`, below layout.tasks + layout.nest_tasks. */
struct task *task_at(uint32_t index);

void task_enter(struct task *task, enum task_state state);

uint32_t task_index(const struct task *task);
uint32_t task_count_free(void);
struct ppu_tmd *task_tmd(const struct task *task);
uint64_t *task_counts(const struct task *task); /* PPU_COUNTERS of them, behind it */
struct ppu_task_status *task_status(const struct task *task);

/* 1 when a channel launched it (B2). */
static inline uint32_t task_depth(const struct task *task)
{
    return task->parent ? task->depth : 1u;
}

/* True when threads of the task may launch: it has a group. */
static inline bool task_has_nest(const struct task *task)
{
    return task->nest != TASK_NO_NEST;
}

#endif
