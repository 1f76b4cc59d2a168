/* SPDX-License-Identifier: MIT */
/*
 * Keeps a channel as its owner sees it: the ring of GP entries, the staging area that command blocks and task
 * descriptors are put into, and the fence that tells events.
 */
#ifndef RUNTIME_CHANNEL_H
#define RUNTIME_CHANNEL_H

#include "ppu/sem.h"
#include "runtime/context.h"

/*
 * Memory layout: fence semaphore, ring, staging. Staging is used in a circle: what a
 * block takes is free again when GP_GET has passed the block's entry.
 */
struct ppu_channel {
    struct ppu_context *context;
    struct ppu_memory *memory;
    uint32_t index;
    uint32_t vector;
    uint32_t entries;
    uint32_t priority;
    ppu_va_t va; /* of the memory */
    struct ppu_sem *fence;
    uint64_t *ring;
    uint8_t *staging;
    uint64_t staging_va;
    uint32_t staging_bytes;

    pthread_mutex_t lock;
    uint32_t put;
    uint32_t get;          /* as last read */
    uint32_t staging_head; /* first byte in use */
    uint32_t staging_tail; /* first byte free; equal to head: empty */
    uint32_t *staging_end; /* for each entry: staging_tail after its block */
    uint32_t fence_value;  /* of the last event */
    uint32_t epoch;        /* atomic: resets so far */

    /* The device's error_lock guards these. */
    struct ppu_error fault;
    uint32_t errors_lost; /* device's count when the firmware was last asked about this channel */
};

/* Describes what a block needs at submission. */
struct channel_chunk {
    uint8_t *host;
    uint64_t va;
    uint32_t offset; /* in staging */
    uint32_t bytes;
};

/* The firmware stopped the channel; the first fault stays. With the device's error_lock. */
void channel_set_fault(struct ppu_channel *channel, const struct ppu_error *error);

/* The firmware has opened the channel: its faults are told to this object from now on. INTERNAL: no such number. */
enum ppu_err channel_register(struct ppu_channel *channel);
/* Has the firmware close it. OK and DEVICE_LOST: it is gone; else it stays. */
enum ppu_err channel_close(struct ppu_channel *channel);

/* Does what ppu_channel_error() does; asks the firmware when records were lost since it was asked last. */
enum ppu_err channel_fault(struct ppu_channel *channel);

/*
 * With the channel's lock: waits for a free entry and `bytes` of staging, 64-byte aligned. TIMEOUT, the
 * channel's fault, DEVICE_LOST.
 */
enum ppu_err channel_reserve(struct ppu_channel *channel, uint32_t bytes, struct channel_chunk *chunk);
/* With the channel's lock: puts the entry at GP_PUT and rings the doorbell. */
void channel_push(struct ppu_channel *channel, const struct channel_chunk *chunk, ppu_gp_entry_t entry,
                  uint32_t correlation);
/* True when the block about to be pushed should raise an interrupt for those who wait for room. */
bool channel_wants_interrupt(const struct ppu_channel *channel);

#endif
