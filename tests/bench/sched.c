/* SPDX-License-Identifier: MIT */
/*
 * Measures priorities. One number is the time of an empty urgent kernel, alone and beside a grid of the lowest priority
 * that fills all SMs for ever. The other is an address space's share of the SMs' time beside urgent tasks of another
 * that want everything.
 */
#include <stdio.h>
#include <unistd.h>

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "tests/bench/bench.h"

#define ROUNDS 101u
#define TASKS 12u
#define URGENT (PPU_PRIORITIES - 1u)
#define BESIDE_BUDGET_US 5000.0
#define SHARE_BUDGET 0.4
#define SETTLE_US 200000u

struct level {
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream[TASKS];
    struct ppu_program *program;
    uint32_t priority;
};

static struct level level_open(struct ppu_context *context, uint32_t priority)
{
    struct level level = { .context = context, .priority = priority };
    struct ppu_error error = { 0 };

    bench_need(ppu_channel_create(context, &(struct ppu_channel_options){ .priority = priority }, &level.channel),
               "channel");
    for (uint32_t i = 0; i < TASKS; i++) {
        bench_need(ppu_stream_create(level.channel, &level.stream[i]), "stream");
    }
    bench_need(ppu_program_load_file(context, "build/kernels/fair.ppu", &level.program, &error), "load");
    return level;
}

static void level_close(const struct level *level)
{
    ppu_channel_destroy(level->channel);
    for (uint32_t i = 0; i < TASKS; i++) {
        ppu_stream_destroy(level->stream[i]);
    }
    ppu_program_unload(level->program);
}

static void launch(const struct level *level, uint32_t stream, const char *name, uint32_t ctas, uint32_t threads,
                   struct ppu_event *event)
{
    const struct ppu_launch all = { .grid = { ctas }, .cta = { threads }, .priority = level->priority };

    bench_need(ppu_stream_launch(level->stream[stream], bench_kernel(level->program, name), &all, event), name);
}

static double median_us(const struct level *level)
{
    double us[ROUNDS];

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct ppu_event event;
        uint64_t before_ns = clock_ns();

        launch(level, 0, "nothing", 1, 1, &event);
        bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
        us[i] = (double)(clock_ns() - before_ns) / 1000;
    }
    return bench_quantile(us, ROUNDS, 0.5);
}

static void latency(const struct bench *bench)
{
    static const struct {
        const char *kernel;
        uint32_t threads;
    } rows[] = { { "endless", 64 }, { "endless_wide", 128 }, { "endless_sections", 64 } };
    const struct level low = level_open(bench->context, 0), high = level_open(bench->context, URGENT);
    double alone = median_us(&high), worst = 0;
    const char *by = "";
    char note[160];

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(rows); i++) {
        launch(&low, 0, rows[i].kernel, 1000, rows[i].threads, NULL);
        usleep(SETTLE_US);
        double median = median_us(&high);
        fprintf(stderr, "%s: %.0f us\n", rows[i].kernel, median);
        by = median > worst ? rows[i].kernel : by;
        worst = PPU_MAX(median, worst);
        bench_need(ppu_channel_reset(low.channel), "reset");
    }
    snprintf(note, sizeof(note), "an empty urgent kernel, launched and waited for; median of %u", ROUNDS);
    bench_row("sched.high_alone_us", alone, "us", 0, note);
    snprintf(note, sizeof(note), "beside a grid of the lowest priority on all SMs that never ends; the worst of %u: %s",
             (uint32_t)PPU_ARRAY_SIZE(rows), by);
    bench_row("sched.high_beside_low_us", worst, "us", BESIDE_BUDGET_US, note);
    level_close(&low);
    level_close(&high);
}

static uint32_t time_us(const struct bench *bench, const struct ppu_context *context)
{
    uint64_t value = 0;

    bench_need(ppu_device_query(bench->device, PPU_KEY_CONTEXT_TIME_US, ppu_context_id(context), &value), "query");
    return (uint32_t)value;
}

/* Urgent tasks of one address space against one of the lowest priority of another. */
static void share(const struct bench *bench)
{
    struct ppu_context *other = NULL;

    bench_need(ppu_context_create(bench->device, &other), "context");
    const struct level high = level_open(bench->context, URGENT), low = level_open(other, 0);
    for (uint32_t i = 0; i < TASKS; i++) {
        launch(&high, i, "endless", 1000, 64, NULL);
    }
    usleep(SETTLE_US);
    launch(&low, 0, "endless", 1000, 64, NULL);
    usleep(SETTLE_US);
    uint32_t small = time_us(bench, other), large = time_us(bench, bench->context);
    sleep(2);
    small = time_us(bench, other) - small;
    large = time_us(bench, bench->context) - large;
    bench_row_higher("sched.share_beside_high", (double)small / ((double)small + (double)large), "of the SMs' time",
                     SHARE_BUDGET, "an endless task of the lowest priority beside 12 urgent ones of another context");
    level_close(&high);
    level_close(&low);
    ppu_context_destroy(other);
}

int main(void)
{
    struct bench bench = { 0 };

    bench_open(&bench, NULL, NULL);
    latency(&bench);
    share(&bench);
    bench_close(&bench);
    return 0;
}
