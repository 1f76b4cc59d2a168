/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include "hal.h"
#include "layout.h"
#include "log.h"
#include "shared.h"
#include "words.h"

struct ring {
    struct ppu_ring_header *header;
    const uint8_t *entries;
    uint32_t size; /* a power of two */
    uint32_t head; /* our own copy: the word in VRAM is only told to the device */
};

static struct ring rings[PPU_RING_COUNT];

void ring_init(void)
{
    for (uint32_t i = 0; i < PPU_RING_COUNT; i++) {
        uint8_t *memory = hal_vram(layout.ring[i]);
        rings[i] = (struct ring){
            .header = (struct ppu_ring_header *)(void *)memory,
            .entries = memory + sizeof(struct ppu_ring_header),
            .size = layout.ring_entries[i],
        };
    }
}

/* Somebody wrote over the ring's words: what was in there cannot be known. */
static void ring_resynchronise(struct ring *ring, enum ppu_ring_id id, uint32_t tail)
{
    log_print("ring %u: tail %#x is beyond head %#x + size; entries lost\n", (unsigned)id, (unsigned)tail,
              (unsigned)ring->head);
    ring->head = tail;
    shared_publish(&ring->header->head, tail);
}

bool ring_take(enum ppu_ring_id id, void *entry)
{
    struct ring *ring = &rings[id];
    uint32_t tail = shared_read(&ring->header->tail);
    if (tail == ring->head) {
        return false;
    }
    if (tail - ring->head > ring->size) {
        ring_resynchronise(ring, id, tail);
        return false;
    }
    words_copy(entry, ring->entries + (ring->head & (ring->size - 1)) * PPU_RING_ENTRY_BYTES, PPU_RING_ENTRY_BYTES);
    shared_publish(&ring->header->head, ++ring->head);
    /* Before the next look at tail: the device raises no interrupt for an entry it adds to a ring that is not empty. */
    shared_fence();
    return true;
}
