/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says what the kit's function that finds rows is asked, and what it answers. */
#ifndef QEMU_DEVICE_TIER_PLACE_H
#define QEMU_DEVICE_TIER_PLACE_H

#include <stdint.h>

#include "ppu/limits.h"

#define KIT_ROW_STORE 1u
#define KIT_ROW_INDEXED 2u
#define KIT_ROW_OFFSETS 4u /* lanes have offsets */

/* Where a row is: host, step and lines of struct tier_row. */
struct kit_place {
    uint8_t *host;
    uint64_t step;
    uint64_t lines;
};

#define KIT_MOST_BEHIND 0x7fffff00u /* bytes of an offset, or from the begin of a window: no negative numbers */

#define KIT_MOST_WORDS 4u /* of a lane's load or store */
#define KIT_ALIGN 64u     /* bytes of a line of the host, which a register of 16 lanes fills */

/* Lanes of a pass that load or store: lane i at base + the offset that its words make. */
struct kit_lanes {
    uint64_t base;
    uint32_t low[PPU_LANES], high[PPU_LANES]; /* high: 0 unless addresses have two words */
    uint32_t set;
    uint32_t bytes;   /* of a lane */
    uint32_t indexed; /* low words are indexes */
    uint32_t lines;   /* transactions: made by the kit */
};

/* How the offsets lie that the active lanes of a pass have in a register. */
enum kit_offsets {
    KIT_OFFSETS_ANY,
    KIT_OFFSETS_ROWS,  /* in each chunk they follow one another */
    KIT_OFFSETS_ALIKE, /* all are one */
};

#define KIT_NO_UPPER UINT64_MAX

/* Offsets at which a load of one lane finds its bytes without the kit: from the first on, so many. */
struct kit_window {
    uint64_t first, limit; /* limit: 0 when there is no window yet */
    uint64_t host;         /* where the bytes of the offset 0 would be on the host */
    uint64_t upper;        /* the upper half of all offsets; KIT_NO_UPPER: there was none yet */
};

#define KIT_APART_NONE UINT32_MAX

/* What the lanes of a pass have loaded by one instruction, in one turn of the loop after the other. */
struct kit_apart {
    const uint32_t *word; /* each lane's, of the first turn: its index, or the lower half of its offset; KIT_APART_NONE:
                           * it had not the guard */
    uint64_t turn_words;  /* from there to those of the next turn */
    const uint32_t *done; /* instructions that each lane has executed in the round; 0: none */
    uint64_t base;        /* what is added to those words, or to the bytes of those indexes */
    uint32_t turns, insns; /* of the loop, and in each */
    uint32_t number;       /* of the instruction in the loop */
    uint32_t bytes;        /* of a lane */
    uint32_t indexed, guarded;
};

/* What a pass stores when its unit has come to its end. */
struct kit_store {
    union { /* a line of the host's cache begins here */
        /* They say where each lane stores, or the first of each chunk when they lie in rows. */
        _Alignas(KIT_ALIGN) uint8_t *host[PPU_LANES];
        /* They say so from the begin of shared memory, where the host stores lanes wherever they lie. */
        uint32_t distance[PPU_LANES];
    };
    uint32_t value[KIT_MOST_WORDS][PPU_LANES];
    uint32_t set;
    uint32_t in_rows;
};

#endif
