/* SPDX-License-Identifier: MIT */
#include "firmware/trace.h"

#include <stddef.h>

#include "firmware/layout.h"
#include "firmware/shared.h"

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

/* Readers look at records without asking: each word is stored whole. */
static void store(uint32_t *to, const struct ppu_trace_record *record)
{
    const uint32_t *from = (const uint32_t *)(const void *)record;
#pragma GCC unroll 8
    for (uint32_t i = 0; i < offsetof(struct ppu_trace_record, sequence) / sizeof(*from); i++) {
        __atomic_store_n(&to[i], from[i], __ATOMIC_RELAXED);
    }
}

void trace_write(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1, uint32_t id2)
{
    const uint32_t number = written++;
    struct ppu_trace_record *to = &records[number % TRACE_FW_RECORDS];
    const struct ppu_trace_record record = {
        .version = PPU_TRACE_VERSION,
        .size_bytes = sizeof(record),
        .type = (uint16_t)type,
        .correlation = correlation,
        .time_ns = hal_time(),
        .id = { id0, id1, id2 },
    };
    shared_publish(&to->sequence, PPU_TRACE_TORN(number));
    shared_fence(); /* a reader that sees a new word sees the torn sequence too */
    store((uint32_t *)(void *)to, &record);
    shared_publish(&to->sequence, number);
    shared_publish(&ring->tail, number + 1);
}
