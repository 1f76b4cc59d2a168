/* SPDX-License-Identifier: MIT */
#include "firmware/doorbell.h"

#include "firmware/channel.h"
#include "firmware/commands.h"
#include "firmware/hal.h"
#include "firmware/stats.h"

/* A later write of GP_PUT rings again, as the channel reads it after this. */
static void take_doorbell(uint32_t index)
{
    hal_write(PPU_REG_DB_TAKE, index);
    struct channel *channel = channel_at(index);
    if (channel) {
        stats_count(PPU_KEY_DOORBELLS);
        channel_ring(channel);
        commands_sem_released();
    }
}

bool doorbell_events(uint32_t most)
{
    for (uint32_t i = 0; i < most; i++) {
        uint32_t index = hal_read(PPU_REG_DB_NEXT);
        if (index == PPU_DB_NONE) {
            return false;
        }
        take_doorbell(index);
    }
    return true;
}
