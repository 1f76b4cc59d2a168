/* SPDX-License-Identifier: MIT */
/*
 * Serves work queues (ppu/workq.h): channels whose ring threads fill (C1 to C9). To the rest of the firmware they are
 * channels like any other (C3); what is different is here: entries that have been passed are handed back to the
 * threads, threads that wait for entries go on, and a round that nobody ended is ended.
 */
#ifndef FIRMWARE_WORKQ_H
#define FIRMWARE_WORKQ_H

#include <stdbool.h>
#include <stdint.h>

#include "firmware/list.h"
#include "ppu/base.h"
#include "ppu/fault.h"
#include "ppu/workq.h"

struct channel;
struct task;

/* Holds what WORKQ_CREATE says. */
struct workq_plan {
    uint32_t context;
    ppu_va_t va;
    ppu_vram_t vram;
    uint32_t entries;
    uint32_t block_bytes;
    uint32_t priority;
    uint32_t vector;
    uint32_t first; /* counter of GP_GET at first (C1) */
};

void workq_init(void);

/* Opens the queue and its channel, which stands at Acquire X of round 1; NULL: no channel or no queue is left. The plan
 * is checked already. */
struct channel *workq_create(const struct workq_plan *plan);

/* ---- For the channel of a queue: channel->workq is its number. ---- */

/* GP_GET has left the entry `passed`. */
void workq_passed(uint32_t number, uint32_t passed);

/* The channel has parked at an acquire, has begun to wait for idle, or executes a method again. */
void workq_parked(uint32_t number);
void workq_waits_idle(uint32_t number);
void workq_runs(uint32_t number);

/* The semaphore is X or an entry's. Who releases it touches it: a method, or a thread's SEMREL. */
bool workq_owns_semaphore(uint32_t number, ppu_va_t at);

/* The channel has faulted: who waits for the queue is told. */
void workq_failed(uint32_t number);

/* Nothing of the channel runs any more: the queue is empty again, at round 1; or gone. */
void workq_restart(uint32_t number);
void workq_close(uint32_t number);

/* ---- For channels that wait for what the queue's channel releases (Y). ---- */

/* The queue of a channel, if it is open and of this context; CHANNEL_NO_WORKQ: it is none. */
uint32_t workq_of_channel(uint32_t index, uint32_t context);

/* True: it will release nothing. */
bool workq_has_failed(uint32_t number);

/* The channel has parked: its list node `turn` joins those that wait for the queue. */
void workq_await(uint32_t number, struct channel *channel);

/* What a channel had started has ended: the queue's, or one that waits for it. */
void workq_look(uint32_t number);

/* The last task of an address space has ended. */
void workq_context_idle(uint32_t context);

/*
 * A thread of the task asks to be woken when entries have come free (PPU_WORKQ_REQUEST). False: the request names no
 * queue of its address space.
 */
bool workq_request(struct task *task, uint32_t word);

#endif
