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

#define KIT_MOST_WORDS 4u /* of a lane's load or store */

/* Lanes of a pass that load or store: lane i at base + the offset that its words make. */
struct kit_lanes {
    uint64_t base;
    uint32_t low[PPU_LANES], high[PPU_LANES]; /* high: 0 unless addresses have two words */
    uint32_t set;
    uint32_t bytes;   /* of a lane */
    uint32_t indexed; /* low words are indexes */
    uint32_t lines;   /* transactions: made by the kit */
};

/* What a pass stores when its unit has come to its end. */
struct kit_store {
    uint8_t *host[PPU_LANES]; /* of each lane, or of the first of each chunk when they lie in rows */
    uint32_t value[KIT_MOST_WORDS][PPU_LANES];
    uint32_t set;
    uint32_t in_rows;
};

#endif
