/* SPDX-License-Identifier: MIT */
#include "firmware/doorbell.h"

#include "firmware/channel.h"
#include "firmware/hal.h"
#include "firmware/stats.h"

static uint32_t next; /* channel to look at first, so that those with low numbers cannot starve the others */

void doorbell_init(void)
{
    next = 0;
}

/* Lowest bit set at `from` or above, else lowest of all; bits is not 0. */
static uint32_t first_from(uint32_t bits, uint32_t from)
{
    uint32_t above = bits & (UINT32_MAX << from);
    return (uint32_t)__builtin_ctz(above ? above : bits);
}

/* Next channel in a circle whose bit is set; false: none is. */
static bool find_rung_channel(uint32_t *channel)
{
    uint32_t summary = hal_read(PPU_REG_DB_SUMMARY);
    uint32_t start = next / 32;
    uint32_t from = next % 32;
    if (summary & (1u << start)) {
        uint32_t pending = hal_read(PPU_REG_DB_PENDING + 4 * start) & (UINT32_MAX << from);
        if (pending) {
            *channel = 32 * start + (uint32_t)__builtin_ctz(pending);
            return true;
        }
    }
    if (!summary) {
        return false;
    }
    uint32_t word = first_from(summary, (start + 1) % 32);
    uint32_t pending = hal_read(PPU_REG_DB_PENDING + 4 * word);
    if (!pending) {
        return false;
    }
    *channel = 32 * word + (uint32_t)__builtin_ctz(pending);
    return true;
}

/* The bit is cleared before the channel reads GP_PUT: a later write of GP_PUT sets it again. */
static void take_doorbell(uint32_t index)
{
    hal_write(PPU_REG_DB_PENDING + 4 * (index / 32), 1u << index % 32);
    next = (index + 1) % PPU_MAX_CHANNELS;
    struct channel *channel = channel_at(index);
    if (channel) {
        stats_count(PPU_KEY_DOORBELLS);
        channel_ring(channel);
    }
}

bool doorbell_events(uint32_t most)
{
    uint32_t index;
    for (uint32_t i = 0; i < most; i++) {
        if (!find_rung_channel(&index)) {
            return false;
        }
        take_doorbell(index);
    }
    return true;
}
