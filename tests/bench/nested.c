/* SPDX-License-Identifier: MIT */
/*
 * Launches by threads. usage: nested rate|round-trip KERNELS
 *
 * rate: how many a second, by the wall clock. round-trip: a chain of tasks, each launched by a thread of the one
 * before, against a chain whose tasks the CPU launches, each when it has been told that the one before has ended; by
 * the clock of this machine, which should count instructions.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ppu/tmd.h"
#include "tests/bench/bench.h"

#define CHAIN 20u /* tasks; less deep than a nest is */
#define ROUNDS 25u
#define BURSTS 10u
#define BURST_CTAS 64u
#define PARAMS_AT 1024u
#define COUNT_AT 512u

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void run(const struct bench *bench, const struct ppu_kernel *kernel, const struct ppu_launch *launch)
{
    struct ppu_event event;

    bench_need(ppu_stream_launch(bench->stream, kernel, launch, &event), "launch");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
}

/* A TMD for threads at the begin of the bench's memory. */
static void describe(const struct bench *bench, const struct ppu_kernel *kernel)
{
    const struct ppu_launch one = { .grid = { 1 }, .cta = { 1 } };

    bench_need(ppu_kernel_describe(kernel, &one, ppu_memory_host(bench->memory)), "task");
}

/* ---- rate ---- */

static void rate(const struct bench *bench)
{
    const uint64_t counter[] = { bench->va + COUNT_AT, bench->va + COUNT_AT + 64 };
    const uint64_t params[] = { bench->va, bench->va + PARAMS_AT, bench->va + COUNT_AT + 128, 1 };
    const struct ppu_launch launch = {
        .grid = { BURST_CTAS }, .cta = { 32 }, .params = params, .param_bytes = sizeof(params)
    };
    const struct ppu_kernel *burst = bench_kernel(bench->pressure, "burst");
    const uint32_t *count = (const uint32_t *)(const void *)((const char *)ppu_memory_host(bench->memory) + COUNT_AT);
    char note[128];

    describe(bench, bench->kernel);
    memcpy((char *)ppu_memory_host(bench->memory) + PARAMS_AT, counter, sizeof(counter));
    run(bench, burst, &launch);
    uint32_t before = *count;
    double began_us = now_us();
    for (uint32_t i = 0; i < BURSTS; i++) {
        run(bench, burst, &launch);
    }
    double seconds = (now_us() - began_us) / 1e6;
    snprintf(note, sizeof(note), "%u tasks of one thread in 32 streams, 32 at a time, by parents that wait; wall clock",
             *count - before);
    bench_row_higher("nested.launches_per_s", (*count - before) / seconds, "1/s", 0, note);
}

/* ---- round trip ---- */

struct relay_params {
    uint64_t tmd, params;
    uint32_t follow, zero[3];
};

/* Parameters for the tasks that are followed by 0, 1, 2 ... others. */
static void fill_relay(const struct bench *bench, struct relay_params *params)
{
    for (uint32_t i = 0; i < CHAIN; i++) {
        params[i] = (struct relay_params){ .tmd = bench->va, .params = bench->va + PARAMS_AT, .follow = i };
    }
    memcpy((char *)ppu_memory_host(bench->memory) + PARAMS_AT, params, CHAIN * sizeof(params[0]));
}

/* From the first launch until the CPU knows that the last task has ended. */
static double relay_us(const struct bench *bench, const struct ppu_kernel *relay, const struct relay_params *params)
{
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(*params) };
    double began_us = now_us();

    run(bench, relay, &launch);
    return now_us() - began_us;
}

static void round_trip(const struct bench *bench)
{
    const struct ppu_kernel *relay = bench_kernel(bench->pressure, "relay");
    struct relay_params params[CHAIN];
    double by_thread[ROUNDS], by_cpu[ROUNDS];
    char note[160];

    describe(bench, relay);
    fill_relay(bench, params);
    relay_us(bench, relay, &params[CHAIN - 1]);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        by_cpu[i] = relay_us(bench, relay, &params[0]);
        by_thread[i] = (relay_us(bench, relay, &params[CHAIN - 1]) - by_cpu[i]) / (CHAIN - 1);
    }
    double cpu_us = bench_quantile(by_cpu, ROUNDS, 0.5), thread_us = bench_quantile(by_thread, ROUNDS, 0.5);
    snprintf(
        note, sizeof(note),
        "one more task in a chain: launched by the CPU when it knows of the last one's end %.1f us, by a thread %.2f "
        "us; medians of %u, instructions as time",
        cpu_us, thread_us, ROUNDS);
    bench_row_higher("nested.vs_cpu_round_trip", cpu_us / thread_us, "ratio", 10, note);
}

int main(int argc, char **argv)
{
    struct bench bench = { 0 };
    bool rates = argc == 3 && strcmp(argv[1], "rate") == 0;

    bench_need(rates || (argc == 3 && strcmp(argv[1], "round-trip") == 0) ? PPU_OK : PPU_ERR_BAD_ARG,
               "usage: nested rate|round-trip KERNELS");
    bench_open_here(&bench, argv[2]);
    if (rates) {
        rate(&bench);
    } else {
        round_trip(&bench);
    }
    bench_close(&bench);
    return 0;
}
