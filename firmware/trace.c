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

/* A record but for its sequence, as words. */
#define RECORD_WORDS (offsetof(struct ppu_trace_record, sequence) / sizeof(uint32_t))
_Static_assert(offsetof(struct ppu_trace_record, size_bytes) == 1 && offsetof(struct ppu_trace_record, type) == 2 &&
                   offsetof(struct ppu_trace_record, correlation) == 4 &&
                   offsetof(struct ppu_trace_record, time_ns) == 8 && offsetof(struct ppu_trace_record, id) == 16 &&
                   RECORD_WORDS == 7,
               "trace_write() puts the fields at their places");

/* Readers look at records without asking: each word is stored whole. */
void trace_write(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1, uint32_t id2)
{
    const uint32_t number = written++;
    struct ppu_trace_record *to = &records[number % TRACE_FW_RECORDS];
    const uint64_t time_ns = hal_time();
    const uint32_t words[RECORD_WORDS] = {
        PPU_TRACE_VERSION | (uint32_t)sizeof(*to) << 8 | (uint32_t)type << 16,
        correlation,
        (uint32_t)time_ns,
        (uint32_t)(time_ns >> 32),
        id0,
        id1,
        id2,
    };
    shared_publish(&to->sequence, PPU_TRACE_TORN(number));
    shared_fence(); /* a reader that sees a new word sees the torn sequence too */
#pragma GCC unroll 8
    for (uint32_t i = 0; i < RECORD_WORDS; i++) {
        __atomic_store_n(&((uint32_t *)(void *)to)[i], words[i], __ATOMIC_RELAXED);
    }
    shared_publish(&to->sequence, number);
    shared_publish(&ring->tail, number + 1);
}
