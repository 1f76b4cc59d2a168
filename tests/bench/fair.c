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
#include "tests/bench/bench.h"

#define ROUNDS 101u
#define STREAMS 40u
#define RECORDS 1100u
#define RATIO_BUDGET 20.0
#define SHARE_BUDGET 0.4
#define SETTLE_US 200000u

static struct ppu_program *hostile_program;
static struct ppu_stream *streams[STREAMS];
static struct ppu_channel *feeder;
static struct ppu_taskq *queue;
static struct ppu_memory *memory;
static double us[ROUNDS];

struct victim {
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
};

static struct ppu_program *load(struct ppu_context *context)
{
    struct ppu_program *program = NULL;
    struct ppu_error error = { 0 };

    bench_need(ppu_program_load_file(context, "build/kernels/fair.ppu", &program, &error), "load");
    return program;
}

static struct victim victim_open(struct bench *bench)
{
    struct victim victim = { 0 };

    bench_need(ppu_context_create(bench->device, &victim.context), "context");
    bench_need(ppu_channel_create(victim.context, NULL, &victim.channel), "channel");
    bench_need(ppu_stream_create(victim.channel, &victim.stream), "stream");
    victim.program = load(victim.context);
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

/* ---- hostile programs, on the bench's own context: those of tests/api/test_fair.c ---- */

static void launch(struct ppu_stream *stream, const char *name, const struct ppu_launch *all)
{
    bench_need(ppu_stream_launch(stream, bench_kernel(hostile_program, name), all, NULL), name);
}

static void launch_grid(struct ppu_stream *stream, const char *name, uint32_t ctas, uint32_t threads)
{
    launch(stream, name, &(struct ppu_launch){ .grid = { ctas }, .cta = { threads } });
}

static void endless(struct bench *bench)
{
    launch_grid(bench->stream, "endless", 1000, 64);
}

static void endless_wide(struct bench *bench)
{
    launch_grid(bench->stream, "endless_wide", 100, 128);
}

static void endless_sections(struct bench *bench)
{
    launch_grid(bench->stream, "endless_sections", 1000, 64);
}

static void endless_gang(struct bench *bench)
{
    launch(bench->stream, "endless_wide", &(struct ppu_launch){ .grid = { 4 }, .cta = { 128 }, .coresident = true });
}

static void endless_loads(struct bench *bench)
{
    bench_need(ppu_memory_create(bench->context, PPU_MEMORY_SYSTEM, 4096, &memory), "memory");
    const uint64_t va = ppu_memory_va(memory, bench->context).va;
    launch(bench->stream, "endless_loads",
           &(struct ppu_launch){ .grid = { 1000 }, .cta = { 64 }, .params = &va, .param_bytes = sizeof(va) });
}

static void start_flood(struct bench *bench)
{
    launch_grid(bench->stream, "start_flood", 32, 32);
}

static void task_flood(struct bench *bench)
{
    for (uint32_t i = 0; i < STREAMS; i++) {
        bench_need(ppu_stream_create(bench->channel, &streams[i]), "stream");
        launch_grid(streams[i], "endless", 1000, 64);
    }
}

/* More tasks in one stream than there are records; the ring of its channel has so many entries. */
static void records(struct bench *bench)
{
    const struct ppu_kernel *kernel = bench_kernel(hostile_program, "endless");
    const struct ppu_launch all = { .grid = { 1000 }, .cta = { 64 } };

    for (uint32_t i = 0; i < RECORDS && ppu_stream_launch(bench->stream, kernel, &all, NULL) == PPU_OK; i++) {
        if (i % 50 == 0) {
            usleep(5000);
        }
    }
}

static void self_feeding(struct bench *bench)
{
    bench_need(ppu_channel_create(bench->context, NULL, &feeder), "channel");
    bench_need(
        ppu_taskq_create(bench->context, &(struct ppu_taskq_options){ .entries = 256, .data_bytes = 16 }, &queue),
        "task queue");
    const uint64_t va = ppu_taskq_va(queue).va;
    launch(bench->stream, "self_feeding",
           &(struct ppu_launch){ .cta = { 32 }, .taskq = queue, .params = &va, .param_bytes = sizeof(va) });
    for (uint32_t i = 0; i < 200; i++) {
        bench_need(ppu_taskq_push(queue, feeder, &va, sizeof(va)), "push");
    }
}

static void copies(struct bench *bench)
{
    const uint64_t half = 16u << 20;

    bench_need(ppu_memory_create(bench->context, PPU_MEMORY_VRAM, 2 * half, &memory), "memory");
    const uint64_t va = ppu_memory_va(memory, bench->context).va;
    for (uint32_t i = 0; i < STREAMS; i++) {
        bench_need(ppu_stream_create(bench->channel, &streams[i]), "stream");
        for (uint32_t n = 0; n < 4; n++) {
            bench_need(ppu_stream_copy(streams[i], (ppu_va_t){ va }, (ppu_va_t){ va + half }, half, NULL), "copy");
        }
    }
}

static const struct hostile {
    const char *name;
    void (*start)(struct bench *bench);
} hostiles[] = {
    { "endless kernels", endless },
    { "CTAs of a whole SM", endless_wide },
    { "a co-resident grid on all SMs", endless_gang },
    { "critical sections", endless_sections },
    { "loads of system memory", endless_loads },
    { "start requests", start_flood },
    { "endless tasks", task_flood },
    { "more endless tasks than records", records },
    { "a queue task that feeds itself", self_feeding },
    { "copies", copies },
};

static void stop(struct bench *bench)
{
    bench_need(ppu_channel_reset(bench->channel), "reset");
    if (feeder) {
        ppu_channel_destroy(feeder);
        ppu_taskq_destroy(queue);
        feeder = NULL;
    }
    for (uint32_t i = 0; i < STREAMS && streams[i]; i++) {
        ppu_stream_destroy(streams[i]);
        streams[i] = NULL;
    }
    if (memory) {
        ppu_memory_free(memory);
        memory = NULL;
    }
}

/* ---- rows ---- */

static void latency(struct bench *bench, struct victim *victim)
{
    double alone = median_us(victim), worst = 0;
    const char *by = "";
    char note[160];

    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(hostiles); i++) {
        hostiles[i].start(bench);
        usleep(SETTLE_US);
        double median = median_us(victim);
        fprintf(stderr, "%s: %.0f us\n", hostiles[i].name, median);
        by = median > worst ? hostiles[i].name : by;
        worst = PPU_MAX(median, worst);
        stop(bench);
    }
    snprintf(note, sizeof(note), "an empty kernel, launched and waited for; median of %u", ROUNDS);
    bench_row("fair.empty_kernel_us.alone", alone, "us", 0, note);
    snprintf(note, sizeof(note), "the worst of %u hostile programs of another context: %s",
             (uint32_t)PPU_ARRAY_SIZE(hostiles), by);
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
static void share(struct bench *bench, struct victim *victim)
{
    const struct ppu_launch all = { .grid = { 1000 }, .cta = { 64 } };

    task_flood(bench);
    usleep(SETTLE_US);
    bench_need(ppu_stream_launch(victim->stream, bench_kernel(victim->program, "endless"), &all, NULL), "launch");
    usleep(SETTLE_US);
    uint32_t small = time_us(bench, victim->context), large = time_us(bench, bench->context);
    sleep(2);
    small = time_us(bench, victim->context) - small;
    large = time_us(bench, bench->context) - large;
    bench_row_higher("fair.share", (double)small / ((double)small + (double)large), "of the SMs' time", SHARE_BUDGET,
                     "one endless task of a context beside 40 of another");
    stop(bench);
    bench_need(ppu_channel_reset(victim->channel), "reset");
}

int main(void)
{
    struct bench bench = { 0 };

    bench_open(&bench, NULL, NULL);
    hostile_program = load(bench.context);
    struct victim victim = victim_open(&bench);
    latency(&bench, &victim);
    share(&bench, &victim);
    victim_close(&victim);
    ppu_program_unload(hostile_program);
    bench_close(&bench);
    return 0;
}
