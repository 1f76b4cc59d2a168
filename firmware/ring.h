/* SPDX-License-Identifier: MIT */
/* The firmware's side of the event rings (ppu/ring.h). */
#ifndef FW_RING_H
#define FW_RING_H

#include <stdbool.h>

#include "ppu/ring.h"

/* Needs layout. */
void ring_init(void);

/* Copies the oldest entry (PPU_RING_ENTRY_BYTES) and gives its place back. False: the ring is empty. */
bool ring_take(enum ppu_ring_id id, void *entry);

#endif
