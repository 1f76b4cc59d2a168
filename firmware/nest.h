/* SPDX-License-Identifier: MIT */
/*
 * Keeps nests (ppu/nest.h): the records that threads of an address space fill in and launch, and the save areas of
 * may-wait tasks (B3, B7).
 *
 * Admission (B9). A task whose CTAs may be saved gets places before it gets a slot, and keeps them until its threads
 * have ended. So it never waits for a place while it holds a slot. Whatever the tasks above hold, each depth has a
 * place of its own, and the deepest always have theirs.
 */
#ifndef FIRMWARE_NEST_H
#define FIRMWARE_NEST_H

#include "firmware/task.h"
#include "ppu/admin.h"
#include "ppu/fault.h"

/* Holds what NEST_OPEN says. */
struct nest_plan {
    uint32_t context;
    ppu_va_t va;
    ppu_vram_t vram;
    uint32_t tasks;
    uint32_t depth;
    ppu_vram_t save;
    uint32_t save_bytes;  /* of the whole area */
    uint32_t state_bytes; /* of the largest place */
    uint32_t places;      /* of a task, at most; 0: no CTA can be saved */
};

/* Needs task. */
void nest_init(void);

/* 0, or IN_USE (it has a nest), NO_RESOURCE (no records left), QUOTA. The plan is checked already. */
enum ppu_fault nest_open(const struct nest_plan *plan);

/* Nothing of the context runs any more. */
void nest_close(uint32_t context);

/* Nest of an address space, TASK_NO_NEST: none. */
uint32_t nest_of(uint32_t context);

/* Deepest grid of a nest. */
uint32_t nest_depth(uint32_t nest);

/* Returns what threads see of a record that is of a nest. */
struct ppu_nest_task *nest_record(const struct task *task);
ppu_va_t nest_record_va(const struct task *task);

/* The groups of a task's CTAs (task.h), one a place to be saved in: VRAM offset, 0: they have none of their own; and as
 * threads see them. */
uint32_t nest_groups(const struct task *task);
ppu_va_t nest_groups_va(const struct task *task);

/* A child of the CTA that had `place` has completed. True: it was the last that this CTA may wait for. */
bool nest_child_done(const struct task *parent, uint32_t place, uint32_t cta);

/* Threads of the task's CTAs that wait for entries of a work queue look again (C4). */
void nest_entries_came(const struct task *task);

/* The task is PARKED with CTAs that wait. True: one of them has no children any more. */
bool nest_has_idle_cta(const struct task *task);

/* Takes a record for a task that a channel launches, in state HELD; NULL: none is free. */
struct task *nest_borrow(uint32_t nest);

/* A LENT record becomes a task, HELD; a task that has completed becomes a free record. */
void nest_adopt(struct task *task);
void nest_return(struct task *task);

/* A task that has completed stays LINKING until the launcher behind it names it (B6); it has. */
void nest_linger(struct task *task);
void nest_linked(struct task *task);

/* Records that threads had are not to be found any more: their launchers or the tasks before them were killed. They are
 * taken back when nothing of the nest runs. */
void nest_lost(uint32_t nest);

/* Gives a task places and notes them in its TMD copy: as many as it has CTAs, as it may have, and as there is room for,
 * one at least. False: there is none, and the task waits for one in state ADMITTED. */
bool nest_admit(struct task *task);

/* True when a place can hold a CTA of this task. */
bool nest_can_save(uint32_t nest, const struct ppu_tmd *tmd);

/* The task has places, and its threads have ended, or it will not run: its places are given back. Returns a task that
 * gets some of them, which is to be started; NULL: none. */
struct task *nest_release(struct task *task);

/* Another ADMITTED task that there are places for, which it has now. NULL: none. */
struct task *nest_admit_waiting(uint32_t number);

/* An ADMITTED task waits no longer. */
void nest_withdraw(struct task *task);

#endif
