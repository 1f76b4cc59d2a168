/* SPDX-License-Identifier: MIT */
/* Reserves entries of work queues, fills their blocks, and publishes them (ppu/workq.h; C3). */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_WORKQ_H
#define DEVICE_LIB_OPENCL_ENQUEUE_WORKQ_H

#include "launch.h"
#include "ppu/workq.h"

#define LOOKS 64u /* at a queue that is full, before the thread gives up */
#define HEADER_WORDS (sizeof(struct ppu_block_header) / 4u)
#define QUEUE_ALIGN 64u /* of everything that a queue_t can be the address of, but for streams */

typedef global struct ppu_workq_head *work_queue_t;
typedef global struct ppu_work_batch *batch_t;

/* ---- what a queue_t is ---- */

INLINE bool can_make_work(device_queue_t given)
{
    record_t own = own_record();

    return own != 0 && nest_of(own)->enqueue_va != 0 && given != 0 && (ulong)given % QUEUE_ALIGN == 0;
}

/* NULL: it is no work queue. */
INLINE work_queue_t workq_of(device_queue_t given)
{
    bool is = can_make_work(given) && given->head.version == PPU_WORKQ_VERSION &&
              given->head.size_bytes == sizeof(struct ppu_workq_head);

    return is ? (work_queue_t)given : 0;
}

/* NULL: it is nothing that is reserved, or has been published. */
INLINE batch_t batch_of(device_queue_t given)
{
    bool is = can_make_work(given) && given->head.version == PPU_WORK_BATCH_VERSION &&
              given->head.size_bytes == sizeof(struct ppu_work_batch);

    return is ? (batch_t)given : 0;
}

/* ---- entries ---- */

INLINE uint entry_of(work_queue_t queue, uint counter)
{
    return counter % queue->entries;
}

INLINE global uint *block_of(work_queue_t queue, uint counter)
{
    return (global uint *)((ulong)queue + queue->block_at + (ulong)entry_of(queue, counter) * queue->block_bytes);
}

INLINE ulong sem_of(work_queue_t queue, uint counter)
{
    return (ulong)queue + queue->sem_at + (ulong)entry_of(queue, counter) * sizeof(struct ppu_sem);
}

/* Nothing comes free before the kernel that asks has ended (C4). */
INLINE bool stands_still(work_queue_t queue)
{
    uint stall = load(&queue->stall);

    return stall == PPU_WORKQ_AT_X || stall == PPU_WORKQ_ENDED;
}

/* Free entries; soft_put is read first, and only then shadow_put: else what is free may seem more than it is. */
INLINE uint free_entries(work_queue_t queue, private uint *put, private uint *shadow)
{
    *put = load(&queue->soft_put);
    *shadow = load(&queue->shadow_put);
    return ppu_workq_distance(*put, *shadow, queue->period);
}

/* False: so many are not free. */
INLINE bool reserve_entries(work_queue_t queue, uint entries, private uint *first)
{
    uint put, shadow;

    for (uint looks = LOOKS; looks != 0;) {
        if (free_entries(queue, &put, &shadow) < entries) {
            looks = stands_still(queue) ? 0 : looks - 1;
        } else if (replace(&queue->soft_put, put, ppu_workq_add(put, entries, queue->period))) {
            *first = put;
            return true;
        }
    }
    return false;
}

/* The entry points to its block of so many words, whose header this writes. */
INLINE void point(work_queue_t queue, uint counter, uint words)
{
    global uint *block = block_of(queue, counter);

    block[0] = PPU_BLOCK_VERSION | (uint)sizeof(struct ppu_block_header) << 16;
    block[1] = words;
    block[2] = block[3] = 0;
    ((global ulong *)((ulong)queue + queue->ring_at))[entry_of(queue, counter)] = (ulong)block | (ulong)words << 48;
}

/* ---- commands ---- */

INLINE uint put_sem(global uint *at, enum ppu_method method, ulong sem, uint value, uint how)
{
    at[0] = PPU_METHOD_WORD(method, 4);
    at[1] = (uint)sem;
    at[2] = (uint)(sem >> 32);
    at[3] = value;
    at[4] = how;
    return 5;
}

/* The last entry of a reservation, whose block has so many words: adds its acquire, and lets the firmware go on. */
INLINE void seal(work_queue_t queue, uint first, uint last, uint words)
{
    words += put_sem(block_of(queue, last) + words, PPU_METHOD_SEM_ACQUIRE, sem_of(queue, last), 1, PPU_SEM_EQUAL);
    point(queue, last, words);
    __ppu_fence(PPU_ORDER_RELEASE, PPU_SCOPE_OF_DEVICE);
    __ppu_release(sem_of(queue, ppu_workq_add(first, queue->period - 1, queue->period)), 1);
}

/* ---- batches ---- */

INLINE work_queue_t queue_of(batch_t batch)
{
    return (work_queue_t)batch->queue;
}

INLINE uint counter_of(batch_t batch, uint piece)
{
    return ppu_workq_add(batch->first, piece, queue_of(batch)->period);
}

INLINE void begin_piece(batch_t batch, uint piece)
{
    batch->piece = piece;
    batch->words = HEADER_WORDS;
    batch->launches = 0;
}

/* NULL: there is no room. `pieces` is below PPU_WORKQ_MOST(). */
INLINE batch_t begin_batch(work_queue_t queue, uint pieces)
{
    uint first = 0;

    if (!reserve_entries(queue, pieces + 1, &first)) {
        return 0;
    }
    batch_t batch = (batch_t)block_of(queue, ppu_workq_add(first, pieces, queue->period));
    batch->head.version = PPU_WORK_BATCH_VERSION;
    batch->head.size_bytes = sizeof(struct ppu_work_batch);
    batch->first = first;
    batch->pieces = pieces;
    batch->queue = (ulong)queue;
    begin_piece(batch, 0);
    return batch;
}

/* Room for a command, in this piece or the next. NULL: there is none. */
INLINE global uint *add_words(batch_t batch, uint words, uint launches)
{
    if (batch->words + words > PPU_CHILD_WORK_WORDS || batch->launches + launches > 1) {
        if (batch->piece + 1 >= batch->pieces) {
            return 0;
        }
        point(queue_of(batch), counter_of(batch, batch->piece), batch->words);
        begin_piece(batch, batch->piece + 1);
    }
    global uint *at = block_of(queue_of(batch), counter_of(batch, batch->piece)) + batch->words;
    batch->words += words;
    batch->launches += launches;
    return at;
}

/* What was reserved must be published: pieces without commands as blocks of nothing. */
INLINE void publish_batch(batch_t batch)
{
    work_queue_t queue = queue_of(batch);
    uint first = batch->first, pieces = batch->pieces, words = batch->words;

    for (uint i = batch->piece; i < pieces; i++) {
        point(queue, ppu_workq_add(first, i, queue->period), words);
        words = HEADER_WORDS;
    }
    seal(queue, first, ppu_workq_add(first, pieces, queue->period), HEADER_WORDS);
}

/* ---- a batch, or one of a single piece ---- */

struct entered_batch {
    batch_t batch; /* NULL: there is none */
    bool own;      /* made for one command */
    int error;
};

INLINE struct entered_batch enter_batch(device_queue_t given)
{
    work_queue_t queue = workq_of(given);
    struct entered_batch entered = { batch_of(given), queue != 0, 0 };

    if (queue != 0) {
        entered.batch = begin_batch(queue, 1);
        entered.error = entered.batch == 0 ? ERROR_FULL : 0;
    } else if (entered.batch == 0) {
        entered.error = ERROR_QUEUE;
    }
    return entered;
}

INLINE void leave_batch(const private struct entered_batch *entered)
{
    if (entered->own) {
        publish_batch(entered->batch);
    }
}

#endif
