/* SPDX-License-Identifier: MIT */
/*
 * Measures how long a process beside QEMU waits for a PPU that is not there yet, for the smallest kernel and for the
 * smallest block, and what QEMU does while nobody waits.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/deadline.h"
#include "runtime/native/machine.h"
#include "tests/bench/bench.h"

#define STARTS 11u
#define WARM_UP 200u
#define ROUNDS 2000u

#define START_MS 60.0
#define IRQ_BUDGET_US 60.0
#define IDLE_S 3u
#define IDLE_BUDGET_PERCENT 0.1

static double us[ROUNDS];

/* Submits work, with an event behind it. */
typedef void submit_fn(struct bench *bench, struct ppu_event *event);

/* Median time from the submission to the end of the wait; us[] holds all times. */
static double median_us(struct bench *bench, submit_fn *submit)
{
    for (uint32_t i = 0; i < WARM_UP + ROUNDS; i++) {
        struct ppu_event event;
        uint64_t before_ns = clock_ns();

        submit(bench, &event);
        bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
        if (i >= WARM_UP) {
            us[i - WARM_UP] = (double)(clock_ns() - before_ns) / 1000;
        }
    }
    return bench_quantile(us, ROUNDS, 0.5);
}

static void submit_kernel(struct bench *bench, struct ppu_event *event)
{
    const uint64_t params[] = { bench->va, bench->va + 64 };
    const struct ppu_launch launch = {
        .grid = { 1, 1, 1 }, .cta = { 1, 1, 1 }, .params = params, .param_bytes = sizeof(params)
    };

    bench_need(ppu_stream_launch(bench->stream, bench->kernel, &launch, event), "launch");
}

/* QEMU starts, the firmware boots, the device is opened, and the first kernel has run. */
static void start_up(void)
{
    char note[128];

    for (uint32_t i = 0; i < STARTS; i++) {
        struct bench bench = { 0 };
        struct ppu_event event;
        uint64_t before_ns = clock_ns();

        bench_open(&bench, NULL, NULL);
        submit_kernel(&bench, &event);
        bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
        us[i] = (double)(clock_ns() - before_ns) / 1000;
        bench_close(&bench);
    }
    const double median_ms = bench_quantile(us, STARTS, 0.5) / 1000;
    snprintf(note, sizeof(note), "from no QEMU to the end of the first kernel; median of %u, most %.0f ms", STARTS,
             bench_quantile(us, STARTS, 1) / 1000);
    bench_row("engine.start_ms", median_ms, "ms", START_MS, note);
}

/* A block of nothing but the release and the interrupt of its event. */
static void submit_nothing(struct bench *bench, struct ppu_event *event)
{
    struct ppu_block *block = NULL;

    bench_need(ppu_block_begin(bench->channel, &block), "begin");
    bench_need(ppu_block_submit(block, event), "submit");
}

/* Processor time of all threads of QEMU in ns, and how often they went to sleep. */
static uint64_t spent_ns(const struct bench *bench, uint64_t *sleeps)
{
    char path[64], line[128];
    uint64_t sum = 0;
    struct dirent *entry;

    *sleeps = 0;
    snprintf(path, sizeof(path), "/proc/%d/task", (int)bench->machine->process.pid);
    DIR *tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        uint64_t ns = 0, waited = 0, slices = 0;
        char name[sizeof(path) + sizeof(entry->d_name) + 16];

        snprintf(name, sizeof(name), "%s/%s/schedstat", path, entry->d_name);
        FILE *file = fopen(name, "r");
        if (!file) {
            continue;
        }
        if (fgets(line, sizeof(line), file) &&
            sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ns, &waited, &slices) == 3) {
            sum += ns;
            *sleeps += slices;
        }
        fclose(file);
    }
    if (tasks) {
        closedir(tasks);
    }
    if (sum == 0) {
        fprintf(stderr, "%s does not tell what was spent\n", path);
        exit(1);
    }
    return sum;
}

/* The device is open, its firmware runs, nobody gives it work. */
static void idle(const struct bench *bench)
{
    uint64_t sleeps_before, sleeps_after, before = spent_ns(bench, &sleeps_before);
    char note[128];

    sleep(IDLE_S);
    uint64_t after = spent_ns(bench, &sleeps_after);
    snprintf(note, sizeof(note),
             "of a host processor, all threads of QEMU, %u s without work; they woke %" PRIu64 " times", IDLE_S,
             sleeps_after - sleeps_before);
    bench_row("engine.idle_cpu_percent", (double)(after - before) / (IDLE_S * 1e7), "%", IDLE_BUDGET_PERCENT, note);
}

int main(void)
{
    struct bench bench = { 0 };
    char note[128];

    start_up();
    bench_open(&bench, NULL, NULL);
    double median = median_us(&bench, submit_kernel);
    snprintf(note, sizeof(note), "median of %u launches of one thread, submit to event; 99 in 100 below %.0f us",
             ROUNDS, bench_quantile(us, ROUNDS, 0.99));
    bench_row("native.doorbell_to_done_us", median, "us", 0, note);
    median = median_us(&bench, submit_nothing);
    snprintf(note, sizeof(note), "median of %u empty blocks, submit to the end of the wait; 99 in 100 below %.0f us",
             ROUNDS, bench_quantile(us, ROUNDS, 0.99));
    bench_row("engine.doorbell_to_irq_us", median, "us", IRQ_BUDGET_US, note);
    idle(&bench);
    bench_close(&bench);
    return 0;
}
