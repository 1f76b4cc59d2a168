/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says what the kit's function that finds rows is asked, and what it answers. */
#ifndef QEMU_DEVICE_TIER_PLACE_H
#define QEMU_DEVICE_TIER_PLACE_H

#include <stdint.h>

#define KIT_ROW_STORE 1u
#define KIT_ROW_INDEXED 2u
#define KIT_ROW_OFFSETS 4u /* lanes have offsets */

/* Where a row is: host, step and lines of struct tier_row. */
struct kit_place {
    uint8_t *host;
    uint64_t step;
    uint64_t lines;
};

#endif
