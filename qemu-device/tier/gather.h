/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says how the lanes of a pass are looked for in memory, and loads them. */
#ifndef QEMU_DEVICE_TIER_GATHER_H
#define QEMU_DEVICE_TIER_GATHER_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "qemu-device/tier/place.h"
#include "qemu-device/tier/writer.h"

#define GATHER_GROUPS (PPU_LANES / TIER_CHUNK) /* of a pass, whose transactions are counted together */

/* What is known of the offsets of a pass: kit_offsets_kind() has said so, and no lane has joined the set since. */
struct gather_known {
    LLVMValueRef kind;                 /* i32: enum kit_offsets; NULL: nothing is known */
    LLVMValueRef start[GATHER_GROUPS]; /* i32: of each group, in bytes, as its first lane would have it */
};

/* An access to memory by the lanes of a pass. gather_of() fills in what follows from the instruction. */
struct gather {
    struct writer *t;
    const struct ppu_insn *insn;
    uint32_t n, bytes, align, words;   /* bytes and words of a lane */
    LLVMValueRef shared, shared_bytes; /* shared memory of the CTA, i32; NULL: the access is to global memory */
    LLVMValueRef page;                 /* else: struct page, in which the instruction has found bytes last */
    LLVMValueRef request, values;      /* variables: struct kit_lanes, and what it gives */
    LLVMValueRef base;                 /* i64: what all lanes have */
    LLVMValueRef low[GATHER_GROUPS];   /* what is added to it */
    LLVMValueRef high[GATHER_GROUPS];  /* upper halves of that; NULL: there are none */
    LLVMValueRef set[GATHER_GROUPS];   /* lanes that access, as a mask */
    struct gather_known known;
    /* Goes on when `stops`, i1, does not hold, else ends what is written, before instruction n. */
    void (*unless)(void *owner, LLVMValueRef stops, uint32_t n);
    void *owner;
};

/*
 * A page, or shared memory, as lanes are looked for there: one with the offset `low` has its bytes at near + (low +
 * more), when that sum of 32 bits is at most `limit`.
 */
struct gather_window {
    LLVMValueRef base; /* i64: what offsets are added to */
    LLVMValueRef near, more, limit;
    LLVMValueRef wrong; /* i1: it has none */
};

/* A group of TIER_CHUNK lanes. */
struct gather_group {
    struct gather_window window;
    LLVMValueRef set;        /* lanes that access */
    LLVMValueRef sum;        /* of each lane */
    LLVMValueRef wrong;      /* i1: some lane is not in the window */
    LLVMValueRef first;      /* i32: the number of the first lane of the set */
    LLVMValueRef head;       /* i32: its sum */
    LLVMValueRef row, alike; /* i1: lanes of the set follow one another, or are at one place */
    LLVMValueRef start;      /* i32: where the group's first lane is, or would be in that row */
    LLVMValueRef in_row;     /* i1: the whole row is in the window */
};

struct gather_pass {
    struct gather_group group[GATHER_GROUPS];
    LLVMValueRef words[GATHER_GROUPS][KIT_MOST_WORDS];
    LLVMValueRef lines; /* i32: transactions */
};

struct gather gather_of(struct writer *t, uint32_t n);
/* The window of lanes that have no upper halves. */
struct gather_window gather_window(const struct gather *a, LLVMValueRef base);
/* Looks where the lanes are; i1: some are not in their window. `window`: that of `base`. */
LLVMValueRef gather_look(const struct gather *a, const struct gather_window *window, struct gather_pass *p);
/*
 * Says of groups in shared memory which are rows there, in_row. Lanes of others may be anywhere, and gather_look() says
 * whether they are there.
 */
void gather_look_for_rows(const struct gather *a, const struct gather_window *window, struct gather_pass *p);
/* Says whether the groups are rows, or at one place, when all lanes are in their windows. */
void gather_look_for_patterns(const struct gather *a, struct gather_pass *p);
/* Loads them. */
void gather_load(const struct gather *a, const struct gather_window *window, struct gather_pass *p);

#endif
