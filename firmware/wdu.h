/* SPDX-License-Identifier: MIT */
/*
 * Distributes work (work distribution unit; A5): it keeps the task table and the time slices. A slot runs one task; the
 * device gives its CTAs to the SMs and tells by a slot event when it has ended.
 */
#ifndef FIRMWARE_WDU_H
#define FIRMWARE_WDU_H

#include <stdbool.h>

#include "firmware/ring.h"
#include "firmware/task.h"
#include "firmware/tmu.h"

/* Needs caps. */
void wdu_init(void);

/* Makes a task READY. It starts at once when no other is and a slot is free for it; else wdu_dispatch() starts it. */
void wdu_ready(struct task *task);

/* Takes a slot for a task of that priority and address space, if one may start now. */
bool wdu_takes_slot(uint32_t priority, uint32_t context);

/* Starts ready tasks while slots are free; some are. */
void wdu_dispatch_ready(void);

static inline void wdu_dispatch(void)
{
    if (!tmu_is_empty()) {
        wdu_dispatch_ready();
    }
}

/* CTAs of the task that wait for children may go on: the children have completed (B7). */
void wdu_resume(struct task *task);

/* A CTA with a group of its own (task.h) may have no children any more: it goes on then. */
void wdu_look(struct task *task);

/* There are more entries for a queue task that is RUNNING or PARKED (A6). */
void wdu_feed(struct task *task);

/* Returns the task that a slot runs; NULL: none. */
struct task *wdu_task(uint32_t slot);

/* Tasks of several priorities are RUNNING; the lowest of them. */
bool wdu_priorities_differ(void);
uint32_t wdu_lowest(void);

/* True when the task has a slot now. */
bool wdu_has(const struct task *task);

/* Ends a RUNNING or STOPPING task that has a slot; its slot event follows. */
void wdu_kill(struct task *task);

/* Reports a fault of a task. Its channel ends with all that it started. */
void wdu_fail(struct task *task, struct ppu_error_record *record);

/* Take an entry of their ring. */
void wdu_slot_event(const union ring_entry *entry);
void wdu_fault_event(const union ring_entry *entry);
void wdu_start_event(const union ring_entry *entry);

#endif
