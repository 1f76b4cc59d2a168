/* SPDX-License-Identifier: MIT */
#include "firmware/stats.h"

#include <string.h>

uint64_t stats[STATS_KEYS];

void stats_init(void)
{
    memset(stats, 0, sizeof(stats));
}
