/* SPDX-License-Identifier: MIT */
/*
 * Defines the queues of queue tasks (A6, A12). Such a queue is circular and contiguous in VRAM and in the address space
 * that maps it. The host and threads fill it while a task takes from it: a CTA for each entry, in the order of the
 * entries.
 *
 *   struct ppu_taskq_head
 *   struct ppu_taskq_entry [entries], `entry_bytes` apart, each followed by its data
 *
 * Entries are numbered from 0; entry n lies in cell n % entries, and its number modulo 2^31 is its ticket. The
 * sequence word of a cell says whose it is:
 *
 *   sequence == ticket        free: the producer that takes this ticket fills it
 *   sequence == ticket + 1    published: the CTA with this number reads it, and frees it by ticket + entries
 *
 * A producer takes the ticket in `tail` by compare-and-swap when its cell is free, fills the cell, publishes it
 * (release), and exchanges `armed` with 0; a task found there is told, by a start request or the method FEED. The
 * firmware arms before it looks at the cells for the last time, a producer publishes before it looks at `armed`, each
 * with a full fence between: so either the firmware sees the entry, or the producer sees that it has to tell.
 *
 * Closing sets bit 0 of `tail`: from then on no ticket is taken. The task ends when every ticket taken before has been
 * published and its CTA has ended.
 *
 * Threads and the host write here, so the firmware believes nothing: what is wrong harms this context alone.
 */
#ifndef PPU_TASKQ_H
#define PPU_TASKQ_H

#include "ppu/base.h"

#define PPU_TASKQ_VERSION 1u
#define PPU_TASKQ_ALIGN (64u * PPU_KIB)
#define PPU_TASKQ_MIN_ENTRIES 2u
#define PPU_TASKQ_MAX_ENTRIES (64u * PPU_KIB)
#define PPU_TASKQ_ENTRY_ALIGN 16u
#define PPU_TASKQ_MAX_ENTRY_BYTES (4u * PPU_KIB)
#define PPU_TASKQS 64u /* that can be open at once; their numbers are below */

#define PPU_TASKQ_CLOSED 1u /* bit 0 of tail; the ticket is above */
#define PPU_TASKQ_TICKET_MASK 0x7fffffffu
#define PPU_TASKQ_TICKET(tail) ((tail) >> 1)

struct ppu_taskq_head {
    struct ppu_struct_header head; /* PPU_TASKQ_VERSION, sizeof(struct ppu_taskq_head) */
    uint32_t entries;              /* a power of two */
    uint32_t entry_bytes;          /* a multiple of 16, struct ppu_taskq_entry included */
    uint32_t number;               /* of the queue: what TMDs and FEED name */
    uint32_t reserved0[12];
    uint32_t tail; /* producers: next ticket, and whether the queue is closed */
    uint32_t reserved1[15];
    uint32_t armed; /* firmware: the task to be told of entries; producers take it by an exchange with 0 */
    uint32_t reserved2[31];
};
PPU_ASSERT_SIZE(struct ppu_taskq_head, 256);
PPU_ASSERT_OFFSET(struct ppu_taskq_head, tail, 64);
PPU_ASSERT_OFFSET(struct ppu_taskq_head, armed, 128);

enum ppu_taskq_kind {
    PPU_TASKQ_NOTHING = 0, /* its producer could not fill it */
    PPU_TASKQ_DATA = 1,
    PPU_TASKQ_TASK = 2,   /* a task that the CTA is to start as its own child (A12) */
    PPU_TASKQ_PARKED = 3, /* the same, of compiled kernels: the address of a parked record (child.h) lies behind */
};

struct ppu_taskq_entry {
    uint32_t sequence; /* producer, then the CTA */
    uint32_t kind;     /* producer: enum ppu_taskq_kind */
    uint32_t task;     /* producer: handle of a record of the nest (nest.h), 0: none */
    uint32_t reserved;
};
PPU_ASSERT_SIZE(struct ppu_taskq_entry, 16);

#define PPU_TASKQ_BYTES(entries, entry_bytes) \
    ((uint64_t)sizeof(struct ppu_taskq_head) + (uint64_t)(entries) * (entry_bytes))

#endif
