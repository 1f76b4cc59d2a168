/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps the CTAs that have ended on an SM and have not been reported yet. */
#ifndef QEMU_DEVICE_CORE_DIST_ENDS_H
#define QEMU_DEVICE_CORE_DIST_ENDS_H

#include <stdint.h>

#include "ppu/counter.h"
#include "qemu-device/core/dist/cta.h"

/* CTAs that have ended on an SM, and what was counted for each. */
#define DIST_ENDS 32u

struct dist_ends {
    uint32_t held;
    struct dist_cta cta[DIST_ENDS];
    uint64_t count[DIST_ENDS][PPU_COUNTERS];
};

#endif
