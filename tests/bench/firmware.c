/* SPDX-License-Identifier: MIT */
/*
 * Counts instructions of the firmware between two trace marks (mark.def). QEMU counts instructions, the SMs run on the
 * virtual clock, the MCU is idle before each event: the counts are the same in every run. Each is counted again with a
 * crowd of 10 to 4000 channels that are parked and as many tasks, up to 1000, that wait in TMDQs: no path may grow
 * with them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/regs.h"
#include "ppu/tmd.h"
#include "runtime/deadline.h"
#include "tests/bench/bench.h"
#include "tests/bench/crowd.h"

#define ICOUNT_SHIFT 1u /* an instruction takes 2 ns of virtual time */
#define ROUNDS 21u
#define IDLE_US 3000u /* after so long nothing is left to do for what the host has seen the end of */
#define NEWEST 16u    /* records of the firmware's trace that one launch stays below */
#define SPIN_TURNS 20000u
#define CHANNEL_VECTOR PPU_VECTOR_FIRST_CHANNEL

/* ---- traces ---- */

/* A record of the kind, mark or not, after `from_ns`; from *number on. Its time; 0: there is none. */
static uint64_t find(const struct bench *bench, enum ppu_trace_source source, uint32_t *number, uint32_t type,
                     uint32_t id0, uint64_t from_ns)
{
    struct ppu_trace_record record;

    while (ppu_trace_read(bench->device, source, number, &record, 1) == 1) {
        if (record.type == type && record.id[0] == id0 && record.time_ns >= from_ns) {
            return record.time_ns;
        }
    }
    return 0;
}

static uint64_t find_mark(const struct bench *bench, uint32_t *number, uint32_t mark)
{
    return find(bench, PPU_TRACE_OF_DEVICE, number, PPU_TRACE_MARK, mark, 0);
}

/* MCU instructions from the first `begin` after `from` to the first `end` after that; negative: no such marks. */
static double instructions(const struct bench *bench, uint32_t from, uint32_t begin, uint32_t end)
{
    uint64_t first_ns = find_mark(bench, &from, begin);
    uint64_t last_ns = find_mark(bench, &from, end);

    return first_ns == 0 || last_ns == 0 ? -1 : (double)((last_ns - first_ns) >> ICOUNT_SHIFT);
}

/* The wait may have found its event before the interrupt came, which is then about to. */
static uint64_t find_interrupt(const struct bench *bench, uint64_t from_ns)
{
    uint32_t number = ppu_trace_next(bench->device, PPU_TRACE_OF_FIRMWARE) - NEWEST;
    uint64_t deadline_ns = deadline_after(BENCH_WAIT_NS);
    uint64_t raised_ns = 0;

    while (raised_ns == 0 && deadline_left(deadline_ns) != 0) {
        raised_ns = find(bench, PPU_TRACE_OF_FIRMWARE, &number, PPU_TRACE_INTERRUPT, CHANNEL_VECTOR, from_ns);
    }
    return raised_ns;
}

/* The same for a whole launch, from doorbell to interrupt without the time that the CTA was on its SM. */
static double launch_instructions(const struct bench *bench, uint32_t from)
{
    uint64_t rung_ns = find_mark(bench, &from, PPU_MARK_DOORBELL_WRITTEN);
    uint64_t begun_ns = find_mark(bench, &from, PPU_MARK_CTA_DISTRIBUTED);
    uint64_t ended_ns = find_mark(bench, &from, PPU_MARK_SLOT_EVENT);
    uint64_t raised_ns = ended_ns != 0 ? find_interrupt(bench, ended_ns) : 0;

    return rung_ns == 0 || begun_ns == 0 || raised_ns == 0
               ? -1
               : (double)((begun_ns - rung_ns + raised_ns - ended_ns) >> ICOUNT_SHIFT);
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

/* A thread that launches a task, and does not end before that has begun. */
static void thread_launch(struct bench *bench)
{
    const struct ppu_kernel *flood = bench_kernel(bench->pressure, "flood");
    const struct ppu_launch child = { .grid = { 1 }, .cta = { 1 } };
    const uint64_t params[] = { bench->va + 1024, bench->va + 2048, bench->va + 512, 1 | (uint64_t)SPIN_TURNS << 32 };
    const uint64_t counter[] = { bench->va, bench->va + 64 };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    uint8_t *memory = ppu_memory_host(bench->memory);
    struct ppu_event event;

    memcpy(memory + 2048, counter, sizeof(counter));
    bench_need(ppu_kernel_describe(bench->kernel, &child, (struct ppu_tmd *)(void *)(memory + 1024)), "task");
    bench_need(ppu_stream_launch(bench->stream, flood, &launch, &event), "launch");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
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

#define WHOLE_LAUNCH 0u /* no mark has this number */

static const struct row {
    const char *name;
    void (*provoke)(struct bench *bench);
    uint32_t begin, end; /* marks, or WHOLE_LAUNCH as the end */
    double budget;
    const char *marks;
} rows[] = {
    { "fw.doorbell_to_first_cta", one_launch, PPU_MARK_DOORBELL_WRITTEN, PPU_MARK_CTA_DISTRIBUTED, 850,
      "DOORBELL_WRITTEN to CTA_DISTRIBUTED" },
    { "fw.completion_to_next", two_launches, PPU_MARK_COMPLETION_BEGIN, PPU_MARK_SLOT_STARTED, 400,
      "COMPLETION_BEGIN to SLOT_STARTED" },
    { "fw.thread_launch_to_child", thread_launch, PPU_MARK_START_REQUEST, PPU_MARK_SLOT_STARTED, 600,
      "START_REQUEST to SLOT_STARTED, with which the CTA is distributed" },
    { "fw.launch", one_launch, PPU_MARK_DOORBELL_WRITTEN, WHOLE_LAUNCH, 1800,
      "doorbell to interrupt, without the SMs" },
    { "fw.sem_acquire", acquire, PPU_MARK_ACQUIRE_BEGIN, PPU_MARK_ACQUIRE_PASSED, 250,
      "ACQUIRE_BEGIN to ACQUIRE_PASSED" },
};

/* What a round after `from` took. */
static double count_of(const struct bench *bench, const struct row *row, uint32_t from)
{
    return row->end == WHOLE_LAUNCH ? launch_instructions(bench, from)
                                    : instructions(bench, from, row->begin, row->end);
}

/* What many rounds took. */
struct counts {
    double least, median, most; /* negative: no marks */
};

static struct counts measure(struct bench *bench, const struct row *row)
{
    double count[ROUNDS];

    row->provoke(bench);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        usleep(IDLE_US);
        uint32_t from = ppu_trace_next(bench->device, PPU_TRACE_OF_DEVICE);
        row->provoke(bench);
        count[i] = count_of(bench, row, from);
        if (count[i] < 0) {
            fprintf(stderr, "%s: no marks\n", row->name);
            return (struct counts){ -1, -1, -1 };
        }
    }
    return (struct counts){ bench_quantile(count, ROUNDS, 0), bench_quantile(count, ROUNDS, 0.5),
                            bench_quantile(count, ROUNDS, 1) };
}

/*
 * `crowd` 0: nothing else is there. Else the least counts: a parked channel is tested from time to time, and while the
 * MCU is idle the clock jumps from one such test to the next, so that the host's doorbell mostly comes during one.
 */
static void show(struct bench *bench, const struct row *row, uint32_t crowd)
{
    char name[64], note[160];
    struct counts counts = measure(bench, row);

    snprintf(name, sizeof(name), crowd != 0 ? "%s.at_%u" : "%s", row->name, crowd);
    if (crowd == 0) {
        snprintf(note, sizeof(note), "%s; median of %u, most %.0f", row->marks, ROUNDS, counts.most);
    } else {
        snprintf(note, sizeof(note), "beside %u parked channels and %u tasks in TMDQs; least of %u, median %.0f", crowd,
                 PPU_MIN(crowd, CROWD_TASKS), ROUNDS, counts.median);
    }
    if (counts.median >= 0) {
        bench_row(name, crowd != 0 ? counts.least : counts.median, "instructions", row->budget, note);
    }
}

/* With the argument `alone`: only the rows without a crowd, which is quick. */
int main(int argc, char **argv)
{
    static const char *const counted[] = { "--icount", "1", "--sm-threads", "0", NULL };
    static const uint32_t sizes[] = { 0, 10, 100, 1000, CROWD_MOST };
    bool alone = argc > 1 && strcmp(argv[1], "alone") == 0;
    struct bench bench = { 0 };
    struct crowd crowd = { 0 };

    bench_need(setenv("PPU_VRAM", "1G", 1) == 0 ? PPU_OK : PPU_ERR_NO_MEMORY, "room for 4,000 channels");
    bench_open(&bench, "channels=4096", counted);
    crowd_begin(&crowd, &bench);
    for (uint32_t size = 0; size < (alone ? 1 : PPU_ARRAY_SIZE(sizes)); size++) {
        crowd_grow(&crowd, sizes[size]);
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
            if (sizes[size] == 0 || rows[i].budget > 0) {
                show(&bench, &rows[i], sizes[size]);
            }
        }
    }
    crowd_end(&crowd);
    bench_close(&bench);
    return 0;
}
