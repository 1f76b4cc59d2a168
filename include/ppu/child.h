/* SPDX-License-Identifier: MIT */
/*
 * Defines what tasks that kernels enqueue (B1, B14) need beside their nest (nest.h). The compiler writes a struct
 * ppu_child for each kernel that threads enqueue, the driver a struct ppu_enqueue for each address space; events are
 * made and ended by threads alone (device-lib/opencl/enqueue.cl).
 */
#ifndef PPU_CHILD_H
#define PPU_CHILD_H

#include "ppu/tmd.h"

#define PPU_ENQUEUE_HEAD 0x20000      /* flag of enqueue_kernel: before the tasks that wait for a slot (A4) */
#define PPU_ENQUEUE_PRIORITY_SHIFT 24 /* flags of enqueue_kernel: priority + 1 (A3), 0: the highest there may be */
#define PPU_ENQUEUE_PRIORITY_MASK 0xf

/* A kernel that threads enqueue; constant data of the program. */
struct ppu_child {
    struct ppu_tmd tmd;   /* but for code_va, groups, parameters and local memory */
    uint32_t implicit_at; /* where struct ppu_implicit_args lies in the parameters; 0: not read */
    uint32_t reserved[3];
};
PPU_ASSERT_SIZE(struct ppu_child, 208);

#define PPU_DEVICE_QUEUE_VERSION 1u

/* A queue on the device, as kernels name it. */
struct ppu_device_queue {
    struct ppu_struct_header head; /* PPU_DEVICE_QUEUE_VERSION, sizeof; zeros: the queue has ended */
    uint32_t reserved[15];
};
PPU_ASSERT_SIZE(struct ppu_device_queue, 64);

#define PPU_DEVICE_QUEUES 63u /* in one address space; a kernel can be given all of them */

/* Answers what enqueuing threads ask about their address space; the driver writes it. */
struct ppu_enqueue {
    uint64_t default_queue; /* address of a struct ppu_device_queue; 0: none */
    uint32_t sm_vregs;      /* of an SM, as the identity registers say */
    uint32_t sm_lanes;
    uint32_t sm_shared;
    uint32_t reserved[11];
    struct ppu_device_queue queue[PPU_DEVICE_QUEUES];
};
PPU_ASSERT_SIZE(struct ppu_enqueue, 4096);

/* list of a struct ppu_device_event that has ended. */
#define PPU_DEVICE_EVENT_ENDED 0xffffffffffffffffull

/* An event of the device; a piece of the heap (heap.h). Times are semaphores whose payload nobody reads. */
struct ppu_device_event {
    uint32_t references;
    int32_t status;       /* 1: pending; 0: complete; below: failed */
    uint64_t list;        /* of struct ppu_device_wait, by their addresses; 0: none; PPU_DEVICE_EVENT_ENDED */
    uint64_t capture;     /* where two 64-bit times go when it ends; 0: nowhere */
    uint64_t first_group; /* of its task, as checks number groups (sanitizer.h); 0: not known */
    uint32_t began[4];    /* struct ppu_sem: when the task's first CTA began, */
    uint32_t left[4];     /* when the last of its CTAs ended, */
    uint32_t ended[4];    /* and when all that it enqueued had ended too */
};
PPU_ASSERT_SIZE(struct ppu_device_event, 80);
PPU_ASSERT_OFFSET(struct ppu_device_event, began, 32);

/* Links the record of a task that waits for an event into the event's list. */
struct ppu_device_wait {
    uint64_t next; /* in the event's list */
    uint64_t task; /* address of the struct ppu_nest_task */
};
PPU_ASSERT_SIZE(struct ppu_device_wait, 16);

/*
 * A task that is enqueued while no record is free for it waits as a parked record: a piece of the heap, laid out like a
 * struct ppu_nest_task as far as this, whose task handle is 0. When nothing else keeps it, it goes to a list of the
 * root of whoever started it, and a task there moves it into a record as soon as one is free. Records go round as long
 * as those who keep theirs leave some to the others: a task with an event, or one that may wait for its children, keeps
 * its record until all below it has ended, and takes one only while more than a PPU_PASSING_SHARE of all are free.
 * Others end with their threads, as what they enqueue belongs to the nearest task above that keeps its record.
 */
#define PPU_PARKED_BYTES offsetof(struct ppu_nest_task, unparks)
#define PPU_PASSING_SHARE 4u

/* Stands in front of the block of an enqueued task. */
struct ppu_child_head {
    uint64_t event; /* struct ppu_device_event, 0: none */
    uint64_t heap;  /* struct ppu_heap that this is a piece of, given back by the task's last work-item; 0: of none */
};
PPU_ASSERT_SIZE(struct ppu_child_head, 16);

/*
 * The parameters of an enqueued task lie at the begin of its record's `param`: the address of its block, shared memory
 * arguments, the implicit arguments. Behind them, at a multiple of 16, are the block with its head and the task's
 * waits. These two lie in a piece of the heap when the record has no room for them. Work for a work queue (workq.h) has
 * its parameters in the entry's block, at PPU_CHILD_WORK_PARAM. Its own block is a piece of the heap, with its private
 * memory behind it. The first word of a block in the heap counts the work-items that have not ended; elsewhere it says
 * the block's size.
 */
#define PPU_CHILD_WORK_WORDS 48u /* of commands and their header, one launch among them at most */
#define PPU_CHILD_WORK_TMD (4u * PPU_CHILD_WORK_WORDS)
#define PPU_CHILD_WORK_PARAM 384u
#define PPU_CHILD_WORK_BYTES 1024u /* of an entry's block */

#define PPU_WORK_BATCH_VERSION 1u

/*
 * Says what a thread has reserved of a work queue and has not published. It lies in the block of the last entry, whose
 * header takes its place at the publication. Its address is a queue to kernels.
 */
struct ppu_work_batch {
    struct ppu_struct_header head; /* PPU_WORK_BATCH_VERSION, sizeof */
    uint32_t first;                /* counter of the first entry */
    uint32_t pieces;               /* entries for commands; one more is for the acquire */
    uint32_t piece;                /* the one that is being filled, from 0 */
    uint32_t words;                /* of it that are filled, its header included */
    uint32_t launches;             /* in it */
    uint64_t queue;                /* address of the struct ppu_workq_head */
};
PPU_ASSERT_SIZE(struct ppu_work_batch, 32);

#endif
