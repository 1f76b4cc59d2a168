/* SPDX-License-Identifier: MIT */
#include "firmware/fault.h"

#include <string.h>

#include "firmware/hal.h"
#include "firmware/layout.h"
#include "firmware/quota.h"
#include "firmware/shared.h"
#include "firmware/stats.h"
#include "firmware/trace.h"
#include "firmware/vector.h"
#include "ppu/limits.h"
#include "ppu/regs.h"

static struct ppu_error_ring *ring;
static uint32_t tail;
static uint32_t counted; /* entries before it have been read, and count for nobody */
static uint16_t owner[PPU_ERROR_RING_ENTRIES];

void fault_init(void)
{
    ring = hal_vram(layout.error_ring);
    memset(ring, 0, sizeof(*ring));
    tail = 0;
    counted = 0;
    quota_total(PPU_RESOURCE_ERRORS, PPU_ERROR_RING_ENTRIES);
}

/* The head is the host's: one that cannot be counts as if nothing had been read. */
static void count_read(void)
{
    uint32_t read = shared_read(&ring->head) - counted;
    if (read > tail - counted) {
        return;
    }
    for (; read != 0; read--) {
        quota_give(PPU_RESOURCE_ERRORS, owner[counted++ % PPU_ERROR_RING_ENTRIES]);
    }
}

/* A flood of one address space loses its own records, and no other's. */
static bool has_record_room(uint32_t context)
{
    count_read();
    return quota_take(PPU_RESOURCE_ERRORS, context);
}

void fault_report(struct ppu_error_record *record)
{
    record->head = (struct ppu_struct_header){ 1, sizeof(*record) };
    record->time_ns = hal_time();
    uint32_t context = record->context < PPU_MAX_CONTEXTS ? record->context : 0;
    if (has_record_room(context)) {
        owner[tail % PPU_ERROR_RING_ENTRIES] = (uint16_t)context;
        ring->entry[tail % PPU_ERROR_RING_ENTRIES] = *record;
        shared_publish(&ring->tail, ++tail);
    } else {
        shared_add(&ring->lost, 1);
    }
    stats_count(PPU_KEY_FAULTS);
    trace_write(PPU_TRACE_FAULT, record->correlation, record->code, record->channel, (uint32_t)record->address);
    vector_raise(PPU_VECTOR_ERROR, record->channel, record->correlation);
}
