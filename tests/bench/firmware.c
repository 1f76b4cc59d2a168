/* SPDX-License-Identifier: MIT */
/*
 * Instructions of the firmware between two trace marks (mark.def). QEMU counts instructions, the SMs run on the
 * virtual clock, the MCU is idle before each event: the counts are the same in every run.
 */
#include <stdio.h>

#include "bench.h"
#include "device.h"
#include "ppu/trace.h"
#include "shared.h"

#define ICOUNT_SHIFT 1u /* an instruction takes 2 ns of virtual time */
#define ROUNDS 21u

/* ---- the device's trace ring ---- */

struct ring_view {
    const struct ppu_trace_ring *ring;
    const struct ppu_trace_record *records;
};

static struct ring_view view_of(const struct bench *bench)
{
    const uint8_t *place = bench->transport->vram + bench->device->firmware.dev_trace;
    const struct ppu_trace_ring *ring = (const void *)place;

    return (struct ring_view){ ring, (const void *)(place + sizeof(*ring)) };
}

static uint32_t tail_of(const struct bench *bench)
{
    return shared_load_acquire(&view_of(bench).ring->tail);
}

/* Index of the first record of `mark` from `from` on; the tail when there is none. */
static uint32_t find_mark(const struct bench *bench, uint32_t from, uint32_t mark)
{
    const struct ring_view view = view_of(bench);
    uint32_t tail = tail_of(bench);

    while (from != tail) {
        const struct ppu_trace_record *record = &view.records[from & (view.ring->size - 1)];
        if (record->type == PPU_TRACE_MARK && record->id[0] == mark) {
            break;
        }
        from++;
    }
    return from;
}

/* MCU instructions from the first `begin` after `from` to the first `end` after that; negative: no such marks. */
static double instructions(const struct bench *bench, uint32_t from, uint32_t begin, uint32_t end)
{
    const struct ring_view view = view_of(bench);
    uint32_t first = find_mark(bench, from, begin);
    uint32_t last = find_mark(bench, first, end);

    if (last == tail_of(bench)) {
        return -1;
    }
    uint64_t ns =
        view.records[last & (view.ring->size - 1)].time_ns - view.records[first & (view.ring->size - 1)].time_ns;
    return (double)(ns >> ICOUNT_SHIFT);
}

/* ---- what is measured ---- */

static void launches(struct bench *bench, uint32_t count)
{
    const uint64_t params[] = { bench->va, bench->va + 64 };
    const struct ppu_launch launch = {
        .grid = { 1, 1, 1 }, .cta = { 1, 1, 1 }, .params = params, .param_bytes = sizeof(params)
    };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    bench_need(ppu_block_begin(bench->channel, &block), "block");
    for (uint32_t i = 0; i < count; i++) {
        ppu_block_launch(block, bench->stream, bench->kernel, &launch);
    }
    bench_need(ppu_block_submit(block, &event), "launch");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
}

static void one_launch(struct bench *bench)
{
    launches(bench, 1);
}

static void two_launches(struct bench *bench)
{
    launches(bench, 2);
}

static void acquire(struct bench *bench)
{
    struct ppu_block *block = NULL;
    struct ppu_event event;

    bench_need(ppu_block_begin(bench->channel, &block), "block");
    ppu_block_acquire(block, (ppu_va_t){ bench->va + 4096 }, 0, PPU_SEM_EQUAL);
    bench_need(ppu_block_submit(block, &event), "acquire");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
}

static const struct row {
    const char *name;
    void (*provoke)(struct bench *bench);
    uint32_t begin, end;
    double budget;
    const char *marks;
} rows[] = {
    { "fw.doorbell_to_first_cta", one_launch, PPU_MARK_DOORBELL_WRITTEN, PPU_MARK_CTA_DISTRIBUTED, 1500,
      "DOORBELL_WRITTEN to CTA_DISTRIBUTED" },
    { "fw.completion_to_next", two_launches, PPU_MARK_COMPLETION_BEGIN, PPU_MARK_SLOT_STARTED, 400,
      "COMPLETION_BEGIN to SLOT_STARTED" },
    { "fw.sem_acquire", acquire, PPU_MARK_ACQUIRE_BEGIN, PPU_MARK_ACQUIRE_PASSED, 250,
      "ACQUIRE_BEGIN to ACQUIRE_PASSED" },
};

static void measure(struct bench *bench, const struct row *row)
{
    double count[ROUNDS];
    char note[128];

    row->provoke(bench);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint32_t from = tail_of(bench);
        row->provoke(bench);
        count[i] = instructions(bench, from, row->begin, row->end);
        if (count[i] < 0) {
            fprintf(stderr, "%s: no marks\n", row->name);
        }
    }
    double median = bench_quantile(count, ROUNDS, 0.5);
    snprintf(note, sizeof(note), "%s; median of %u, most %.0f", row->marks, ROUNDS, bench_quantile(count, ROUNDS, 1));
    if (count[0] >= 0) {
        bench_row(row->name, median, "instructions", row->budget, note);
    }
}

int main(void)
{
    static const char *const counted[] = { "--icount", "1", "--sm-threads", "0", NULL };
    struct bench bench = { 0 };

    bench_open(&bench, counted);
    for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        measure(&bench, &rows[i]);
    }
    bench_close(&bench);
    return 0;
}
