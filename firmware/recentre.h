/* SPDX-License-Identifier: MIT */
/*
 * Moves token queues that have come to an end of their space back to the middle (E7), when the policy TOKEN_HANDLER
 * leaves it to the firmware. The warp waits meanwhile.
 */
#ifndef FIRMWARE_RECENTRE_H
#define FIRMWARE_RECENTRE_H

#include "firmware/ring.h"

/* An entry of PPU_RING_TOKEN. */
void recentre_token_event(const union ring_entry *entry);

#endif
