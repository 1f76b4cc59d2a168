/* SPDX-License-Identifier: MIT */
/*
 * Defines nests (B1 to B5, B14): what the threads of an address space need to launch tasks by themselves. The driver
 * provides a piece of VRAM that the address space maps, contiguous in both, and has the firmware fill it (NEST_OPEN):
 *
 *   struct ppu_nest
 *   ppu_task_t free[tasks]              ring of the handles of the records that are free
 *   struct ppu_nest_task [tasks]        at PPU_NEST_TASKS_AT(tasks)
 *   struct ppu_cta_group []             of places to be saved in: PPU_NEST_GROUPS(depth)
 *
 * Threads write here, so the firmware believes nothing of it: a handle is looked up in its own records, a TMD is copied
 * and checked, and what is wrong harms this nest alone.
 *
 * A launch (B4) takes these steps:
 *
 *   1. Take a handle from the ring.
 *   2. Fill the record's TMD and parameters, next_stream = null, parent, stream.
 *   3. Add 1 to the work of the parent's group.
 *   4. csenter; exchange last_task of the TMDQ.
 *   5. Without a former task: send the start request. With one: exchange its next_stream, and send the start request
 *      when that read WAITING. csleave.
 *
 * Any time may pass between steps 3 and 4, and another task of the nest may do the rest: the status names the parent.
 */
#ifndef PPU_NEST_H
#define PPU_NEST_H

#include "ppu/task.h"
#include "ppu/tmd.h"

#define PPU_NEST_VERSION 1u
#define PPU_NEST_ALIGN (64u * PPU_KIB)
#define PPU_NEST_MIN_TASKS 64u
#define PPU_NEST_MAX_TASKS 4096u
#define PPU_NEST_MAX_DEPTH 288u
#define PPU_NEST_MAX_PARAM 1024u   /* bytes of parameters of a task with a record here */
#define PPU_NEST_INLINE_PARAM 528u /* of these in the record itself */

/*
 * The save area of a nest is VRAM that nobody maps. It begins with a place for each depth, as large as any may be; the
 * rest is cut into units of one size, and a task that may wait takes as many in a row as its places need.
 */
#define PPU_NEST_UNITS 192u           /* at most */
#define PPU_NEST_UNIT_PLACES 16u      /* a unit holds at most */
#define PPU_NEST_MAX_STATE 0x1000000u /* bytes of a place, at most */

struct ppu_nest {
    struct ppu_struct_header head; /* PPU_NEST_VERSION, sizeof(struct ppu_nest) */
    uint32_t tasks;                /* records, a power of two */
    uint32_t first;                /* record n has index first + n in its handle */
    uint32_t depth;                /* of the deepest grid: threads there cannot launch */
    uint32_t reserved0[12];
    uint32_t free_head; /* threads, by compare-and-swap; runs freely */
    uint32_t reserved1[15];
    uint32_t free_tail; /* firmware; runs freely */
    uint32_t reserved2[15];
    uint64_t heap_va;    /* driver: struct ppu_heap, memory for threads to take (B14); 0: none */
    uint64_t enqueue_va; /* driver: struct ppu_enqueue (child.h), for compiled kernels; 0: none */
    uint32_t reserved3[12];
};
PPU_ASSERT_SIZE(struct ppu_nest, 256);
PPU_ASSERT_OFFSET(struct ppu_nest, free_head, 64);
PPU_ASSERT_OFFSET(struct ppu_nest, free_tail, 128);
PPU_ASSERT_OFFSET(struct ppu_nest, heap_va, 192);

struct ppu_nest_task {
    struct ppu_task_status status; /* launcher */
    uint64_t nest_va;              /* firmware: of struct ppu_nest */
    uint32_t error;                /* threads: enum ppu_devlib_status of the latest call that failed (devlib.h) */

    /* Compiled kernels use these (child.h). The firmware clears `ended`, `deferred`, `unparks` and the lists of parked
     * records when the task starts. */
    uint32_t ended;         /* work-items of this task that have ended */
    uint64_t deferred;      /* address of the first of the records whose tasks start when all have, 0: none */
    uint64_t next;          /* of the next record in the list that this one is in */
    uint32_t unmet;         /* what the task still waits for before it may start */
    ppu_task_t finisher;    /* the task that ends this one's event; 0: it has none */
    uint32_t failed;        /* something it waited for has failed */
    ppu_task_t root;        /* the task that a channel launched, above this one */
    struct ppu_group group; /* of the grid that this task is */
    struct ppu_tmd tmd;     /* launcher */
    uint8_t param[PPU_NEST_INLINE_PARAM];
    uint32_t place;          /* launcher: the CTA that it counts for: %place, among the groups of the parent */
    uint32_t cta;            /* launcher: ppu_cta_group.cta there */
    uint64_t local_va;       /* piece of the heap: local memory of whatever task has the record; 0: none so far */
    uint32_t local_size;     /* bytes at local_va */
    uint32_t unparks;        /* of a root: a task moves what is parked into records */
    uint64_t parked;         /* of a root: address of the first parked record (child.h); 0: none */
    uint64_t parked_keepers; /* the same of those whose tasks keep their records */
    uint64_t groups_va;      /* firmware: of the groups of the CTAs of this task; 0: its CTAs have none of their own */
};
PPU_ASSERT_SIZE(struct ppu_nest_task, 1024);
PPU_ASSERT_OFFSET(struct ppu_nest_task, group, 64);
PPU_ASSERT_OFFSET(struct ppu_nest_task, tmd, 256);
PPU_ASSERT_OFFSET(struct ppu_nest_task, param, 448);

#define PPU_NEST_TASKS_AT(tasks)                                                                      \
    (((uint32_t)sizeof(struct ppu_nest) + (tasks)*4u + (uint32_t)sizeof(struct ppu_nest_task) - 1u) & \
     ~((uint32_t)sizeof(struct ppu_nest_task) - 1u))
#define PPU_NEST_GROUPS_AT(tasks) (PPU_NEST_TASKS_AT(tasks) + (tasks) * (uint32_t)sizeof(struct ppu_nest_task))
/* One group for each place of a depth or a unit, and so many more that the last unit has room for any task. */
#define PPU_NEST_GROUPS(depth) ((depth) + PPU_NEST_UNITS * PPU_NEST_UNIT_PLACES + PPU_SAVE_PLACES)
#define PPU_NEST_BYTES(tasks, depth) \
    (PPU_NEST_GROUPS_AT(tasks) + PPU_NEST_GROUPS(depth) * (uint32_t)sizeof(struct ppu_cta_group))

#endif
