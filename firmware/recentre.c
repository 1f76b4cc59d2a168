/* SPDX-License-Identifier: MIT */
#include "firmware/recentre.h"

#include "firmware/hal.h"
#include "firmware/stats.h"
#include "ppu/regs.h"

void recentre_token_event(const union ring_entry *entry)
{
    const struct ppu_token_event *event = &entry->token;
    const uint32_t left = event->entries - event->count;
    /* What is wanted in front is there, and of the rest as much in front as behind. */
    const uint32_t first = (left + event->front) / 2;

    hal_write(PPU_REG_TOKEN_MOVE, PPU_TOKEN_MOVE(event->sm, event->warp, first));
    stats_count(PPU_KEY_RECENTRED);
}
