/* SPDX-License-Identifier: MIT */
/*
 * Puts a task of another context on the SM that a hostile task runs on, whose registers, shared memory and progress
 * are what a target looks at. It counts in a register and compares its shared memory with what it wrote.
 */
#ifndef TESTS_FUZZ_NEIGHBOUR_H
#define TESTS_FUZZ_NEIGHBOUR_H

#include "ppu/image.h"
#include "tests/device-core/board.h"
#include "tools/asm/ppuasm.h"

#define NEIGHBOUR_CONTEXT 2u
#define NEIGHBOUR_SLOT 1u
#define NEIGHBOUR_VREGS 16u
#define NEIGHBOUR_WAVE 64u
#define NEIGHBOUR_AT (HEAP_AT + PPU_PAGE_2M) /* 64 KiB, its code */
#define NEIGHBOUR_MASK 0xffffff00u

struct neighbour {
    struct board *board;
    uint32_t magic; /* its words in registers and shared memory, within NEIGHBOUR_MASK */
    uint32_t shared_magic;
    uint32_t code_at; /* in its page: where another's code makes the SM forget it, or not */
};

/* The text assembled, once; what is wrong with it is a finding. */
void neighbour_assembled(const char *source, struct ppuasm_image *out, struct ppu_program_view *view);
/* Instructions of the machine's only SM. */
void neighbour_run(struct board *board, uint32_t insns);

/* Its page; after machine_boot(). */
void neighbour_map(struct board *board);
void neighbour_start(const struct neighbour *victim);
/* Runs until it counts: it has all the words that it is looked at for. */
void neighbour_begin(const struct neighbour *victim);
/* What is wrong with it is a finding. Returns how far it has counted. */
uint32_t neighbour_check(const struct neighbour *victim);

#endif
