/* SPDX-License-Identifier: MIT */
/*
 * Task records (B5): one for each task from its acceptance to its completion. What the firmware alone uses is here; the
 * status words that launchers share, the TMD copy and the parameters lie in protected VRAM at the record's index.
 */
#ifndef FW_TASK_H
#define FW_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "layout.h"
#include "list.h"

struct channel;

/* What is still allowed in each state stands in task.c, task_enter(). */
enum task_state {
    TASK_FREE,    /* in the pool */
    TASK_HELD,    /* waits in its TMDQ until the task before it has completed */
    TASK_READY,   /* in the TMU's list of its priority */
    TASK_RUNNING, /* has a slot */
    TASK_KILLING, /* has a slot, which is being killed */
    TASK_ENDED,   /* ended without a slot event: its completion is to be done */
    TASK_LINKING, /* completed; the record stays until its launcher, which will read WAITING, names it (B6) */
    TASK_STATES,
};

#define TASK_NO_SLOT 0xffu

struct task {
    struct list_node queue;  /* the pool, a TMU list, or the ended tasks, by state */
    struct list_node owner;  /* the channel's tasks */
    struct channel *channel; /* NULL when it has ended this task already */
    ppu_task_t handle;       /* index and present generation */
    uint8_t state;           /* enum task_state */
    uint8_t priority;
    bool head;       /* insert at the head of its list (A4) */
    uint8_t slot;    /* that it has or had, or TASK_NO_SLOT */
    uint16_t fault;  /* why it ended, 0 by itself */
    uint16_t group;  /* thread-group context: that of address space `group`, at depth 0 */
    uint32_t stream; /* TMDQ, or PPU_STREAM_NONE */
    uint32_t correlation;
};

/* Needs layout. */
void task_init(void);

/* A record in state HELD that belongs to nobody yet; NULL: none is free. */
struct task *task_new(void);

/* Gives a record back; its handle is stale from now on. */
void task_free(struct task *task);

/* The record a handle names; NULL when it names none. The handle may come from anywhere. */
struct task *task_find(ppu_task_t handle);

/* The record whose TMD copy lies at this VRAM offset; NULL: none. */
struct task *task_of_tmd(uint32_t vram_offset);

/* Record number `index`, below layout.tasks. */
struct task *task_at(uint32_t index);

void task_enter(struct task *task, enum task_state state);

uint32_t task_index(const struct task *task);
uint32_t task_count_free(void);
ppu_vram_t task_tmd_place(const struct task *task);
ppu_vram_t task_params_place(const struct task *task);
struct ppu_tmd *task_tmd(const struct task *task);
struct ppu_task_status *task_status(const struct task *task);

#endif
