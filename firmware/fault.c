/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <string.h>

#include "hal.h"
#include "layout.h"
#include "ppu/regs.h"
#include "shared.h"
#include "stats.h"
#include "trace.h"
#include "vector.h"

static struct ppu_error_ring *ring;
static uint32_t tail;

void fault_init(void)
{
    ring = hal_vram(layout.error_ring);
    memset(ring, 0, sizeof(*ring));
    tail = 0;
}

void fault_report(struct ppu_error_record *record)
{
    record->head = (struct ppu_struct_header){ 1, sizeof(*record) };
    record->time_ns = hal_time();
    /* The head is the host's: whatever it says, an entry is written inside the ring or counted as lost. */
    if (tail - shared_read(&ring->head) < PPU_ERROR_RING_ENTRIES) {
        ring->entry[tail % PPU_ERROR_RING_ENTRIES] = *record;
        shared_publish(&ring->tail, ++tail);
    } else {
        shared_add(&ring->lost, 1);
    }
    stats_count(PPU_KEY_FAULTS);
    trace_write(PPU_TRACE_FAULT, record->correlation, record->code, record->channel, (uint32_t)record->address);
    vector_raise(PPU_VECTOR_ERROR, record->channel, record->correlation);
}
