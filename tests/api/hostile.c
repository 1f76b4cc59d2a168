/* SPDX-License-Identifier: MIT */
#include "tests/api/hostile.h"

#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "ppu/macros.h"

#define RECORDS 1100u /* more tasks than there are records */
#define BURST 50u     /* the ring of a channel has room for so many */
#define BURST_US 5000u
#define COPY_BYTES (16ull << 20)
#define COPIES 4u /* in each stream */
#define PUSHES 200u

static enum ppu_err launch(struct hostile_run *run, struct ppu_stream *stream, const char *name,
                           const struct ppu_launch *launch)
{
    const struct ppu_kernel *kernel = NULL;
    enum ppu_err err = ppu_kernel_find(run->program, name, &kernel);

    return err ? err : ppu_stream_launch(stream, kernel, launch, NULL);
}

static enum ppu_err launch_grid(struct hostile_run *run, const char *name, uint32_t ctas, uint32_t threads)
{
    return launch(run, run->stream, name, &(struct ppu_launch){ .grid = { ctas }, .cta = { threads } });
}

static enum ppu_err endless(struct hostile_run *run)
{
    return launch_grid(run, "endless", 1000, 64);
}

enum ppu_err hostile_endless_wide(struct hostile_run *run)
{
    return launch_grid(run, "endless_wide", 100, 128);
}

static enum ppu_err endless_sections(struct hostile_run *run)
{
    return launch_grid(run, "endless_sections", 1000, 64);
}

static enum ppu_err endless_gang(struct hostile_run *run)
{
    return launch(run, run->stream, "endless_wide",
                  &(struct ppu_launch){ .grid = { 4 }, .cta = { 128 }, .coresident = true });
}

static enum ppu_err endless_loads(struct hostile_run *run)
{
    enum ppu_err err = ppu_memory_create(run->context, PPU_MEMORY_SYSTEM, 4096, &run->memory);

    if (err != PPU_OK) {
        return err;
    }
    const uint64_t va = ppu_memory_va(run->memory, run->context).va;
    return launch(run, run->stream, "endless_loads",
                  &(struct ppu_launch){ .grid = { 1000 }, .cta = { 64 }, .params = &va, .param_bytes = sizeof(va) });
}

static enum ppu_err start_flood(struct hostile_run *run)
{
    return launch_grid(run, "start_flood", 32, 32);
}

enum ppu_err hostile_task_flood(struct hostile_run *run)
{
    enum ppu_err err = PPU_OK;

    for (uint32_t i = 0; i < HOSTILE_STREAMS && err == PPU_OK; i++) {
        err = ppu_stream_create(run->channel, &run->streams[i]);
        if (err == PPU_OK) {
            err = launch(run, run->streams[i], "endless", &(struct ppu_launch){ .grid = { 1000 }, .cta = { 64 } });
        }
    }
    return err;
}

/* All in one stream, until a launch is refused. */
static enum ppu_err records(struct hostile_run *run)
{
    for (uint32_t i = 0; i < RECORDS && endless(run) == PPU_OK; i++) {
        if (i % BURST == 0) {
            usleep(BURST_US);
        }
    }
    return PPU_OK;
}

enum ppu_err hostile_self_feeding(struct hostile_run *run, uint64_t watchdog_ns, struct ppu_event *event)
{
    const struct ppu_taskq_options options = { .entries = 256, .data_bytes = 16 };
    const struct ppu_kernel *kernel = NULL;
    enum ppu_err err = ppu_kernel_find(run->program, "self_feeding", &kernel);

    err = err ? err : ppu_channel_create(run->context, NULL, &run->feeder);
    err = err ? err : ppu_taskq_create(run->context, &options, &run->queue);
    if (err != PPU_OK) {
        return err;
    }
    const uint64_t va = ppu_taskq_va(run->queue).va;
    const struct ppu_launch all = {
        .cta = { 32 }, .taskq = run->queue, .params = &va, .param_bytes = sizeof(va), .watchdog_ns = watchdog_ns
    };
    err = ppu_stream_launch(run->stream, kernel, &all, event);
    for (uint32_t i = 0; i < PUSHES && err == PPU_OK; i++) {
        err = ppu_taskq_push(run->queue, run->feeder, &va, sizeof(va));
    }
    return err;
}

static enum ppu_err self_feeding(struct hostile_run *run)
{
    return hostile_self_feeding(run, 0, NULL);
}

static enum ppu_err copies(struct hostile_run *run)
{
    enum ppu_err err = ppu_memory_create(run->context, PPU_MEMORY_VRAM, 2 * COPY_BYTES, &run->memory);

    if (err != PPU_OK) {
        return err;
    }
    const uint64_t va = ppu_memory_va(run->memory, run->context).va;
    for (uint32_t i = 0; i < HOSTILE_STREAMS && err == PPU_OK; i++) {
        err = ppu_stream_create(run->channel, &run->streams[i]);
        for (uint32_t n = 0; n < COPIES && err == PPU_OK; n++) {
            err = ppu_stream_copy(run->streams[i], (ppu_va_t){ va }, (ppu_va_t){ va + COPY_BYTES }, COPY_BYTES, NULL);
        }
    }
    return err;
}

const struct hostile hostiles[] = {
    { "endless kernels that fill all SMs", endless },        { "CTAs that fill an SM each", hostile_endless_wide },
    { "a co-resident grid on all SMs", endless_gang },       { "critical sections without end", endless_sections },
    { "loads of system memory without end", endless_loads }, { "requests for tasks that do not exist", start_flood },
    { "more endless tasks than slots", hostile_task_flood }, { "more endless tasks than records", records },
    { "a queue task that feeds itself", self_feeding },      { "copies without end", copies },
};
const uint32_t hostiles_count = PPU_ARRAY_SIZE(hostiles);

enum ppu_err hostile_load(struct hostile_run *run, const char *folder, struct ppu_error *error)
{
    char path[256];

    snprintf(path, sizeof(path), "%s/fair.ppu", folder);
    return ppu_program_load_file(run->context, path, &run->program, error);
}

enum ppu_err hostile_unload(struct hostile_run *run)
{
    return ppu_program_unload(run->program);
}

/* The first error of all. */
static enum ppu_err first(enum ppu_err before, enum ppu_err now)
{
    return before ? before : now;
}

enum ppu_err hostile_stop(struct hostile_run *run)
{
    enum ppu_err err = ppu_channel_reset(run->channel);

    if (run->feeder) {
        err = first(err, ppu_channel_destroy(run->feeder));
        run->feeder = NULL;
    }
    if (run->queue) {
        err = first(err, ppu_taskq_destroy(run->queue));
        run->queue = NULL;
    }
    for (uint32_t i = 0; i < HOSTILE_STREAMS && run->streams[i]; i++) {
        err = first(err, ppu_stream_destroy(run->streams[i]));
        run->streams[i] = NULL;
    }
    if (run->memory) {
        err = first(err, ppu_memory_free(run->memory));
        run->memory = NULL;
    }
    return err;
}
