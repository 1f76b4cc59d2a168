/* SPDX-License-Identifier: MIT */
#include "firmware/stats.h"

#include <string.h>

#include "firmware/hal.h"
#include "firmware/state.h"
#include "ppu/macros.h"

FW_DMA uint64_t stats[STATS_KEYS];

static const struct ppu_state_span stats_spans[] = {
    { 0, sizeof(stats[0]) },
};

const struct state_rows stats_state_rows = {
    .rows = stats,
    .most = STATS_KEYS,
    .stride = sizeof(stats[0]),
    .first = PPU_STATE_STAT_COUNT,
    .spans = PPU_ARRAY_SIZE(stats_spans),
    .span = stats_spans,
};

void stats_init(void)
{
    memset(stats, 0, sizeof(stats));
}
