/* SPDX-License-Identifier: MIT */
/* Consumes the event rings (ppu/ring.h). */
#ifndef FIRMWARE_RING_H
#define FIRMWARE_RING_H

#include <stdbool.h>

#include "firmware/shared.h"
#include "ppu/ring.h"

union ring_entry {
    struct ppu_start_event start;
    struct ppu_slot_event slot;
    struct ppu_fault_event fault;
    struct ppu_copy_event copy;
    struct ppu_touch_event touch;
    struct ppu_token_event token;
};
_Static_assert(sizeof(union ring_entry) == PPU_RING_ENTRY_BYTES, "entries of all rings have one size");

struct ring {
    struct ppu_ring_header *header;
    const union ring_entry *entries;
    uint32_t size; /* a power of two */
    uint32_t head; /* our own copy: the word in VRAM is only told to the device */
};

extern struct ring rings[PPU_RING_COUNT];

/* Needs layout. */
void ring_init(void);

/* Copies the oldest entry and gives its place back. False: the words of the ring were written over. */
bool ring_pop(struct ring *ring, uint32_t tail, union ring_entry *entry);

/* The same; false: the ring is empty. Most are, at most times. */
static inline bool ring_take(enum ppu_ring_id id, union ring_entry *entry)
{
    uint32_t tail = shared_read(&rings[id].header->tail);
    return tail != rings[id].head && ring_pop(&rings[id], tail, entry);
}

#endif
