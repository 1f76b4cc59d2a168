/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps how much of a program each warp executes once when it begins. */
#ifndef QEMU_DEVICE_CORE_SM_STRAIGHT_H
#define QEMU_DEVICE_CORE_SM_STRAIGHT_H

#include <stdbool.h>
#include <stdint.h>

struct dist_task;
struct ppu_insn;
struct sm;

/* Instructions that follow one another. Branches forward may leave some of them out. */
struct program_straight {
    uint32_t first; /* how many instructions behind the entry they begin */
    uint32_t insns; /* 0: too few to be worth a translation */
    bool ends;      /* the last ends every warp that comes to it */
};

/*
 * Finds them, as far as they have been decoded: the whole program from its entry on; or what is behind the `prologue`
 * instructions of its prologue, up to the first loop.
 */
struct program_straight decode_straight(const struct sm *sm, const struct dist_task *task, uint32_t prologue);
/* Where a branch back from the instruction at `pc` leads to, modulo 2^32; UINT32_MAX: it is none. */
uint32_t straight_target_back(const struct ppu_insn *insn, uint32_t pc);

#endif
