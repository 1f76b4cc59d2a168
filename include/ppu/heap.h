/* SPDX-License-Identifier: MIT */
/*
 * Defines the heap of an address space's threads (B14). The driver provides the memory and writes the head once. The
 * device library (device-lib/asm/heap.s) takes pieces and gives them back. The bytes of a piece are a power of two, its
 * class. The first 16 of them belong to the heap. Free pieces of a class are a list. Pieces keep their class until the
 * driver joins free ones that touch (ppu_context_join_heap), while no thread can take any.
 */
#ifndef PPU_HEAP_H
#define PPU_HEAP_H

#include "ppu/base.h"

#define PPU_HEAP_VERSION 2u
#define PPU_HEAP_MIN_CLASS 5u
#define PPU_HEAP_CLASSES 32u
#define PPU_HEAP_MAX_BYTES (1u << 31)
/* A thread looks so often for a piece while others have some in their hands; then one of those is taken for dead. */
#define PPU_HEAP_LOOKS 4096u

struct ppu_heap {
    struct ppu_struct_header head; /* PPU_HEAP_VERSION, sizeof(struct ppu_heap) */
    uint32_t bytes;                /* this structure included */
    uint32_t reserved0[14];
    /* Threads write the rest. */
    uint32_t used; /* bytes that are or were in pieces, this structure included */
    /* Threads that have begun to halve a piece, and those of them that have ended. The same number before and behind a
     * look at the lists: no thread had pieces in its hands meanwhile. */
    uint32_t begun;
    uint32_t ended;
    uint32_t reserved1[13];
    /* 64 bits at once: offset of the first free piece of the class, 0 none; in the upper half a count of
     * changes, so that a piece that went and came back is not taken for the same list. */
    uint64_t free[PPU_HEAP_CLASSES];
};
PPU_ASSERT_SIZE(struct ppu_heap, 384);
PPU_ASSERT_OFFSET(struct ppu_heap, used, 64);
PPU_ASSERT_OFFSET(struct ppu_heap, free, 128);

/* Begin of a piece. */
struct ppu_heap_piece {
    uint32_t next;     /* free: offset of the next one, 0 none */
    uint32_t in_class; /* its bytes are 2 to the power of this */
    uint32_t reserved[2];
};
PPU_ASSERT_SIZE(struct ppu_heap_piece, 16);

#endif
