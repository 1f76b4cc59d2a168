/* SPDX-License-Identifier: MIT */
/*
 * Defines task handles, task status and TMDQs (B2 to B6), which the scheduler and the launching side share. Words
 * changed by both are 32 bits and changed atomically.
 */
#ifndef PPU_TASK_H
#define PPU_TASK_H

#include "ppu/base.h"

/* Handle: index in bits 0-19, generation in bits 20-31. Generation 0 is never given out. */
typedef uint32_t ppu_task_t;
#define PPU_TASK_NULL 0u
#define PPU_TASK_WAITING 0xffffffffu /* in next_stream: the scheduler was here first (B6) */
#define PPU_TASK_INDEX_BITS 20u
#define PPU_TASK_INDEX(handle) ((handle) & ((1u << PPU_TASK_INDEX_BITS) - 1u))
#define PPU_TASK_GENERATION(handle) ((handle) >> PPU_TASK_INDEX_BITS)
#define PPU_TASK_HANDLE(index, generation) ((uint32_t)(index) | ((uint32_t)(generation) << PPU_TASK_INDEX_BITS))
#define PPU_TASK_GENERATIONS 4096u
/* Index 0xfffff with generation 0xfff would read as WAITING: no pool is that large. */
#define PPU_TASK_MAX ((1u << PPU_TASK_INDEX_BITS) - 1u)

/* Status of a task (B5), made at launch. */
struct ppu_task_status {
    ppu_task_t task;
    ppu_task_t next_stream; /* launcher: the next task of the TMDQ; scheduler: WAITING */
    uint32_t group;         /* thread-group context it was launched from: address space, or handle of the parent */
    uint32_t stream;        /* TMDQ in there, or PPU_STREAM_NONE */
};
PPU_ASSERT_SIZE(struct ppu_task_status, 16);

#define PPU_MAX_STREAMS 0xffffu /* TMDQs of an address space, for its channels; it begins with PPU_GROUP_TMDQS */

/* Thread-group context of a grid (B3): a last-task pointer for each TMDQ and a work counter. */
#define PPU_GROUP_TMDQS 32u
struct ppu_group {
    uint32_t work;    /* tasks launched from here and not complete (B13) */
    uint32_t streams; /* streams created here: the next gets TMDQ streams % PPU_GROUP_TMDQS (B3) */
    uint32_t refused; /* firmware: requests for entries of a work queue that were in vain (workq.h) */
    uint32_t reserved[13];
    ppu_task_t last_task[PPU_GROUP_TMDQS];
};
PPU_ASSERT_SIZE(struct ppu_group, 64 + 4 * PPU_GROUP_TMDQS);

/*
 * Thread-group context of one CTA (B3), of a grid whose TMD has PPU_TMD_CTA_GROUPS: what the CTA's own threads
 * launched. They use the grid's TMDQs, and count in the grid's group too. It is made anew for each CTA that begins; the
 * number in both words tells the children of CTAs that have ended from those of the CTA that is here now.
 */
struct ppu_cta_group {
    uint32_t cta;  /* device: number of the CTA within the grid, modulo 2^32 */
    uint32_t work; /* device: PPU_CTA_WORK() when the CTA begins; threads add 1 for each launch, the firmware takes it
                      off when that has completed */
};
PPU_ASSERT_SIZE(struct ppu_cta_group, 8);
#define PPU_CTA_WORK(cta) ((cta) << 16)
#define PPU_CTA_WORK_TASKS 0x7fffu   /* bits that count tasks */
#define PPU_CTA_WORK_ENTRIES 0x8000u /* threads wait for entries of a work queue (C4); the firmware clears it */
#define PPU_CTA_WORK_ANY (PPU_CTA_WORK_TASKS | PPU_CTA_WORK_ENTRIES) /* 0: nothing that the CTA may wait for */

#define PPU_STREAM_NONE 0xffffffffu

#endif
