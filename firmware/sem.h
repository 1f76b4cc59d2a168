/* SPDX-License-Identifier: MIT */
/*
 * Executes semaphore acquires (C8). An acquire that does not pass parks its channel: the word stays armed in the
 * device's semaphore table, at the channel's entry, and is tested again when it is touched, when the channel's doorbell
 * rings, and after 100 us, 200 us, and so on up to 10 ms (plain stores touch nothing). The semaphores that a work queue
 * waits for are not released by plain stores: they are tested each 10 ms.
 */
#ifndef FIRMWARE_SEM_H
#define FIRMWARE_SEM_H

#include <stdbool.h>

#include "firmware/channel.h"
#include "firmware/ring.h"

#define SEM_RETEST_FIRST_US 100u
#define SEM_RETEST_MOST_US 10000u

enum sem_result {
    SEM_PASSED,
    SEM_PARKED,
    SEM_FAULT, /* the channel has been stopped */
};

/* Begins an acquire for a RUNNING channel. `at` is aligned, `compare` is one there is. */
enum sem_result sem_acquire(struct channel *channel, ppu_va_t at, uint32_t value, uint32_t compare);

/* Tests the semaphore of a PARKED channel again; it becomes RUNNING, stays, or is stopped. */
void sem_retest(struct channel *channel);

/* Frees the channel's entry of the semaphore table. */
void sem_disarm(const struct channel *channel);

/* Takes an entry of the touch ring. */
void sem_touch_event(const union ring_entry *entry);

#endif
