/* SPDX-License-Identifier: MIT */
#include "trace.h"

#include "layout.h"
#include "shared.h"

static struct ppu_trace_ring *ring;
static struct ppu_trace_record *records;
static uint32_t written;

void trace_init(void)
{
    ring = hal_vram(layout.fw_trace);
    records = (struct ppu_trace_record *)(void *)(ring + 1);
    written = 0;
    *ring = (struct ppu_trace_ring){
        .head = { PPU_TRACE_VERSION, sizeof(struct ppu_trace_record) },
        .size = TRACE_FW_RECORDS,
    };
}

void trace_write(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1, uint32_t id2)
{
    struct ppu_trace_record *record = &records[written % TRACE_FW_RECORDS];
    record->version = PPU_TRACE_VERSION;
    record->size_bytes = sizeof(*record);
    record->type = (uint16_t)type;
    record->correlation = correlation;
    record->time_ns = hal_time();
    record->id[0] = id0;
    record->id[1] = id1;
    record->id[2] = id2;
    shared_publish(&record->sequence, written);
    shared_publish(&ring->tail, ++written);
}
