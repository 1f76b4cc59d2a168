/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what the warps of a CTA have in common when they begin. */
#ifndef QEMU_DEVICE_CORE_SM_PROLOGUE_H
#define QEMU_DEVICE_CORE_SM_PROLOGUE_H

#include <stdint.h>

#include "ppu/limits.h"

struct dist_task;
struct sm;

#define EXEC_STEADY 32u /* vector registers that may be known to be steady: the first ones */

/* Keeps what a prologue did in a CTA: see struct prologue. */
struct prologue_done {
    uint32_t warp; /* that ran it */
    uint32_t sreg[PPU_SREGS];
    uint32_t vreg[EXEC_STEADY]; /* lane 0 of registers that are steady */
};

/*
 * The first instructions of a program, as far as they do the same for every warp of a CTA but for the numbers of its
 * threads: they load parameters, look where the CTA is, and compute with that. Vector registers they write are those
 * numbers plus something that is the same for all. One warp of a CTA executes them, the others get what it got.
 */
struct prologue {
    uint32_t insns; /* 0: none that would be worth it */
    uint32_t sregs; /* scalar registers that they may have written are below */
    uint32_t vregs; /* bit n: vector register n is written */
};

/* Finds the prologue of the task's program, as far as that has been decoded. */
struct prologue decode_prologue(const struct sm *sm, const struct dist_task *task);

#endif
