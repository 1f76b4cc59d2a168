/* SPDX-License-Identifier: MIT */
/* Measures command blocks that a thread puts into a work queue, against the same blocks submitted by the CPU. */
#include <stdio.h>
#include <string.h>

#include "runtime/deadline.h"
#include "tests/bench/bench.h"

#define BLOCKS 1000u /* a round; their trace records fit the firmware's recorder */
#define ROUNDS 20u
#define ICOUNT_SHIFT 1u /* an instruction takes 2 ns of virtual time */

struct batch_params {
    uint64_t queue, sems, result;
    uint32_t count, zero;
};

struct work {
    struct bench bench;
    struct ppu_program *program;
    const struct ppu_kernel *kernel;
    struct ppu_workq *queue;
    struct ppu_memory *sems;
    uint64_t sems_va;
};

static void work_open(struct work *work, const char *const *launcher_args)
{
    bench_open(&work->bench, NULL, launcher_args);
    bench_need(ppu_program_load_file(work->bench.context, "build/kernels/creator.ppu", &work->program, NULL),
               "program");
    work->kernel = bench_kernel(work->program, "batch");
    bench_need(
        ppu_workq_create(work->bench.channel, &(struct ppu_workq_options){ .entries = BLOCKS + 3 }, &work->queue),
        "queue");
    bench_need(ppu_memory_create(work->bench.context, PPU_MEMORY_VRAM, BLOCKS * 16 + 64, &work->sems), "memory");
    work->sems_va = ppu_memory_va(work->sems, work->bench.context).va;
}

static void work_close(struct work *work)
{
    ppu_workq_destroy(work->queue);
    ppu_memory_free(work->sems);
    ppu_program_unload(work->program);
    bench_close(&work->bench);
}

/* Each block releases a semaphore of its own, with the time. */
static void by_thread(struct work *work)
{
    const struct batch_params params = {
        ppu_workq_va(work->queue).va, work->sems_va, work->sems_va + BLOCKS * 16, BLOCKS, 0,
    };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 32 }, .params = &params, .param_bytes = sizeof(params) };
    struct ppu_block *block = NULL;
    struct ppu_event event;

    bench_need(ppu_block_begin(work->bench.channel, &block), "block");
    ppu_block_launch(block, work->bench.stream, work->kernel, &launch);
    ppu_block_round(block, work->queue);
    bench_need(ppu_block_submit(block, &event), "round");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
}

static void by_cpu(struct work *work)
{
    struct ppu_event event;

    for (uint32_t i = 0; i < BLOCKS; i++) {
        struct ppu_block *block = NULL;
        bench_need(ppu_block_begin(work->bench.channel, &block), "block");
        ppu_block_release(block, (ppu_va_t){ work->sems_va + 16 * i }, i + 1, true);
        bench_need(ppu_block_submit(block, i + 1 == BLOCKS ? &event : NULL), "submit");
    }
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
}

/* From the release of the first semaphore to that of the last, in ns of the device's time. */
static double released_ns(const struct work *work)
{
    const struct ppu_sem *sems = ppu_memory_host(work->sems);

    return (double)(sems[BLOCKS - 1].time_ns - sems[0].time_ns);
}

static double median_s(struct work *work, void (*submit)(struct work *work))
{
    double seconds[ROUNDS];

    submit(work);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t before_ns = clock_ns();
        submit(work);
        seconds[i] = (double)(clock_ns() - before_ns) / NS_PER_S;
    }
    return bench_quantile(seconds, ROUNDS, 0.5);
}

static void count_instructions(void)
{
    static const char *const counted[] = { "--icount", "1", "--sm-threads", "0", NULL };
    struct work work = { 0 };
    char note[128];

    work_open(&work, counted);
    by_thread(&work);
    double queue = released_ns(&work) / (BLOCKS - 1) / (1u << ICOUNT_SHIFT);
    snprintf(note, sizeof(note),
             "MCU instructions from the release in one block of a queue to that in the next, mean of %u", BLOCKS - 1);
    bench_row("fw.workq_block", queue, "instructions", 400, note);
    work_close(&work);
}

static void measure_time(void)
{
    struct work work = { 0 };
    char note[128];

    work_open(&work, NULL);
    double thread_s = median_s(&work, by_thread);
    double cpu_s = median_s(&work, by_cpu);
    snprintf(note, sizeof(note), "a thread makes %u blocks, a round; median of %u", BLOCKS, ROUNDS);
    bench_row_higher("workq.blocks_per_s", BLOCKS / thread_s, "1/s", 0, note);
    snprintf(note, sizeof(note), "time of the same blocks submitted by a process beside QEMU (%.0f/s) over that",
             BLOCKS / cpu_s);
    bench_row_higher("workq.vs_cpu", cpu_s / thread_s, "x", 0, note);
    work_close(&work);
}

int main(void)
{
    count_instructions();
    measure_time();
    return 0;
}
