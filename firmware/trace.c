/* SPDX-License-Identifier: MIT */
#include "firmware/trace.h"

#include <stddef.h>

#include "firmware/layout.h"
#include "firmware/shared.h"

static struct {
    struct ppu_trace_record *records; /* behind the head of the ring */
    uint32_t written;
} recorder;

void trace_init(void)
{
    struct ppu_trace_ring *ring = hal_vram(layout.fw_trace);
    recorder.records = (struct ppu_trace_record *)(void *)(ring + 1);
    recorder.written = 0;
    *ring = (struct ppu_trace_ring){
        .head = { PPU_TRACE_VERSION, sizeof(struct ppu_trace_record) },
        .size = TRACE_FW_RECORDS,
    };
}

_Static_assert(offsetof(struct ppu_trace_record, size_bytes) == 1 && offsetof(struct ppu_trace_record, type) == 2 &&
                   offsetof(struct ppu_trace_record, correlation) == 4 &&
                   offsetof(struct ppu_trace_record, time_ns) == 8 && offsetof(struct ppu_trace_record, id) == 16 &&
                   offsetof(struct ppu_trace_record, sequence) == 28,
               "trace_write() puts the fields at their places");

/* Readers look at records without asking: each word is stored whole. */
static inline void put_word(struct ppu_trace_record *record, uint32_t index, uint32_t word)
{
    __atomic_store_n(&((uint32_t *)(void *)record)[index], word, __ATOMIC_RELAXED);
}

/* Never inline: tools that count instructions know a record by this function (tools/mcu/ppu-mcu.c). */
__attribute__((noinline)) void trace_write(enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1,
                                           uint32_t id2)
{
    const uint32_t number = recorder.written++;
    struct ppu_trace_ring *ring = (struct ppu_trace_ring *)(void *)recorder.records - 1;
    struct ppu_trace_record *to = &recorder.records[number % TRACE_FW_RECORDS];
    shared_publish(&to->sequence, PPU_TRACE_TORN(number));
    shared_fence(); /* a reader that sees a new word sees the torn sequence too */
    put_word(to, 0, PPU_TRACE_VERSION | (uint32_t)sizeof(*to) << 8 | (uint32_t)type << 16);
    put_word(to, 1, correlation);
    put_word(to, 4, id0);
    put_word(to, 5, id1);
    put_word(to, 6, id2);
    const uint64_t time_ns = hal_time();
    put_word(to, 2, (uint32_t)time_ns);
    put_word(to, 3, (uint32_t)(time_ns >> 32));
    shared_publish(&to->sequence, number);
    shared_publish(&ring->tail, number + 1);
}
