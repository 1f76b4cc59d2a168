/* SPDX-License-Identifier: MIT */
/*
 * Defines work queues (C1 to C9): a work queue is a channel whose ring threads fill. The driver provides a piece of
 * VRAM that the address space maps, contiguous in both, and has the firmware fill it and open the channel
 * (WORKQ_CREATE):
 *
 *   struct ppu_workq_head
 *   ppu_gp_entry_t ring[entries]        at ring_at
 *   struct ppu_sem sem[entries]         at sem_at: 1 when what follows the entry is in place
 *   command blocks, block_bytes apart   at block_at: the block of entry n is for whoever has reserved entry n
 *
 * Counters. soft_put and shadow_put count entries and run modulo `period`, a multiple of the entry count below 2^31;
 * the entry of counter c is c % entries. A difference is taken modulo period.
 *
 * Who writes what. Threads reserve entries [s, s + n) by compare-and-swap of soft_put, when n <= shadow_put - s
 * (soft_put is read first). Whoever reserved them writes their blocks and ring entries, the last of which acquires its
 * own entry's semaphore, and when all is in place releases the semaphore of entry s - 1. The firmware executes entries
 * in order. When it has passed one it clears its semaphore and then publishes shadow_put + 1: entry, block and
 * semaphore are free.
 */
#ifndef PPU_WORKQ_H
#define PPU_WORKQ_H

#include "ppu/channel.h"
#include "ppu/sem.h"

#define PPU_WORKQ_VERSION 1u
#define PPU_WORKQ_ALIGN (64u * PPU_KIB)
#define PPU_WORKQ_MIN_ENTRIES 4u
#define PPU_WORKQ_MAX_ENTRIES (64u * PPU_KIB)
#define PPU_WORKQ_BLOCK_ALIGN 64u
#define PPU_WORKQ_MIN_BLOCK 128u /* bytes: the block that ends a round fits */
#define PPU_WORKQ_MAX_BLOCK (PPU_BLOCK_MAX_WORDS * 4u)

/* Says what GP_GET stands at (`stall`). */
enum ppu_workq_stall {
    PPU_WORKQ_GOES_ON = 0,
    PPU_WORKQ_AT_X = 1,    /* no round has begun: nothing becomes free before the kernel that waits has ended (C4) */
    PPU_WORKQ_AT_IDLE = 2, /* a wait for idle */
    PPU_WORKQ_ENDED = 3,   /* the channel has faulted or is closed */
};

struct ppu_workq_head {
    struct ppu_struct_header head; /* PPU_WORKQ_VERSION, sizeof(struct ppu_workq_head) */
    uint32_t entries;
    uint32_t period;
    uint32_t channel;
    uint32_t block_bytes;
    uint32_t ring_at; /* bytes from the begin of this structure */
    uint32_t sem_at;
    uint32_t block_at;
    uint32_t reserved0[8];
    uint32_t soft_put; /* threads */
    uint32_t reserved1[15];
    uint32_t shadow_put; /* firmware: counter of GP_PUT */
    uint32_t stall;      /* firmware: enum ppu_workq_stall */
    uint32_t reserved2[14];
    uint32_t round;    /* whoever ends it, by compare-and-swap: the round that has not been ended, from 1 */
    uint32_t creators; /* threads: those that may still create work in this round (C5) */
    uint32_t reserved3[14];
    struct ppu_sem x; /* payload: the round that may begin; released by the CPU's channel */
    uint32_t reserved4[12];
    struct ppu_sem y; /* payload: the round that has ended */
    uint32_t reserved5[12];
};
PPU_ASSERT_SIZE(struct ppu_workq_head, 384);
PPU_ASSERT_OFFSET(struct ppu_workq_head, soft_put, 64);
PPU_ASSERT_OFFSET(struct ppu_workq_head, shadow_put, 128);
PPU_ASSERT_OFFSET(struct ppu_workq_head, round, 192);
PPU_ASSERT_OFFSET(struct ppu_workq_head, x, 256);
PPU_ASSERT_OFFSET(struct ppu_workq_head, y, 320);

#define PPU_WORKQ_RING_AT ((uint32_t)sizeof(struct ppu_workq_head))
#define PPU_WORKQ_SEM_AT(entries) ((PPU_WORKQ_RING_AT + (entries)*PPU_GP_ENTRY_BYTES + 63u) & ~63u)
#define PPU_WORKQ_BLOCK_AT(entries) \
    ((PPU_WORKQ_SEM_AT(entries) + (entries) * (uint32_t)sizeof(struct ppu_sem) + 63u) & ~63u)
/* All of it. */
static inline uint64_t ppu_workq_bytes(uint32_t entries, uint32_t block_bytes)
{
    return PPU_WORKQ_BLOCK_AT(entries) + (uint64_t)entries * block_bytes;
}

/* C3: counters run modulo the largest multiple of the entry count that is at most 2^31. */
static inline uint32_t ppu_workq_period(uint32_t entries)
{
    return 0x80000000u / entries * entries;
}

static inline uint32_t ppu_workq_add(uint32_t counter, uint32_t count, uint32_t period)
{
    uint32_t sum = counter + count;

    return sum >= period ? sum - period : sum;
}

/* Entries from `from` up to, not including, `to`. */
static inline uint32_t ppu_workq_distance(uint32_t from, uint32_t to, uint32_t period)
{
    return to >= from ? to - from : to + period - from;
}

/* Most entries that one reservation can have, that of its acquire included (C4). */
#define PPU_WORKQ_MOST(entries) ((entries)-2u)

/*
 * Second operand of the start request (handle 0) by which a thread asks for a touch when entries have come free: the
 * channel, and the low bits of the shadow_put that it read. It has added 1 to its group's `work` before, which the
 * firmware takes back, and waits as for a child (B7); group.refused counts what was in vain.
 */
#define PPU_WORKQ_REQUEST(channel, shadow) ((channel) | (shadow) << 10)
#define PPU_WORKQ_REQUEST_CHANNEL(word) ((word)&0x3ffu)
#define PPU_WORKQ_REQUEST_SHADOW(word) ((word) >> 10)

#endif
