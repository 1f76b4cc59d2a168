/* SPDX-License-Identifier: MIT */
/*
 * Measures one context beside another that takes all it can get. One number is the time of an empty kernel, alone and
 * beside the worst of several hostile programs. The other is the smaller share of the SMs' time when two contexts both
 * want everything.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "tests/api/hostile.h"
#include "tests/bench/bench.h"

#define ROUNDS 101u
#define KERNELS "build/kernels"
#define RATIO_BUDGET 20.0
#define SHARE_BUDGET 0.4
#define SETTLE_US 200000u

static double us[ROUNDS];

struct victim {
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
};

static struct victim victim_open(struct bench *bench)
{
    struct victim victim = { 0 };

    bench_need(ppu_context_create(bench->device, &victim.context), "context");
    bench_need(ppu_channel_create(victim.context, NULL, &victim.channel), "channel");
    bench_need(ppu_stream_create(victim.channel, &victim.stream), "stream");
    bench_need(ppu_program_load_file(victim.context, KERNELS "/fair.ppu", &victim.program, NULL), "load");
    return victim;
}

static void victim_close(struct victim *victim)
{
    ppu_channel_destroy(victim->channel);
    ppu_stream_destroy(victim->stream);
    ppu_program_unload(victim->program);
    ppu_context_destroy(victim->context);
}

static double median_us(struct victim *victim)
{
    const struct ppu_kernel *nothing = bench_kernel(victim->program, "nothing");
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 } };

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct ppu_event event;
        uint64_t before_ns = clock_ns();

        bench_need(ppu_stream_launch(victim->stream, nothing, &launch, &event), "launch");
        bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
        us[i] = (double)(clock_ns() - before_ns) / 1000;
    }
    return bench_quantile(us, ROUNDS, 0.5);
}

/* ---- rows ---- */

static void latency(struct hostile_run *hostile, struct victim *victim)
{
    double alone = median_us(victim), worst = 0;
    const char *by = "";
    char note[160];

    for (uint32_t i = 0; i < hostiles_count; i++) {
        bench_need(hostiles[i].start(hostile), hostiles[i].name);
        usleep(SETTLE_US);
        double median = median_us(victim);
        fprintf(stderr, "%s: %.0f us\n", hostiles[i].name, median);
        by = median > worst ? hostiles[i].name : by;
        worst = PPU_MAX(median, worst);
        bench_need(hostile_stop(hostile), hostiles[i].name);
    }
    snprintf(note, sizeof(note), "an empty kernel, launched and waited for; median of %u", ROUNDS);
    bench_row("fair.empty_kernel_us.alone", alone, "us", 0, note);
    snprintf(note, sizeof(note), "the worst of %u hostile programs of another context: %s", hostiles_count, by);
    bench_row("fair.empty_kernel_us.beside_hostile", worst, "us", 0, note);
    bench_row("fair.ratio", worst / alone, "times", RATIO_BUDGET, "beside hostile programs, to alone");
}

static uint32_t time_us(struct bench *bench, const struct ppu_context *context)
{
    uint64_t value = 0;

    bench_need(ppu_device_query(bench->device, PPU_KEY_CONTEXT_TIME_US, ppu_context_id(context), &value), "query");
    return (uint32_t)value;
}

/* Forty tasks of one context against one of the other. */
static void share(struct bench *bench, struct hostile_run *hostile, struct victim *victim)
{
    const struct ppu_launch all = { .grid = { 1000 }, .cta = { 64 } };

    bench_need(hostile_task_flood(hostile), "tasks");
    usleep(SETTLE_US);
    bench_need(ppu_stream_launch(victim->stream, bench_kernel(victim->program, "endless"), &all, NULL), "launch");
    usleep(SETTLE_US);
    uint32_t small = time_us(bench, victim->context), large = time_us(bench, bench->context);
    sleep(2);
    small = time_us(bench, victim->context) - small;
    large = time_us(bench, bench->context) - large;
    bench_row_higher("fair.share", (double)small / ((double)small + (double)large), "of the SMs' time", SHARE_BUDGET,
                     "one endless task of a context beside 40 of another");
    bench_need(hostile_stop(hostile), "tasks");
    bench_need(ppu_channel_reset(victim->channel), "reset");
}

int main(void)
{
    struct bench bench = { 0 };

    bench_open(&bench, NULL, NULL);
    struct hostile_run hostile = { .context = bench.context, .channel = bench.channel, .stream = bench.stream };
    bench_need(hostile_load(&hostile, KERNELS, NULL), "load");
    struct victim victim = victim_open(&bench);
    latency(&hostile, &victim);
    share(&bench, &hostile, &victim);
    victim_close(&victim);
    hostile_unload(&hostile);
    bench_close(&bench);
    return 0;
}
