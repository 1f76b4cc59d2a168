/* SPDX-License-Identifier: MIT */
#include "firmware/recentre.h"

#include "firmware/hal.h"
#include "firmware/stats.h"
#include "ppu/regs.h"
#include "ppu/token.h"

void recentre_token_event(const union ring_entry *entry)
{
    const struct ppu_token_event *event = &entry->token;
    const uint32_t first = ppu_token_middle(event->entries, event->count, event->front);

    hal_write(PPU_REG_TOKEN_MOVE, PPU_TOKEN_MOVE(event->sm, event->warp, first));
    stats_count(PPU_KEY_RECENTRED);
}
