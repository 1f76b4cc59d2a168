/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Describes one warp while it is executed. */
#ifndef QEMU_DEVICE_CORE_SM_EXEC_H
#define QEMU_DEVICE_CORE_SM_EXEC_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu-device/core/sm/prologue.h"

struct code_insn;
struct core;
struct dist_task;
struct sm;
struct sm_cta;
struct tlb_found;
struct warp;

/* One warp being executed. What is the task's stays for its next warp. */
struct exec {
    struct core *core;
    struct sm *sm;
    struct sm_cta *cta;
    struct warp *w;
    const struct dist_task *task;
    uint64_t start; /* dist_task.start of the task that this was made for; 0: of none */
    uint32_t index; /* of the warp on the SM */
    uint32_t wave;
    uint32_t passes;
    uint32_t stride;   /* words from the registers of a warp to those of the next */
    uint32_t vregs;    /* of a lane, with those that parts share now, or would in sub-vector mode */
    uint32_t plain;    /* instructions that name no register from here on need not be looked at: vregs, or 0 for none */
    uint64_t whole[2]; /* struct lanes of all lanes of the wave */
    uint64_t tlb_key;  /* what tags have beside the address */
    uint8_t *vram;
    uint32_t *vreg; /* private registers [register][lane], then shared ones [register][lane of a part] */
    const uint32_t
        *rows; /* where in there each register's begin; a shared one's is as far before as its part is behind */
    uint8_t *shared;
    const struct code_insn *code;
    bool looped;                /* the warp has jumped back in this turn */
    uint32_t steady;            /* bit n: vector register n of lane i is that of lane 0 + i * step[n] */
    uint32_t step[EXEC_STEADY]; /* of registers that are steady */
    struct tlb_found *found;
    uint32_t lanes;   /* active, when count_begin() or count_turn() looked last */
    uint32_t counted; /* instructions of this turn that LANES has */
};

#endif
