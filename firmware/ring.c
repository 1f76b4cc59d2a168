/* SPDX-License-Identifier: MIT */
#include "firmware/ring.h"

#include "firmware/hal.h"
#include "firmware/layout.h"
#include "firmware/log.h"
#include "firmware/words.h"

struct ring rings[PPU_RING_COUNT];

void ring_init(void)
{
    for (uint32_t i = 0; i < PPU_RING_COUNT; i++) {
        struct ppu_ring_header *header = hal_vram(layout.ring[i]);
        rings[i] = (struct ring){
            .header = header,
            .entries = (const union ring_entry *)(const void *)(header + 1),
            .size = layout.ring_entries[i],
        };
    }
}

/* Somebody wrote over the ring's words: what was in there cannot be known. */
static void ring_resynchronise(struct ring *ring, uint32_t tail)
{
    log_print("ring %u: tail %#x is beyond head %#x + size; entries lost\n", (unsigned)(ring - rings), (unsigned)tail,
              (unsigned)ring->head);
    ring->head = tail;
    shared_publish(&ring->header->head, tail);
}

bool ring_pop(struct ring *ring, uint32_t tail, union ring_entry *entry)
{
    if (tail - ring->head > ring->size) {
        ring_resynchronise(ring, tail);
        return false;
    }
    words_copy(entry, &ring->entries[ring->head & (ring->size - 1)], sizeof(*entry));
    shared_publish(&ring->header->head, ++ring->head);
    /* Before the next look at tail: the device raises no interrupt for an entry it adds to a ring that is not empty. */
    shared_fence();
    return true;
}
