/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds up what is counted for CTAs. */
#ifndef QEMU_DEVICE_CORE_DIST_COUNTS_H
#define QEMU_DEVICE_CORE_DIST_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/counter.h"

/* Adds what was counted for a CTA; `caches`: those counters, too. */
static inline void counts_add(uint64_t sum[PPU_COUNTERS], const uint64_t count[PPU_COUNTERS], bool caches)
{
    for (uint32_t i = 0; i < PPU_COUNTERS_ALWAYS; i++) {
        sum[i] += count[i];
    }
    for (uint32_t i = PPU_COUNTERS_ALWAYS; caches && i < PPU_COUNTERS; i++) {
        sum[i] += count[i];
    }
}

#endif
