/* SPDX-License-Identifier: MIT */
/* Counts events since start, which QUERY reads under the same key (key.def). */
#ifndef FIRMWARE_STATS_H
#define FIRMWARE_STATS_H

#include <stdint.h>

#include "ppu/admin.h"

#define STATS_KEYS (PPU_KEY_RECENTRED + 1u)

extern uint64_t stats[STATS_KEYS];

void stats_init(void);

static inline void stats_count(enum ppu_key key)
{
    stats[key]++;
}

#endif
