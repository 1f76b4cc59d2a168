/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decodes the TMD copy of a slot and describes what runs in it. */
#ifndef QEMU_DEVICE_CORE_DIST_TASK_H
#define QEMU_DEVICE_CORE_DIST_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/tmd.h"

struct core;

/* Says which of a task's CTAs are wide: all their registers are private (D8). */
enum dist_width {
    DIST_NARROW = 0,
    DIST_WIDE = 1,
    DIST_EITHER = 2, /* the control unit of its SM chooses for each CTA that begins */
};

/* Describes what runs in a slot, decoded and checked from its TMD copy. It is constant while the slot is busy. */
struct dist_task {
    uint32_t slot;
    uint64_t start;   /* one more than that of the task that started before it */
    uint32_t tmd_off; /* VRAM offset of the TMD copy */
    struct ppu_tmd tmd;
    uint32_t cta_threads; /* of one that is whole; so are what it takes of an SM, and its backing */
    bool ragged;          /* some CTA is not */
    uint32_t cta_warps;   /* of tmd.wave threads */
    uint32_t cta_passes;  /* warps in passes of 32 lanes, as SM_WARPS counts */
    enum dist_width width;
    uint32_t warp_vregs[2];  /* 32-bit registers over all lanes; of what has two, that of wide CTAs is the second */
    uint32_t cta_vregs[2];   /* the same of all warps, as SM_VREGS counts */
    uint32_t token_cap;      /* entries of a warp's token queue */
    uint32_t cta_tokens;     /* bytes of the queues of all warps */
    uint32_t cta_chunks[2];  /* that its state fits in (PPU_SWITCH_CHUNK) */
    uint32_t local_backings; /* CTAs whose local memory fits tmd.local_size; UINT32_MAX without local memory */
    const uint8_t *params;   /* in VRAM, tmd.param_bytes */
};

/* Decodes and checks a TMD copy for this machine; 0 or the fault.def code of what is wrong. `total`: CTAs. */
uint16_t dist_task_decode(struct core *core, struct dist_task *task, uint64_t *total);
/* True when a CTA of the task can be so. */
bool dist_task_has(const struct dist_task *task, bool wide);
/* A grid counts x fastest; the CTAs of a queue task stand in a row. */
void dist_cta_id(const struct ppu_tmd *tmd, uint64_t number, uint32_t id[3]);
/* Backings of local memory that a slot can use at once. */
uint32_t dist_local_limit(const struct core *core, const struct dist_task *task);
/* 0, or the fault code of a TMD copy that the device cannot read or write there. */
uint16_t dist_task_copy_check(const struct core *core, uint32_t tmd_off);

#endif
