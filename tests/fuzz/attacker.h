/* SPDX-License-Identifier: MIT */
/*
 * Attacks an SM by a task of a context of its own: memory, shape, and what happens to it while it runs come from the
 * bytes of an input. neighbour.h is the victim on the same SM.
 *
 *   DATA_VA    64 KiB of VRAM, written, with atomics
 *   CODE_VA    its code, and 64 KiB behind it a copy, both written
 *   ODD_VA     64 KiB that are one thing or another, and change
 *   SYS_VA     two pages of 4 KiB of system memory
 */
#ifndef TESTS_FUZZ_ATTACKER_H
#define TESTS_FUZZ_ATTACKER_H

#include "ppu/tmd.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/neighbour.h"

#define ATTACKER 1u           /* context; the victim's is NEIGHBOUR_CONTEXT */
#define DATA_VA 0x20000000ull /* data, the code and its copy, the odd page: 64 KiB each */
#define CODE_VA (DATA_VA + PPU_PAGE_64K)
#define ODD_VA (CODE_VA + 2u * PPU_PAGE_64K)
#define SYS_VA 0x60000000ull
#define LOCAL_VA 0x70000000ull
#define DATA_AT HEAP_AT
#define CODE_AT (DATA_AT + PPU_PAGE_64K)
#define ODD_AT (CODE_AT + 2u * PPU_PAGE_64K)
#define LOCAL_AT (ODD_AT + PPU_PAGE_64K)
#define OWN_BYTES (5u * PPU_PAGE_64K) /* all that the attacker has in VRAM */
#define SYS_OWN_BYTES (2u * PPU_PAGE_4K)
#define SAVE_AT 0x200000u /* where its CTAs are saved */
#define SAVE_BYTES 0x40000u
#define MOST_ACTIONS 64u
#define RUN_INSNS 600u

/* One input being run. */
struct attacker {
    struct fuzz_input in;
    struct board *board;
    struct ppu_tmd tmd;
    uint32_t words;  /* of its code */
    uint32_t starts; /* that are left */
    struct neighbour victim;
    bool runs, moved, ends;
};

/* The machine whose only SM the two share, for each input: as small_config, but for one SM of `vregs` words. */
struct core_config attacker_config(uint32_t vregs);
struct sm *attacker_sm(const struct attacker *attacker);
/* The machine as each input finds it. */
void attacker_board_again(struct board *board);
/* Parts of the input are the task's shape, of so many registers at least, and a word of its code. */
void attacker_make_task(struct attacker *attacker, uint32_t least_vregs);
uint64_t attacker_word(struct fuzz_input *in, const struct ppu_tmd *tmd);
uint64_t *attacker_code(const struct attacker *attacker, uint32_t copy);
/* Puts instructions that all inputs have at the begin of the code: s0 to s7 addresses, v0 to v3 numbers of threads. */
void attacker_prologue(struct attacker *attacker);
void attacker_start(struct attacker *attacker);
/* The next part of the input happens. */
void attacker_act(struct attacker *attacker);
void attacker_take_events(struct attacker *attacker);
/* Kills it; that it does not end is a finding. */
void attacker_end(struct attacker *attacker);

#endif
