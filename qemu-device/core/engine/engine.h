/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declares what an SM calls of the engine. No other header of this folder but levels.h is the SM's. */
#ifndef QEMU_DEVICE_CORE_ENGINE_ENGINE_H
#define QEMU_DEVICE_CORE_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

struct code_insn;
struct dist_task;
struct exec;
struct ppu_insn;
struct sm;
struct sm_cta;
struct tier_translation;
struct warp;

/* Runs a ready warp for at most `budget` instructions; returns how many it executed. */
uint32_t engine_run(struct sm *sm, uint32_t index, uint32_t budget);
/*
 * Programs that are one translation from begin to end (struct tier_translation.ends) need no registers: warp `index` is
 * lent for each of their warps in turn. False: the program of its task is none.
 */
struct engine_whole {
    const struct code_insn *code;
    const struct tier_translation *translation;
};
bool engine_whole_begin(struct sm *sm, uint32_t index, struct engine_whole *whole);
/*
 * The warp is one of its CTA after the other, each of which does all of its program; adds their instructions to *done.
 * Returns how many warps have ended; of the next nothing was done.
 */
uint32_t engine_whole_run(struct sm *sm, const struct engine_whole *whole, uint32_t *done);
/* What engine_step() executed: its number and the lanes that were active. */
struct engine_stepped {
    uint32_t pc;
    uint32_t lanes;
};
/* As engine_run() of one instruction. */
uint32_t engine_step(struct sm *sm, uint32_t index, struct engine_stepped *stepped);
/* The main loop has answered: finishes the access, without going on. */
void engine_settle(struct sm *sm, uint32_t index);

/* True: the instruction may access memory through the caches. */
bool engine_mem_cached(const struct ppu_insn *insn);
uint64_t engine_rmw(uint8_t *host, uint32_t aop, uint32_t bytes, uint64_t value, uint64_t compare);

void engine_barrier_open(struct sm *sm, struct sm_cta *cta);

void subvector_init(struct sm *sm);
/* A warp of the task starts: in sub-vector mode, if the task says so (D6). */
void subvector_start(struct warp *w, const struct dist_task *task);
/* Registers as the warp's mode has them. */
void subvector_rows(struct exec *x);

#endif
