/* SPDX-License-Identifier: MIT */
#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>

void bench_need(enum ppu_err err, const char *what)
{
    if (err != PPU_OK) {
        fprintf(stderr, "%s: %s\n", what, ppu_error_text(err));
        exit(1);
    }
}

static void need_told(enum ppu_err err, const struct ppu_error *error)
{
    bench_need(err, error->text);
}

static struct ppu_program *load(struct bench *bench, const char *folder, const char *name)
{
    struct ppu_program *program = NULL;
    struct ppu_error error;
    char path[256];

    snprintf(path, sizeof(path), "%s/%s.ppu", folder, name);
    need_told(ppu_program_load_file(bench->context, path, &program, &error), &error);
    return program;
}

const struct ppu_kernel *bench_kernel(struct ppu_program *program, const char *name)
{
    const struct ppu_kernel *kernel = NULL;

    bench_need(ppu_kernel_find(program, name, &kernel), name);
    return kernel;
}

static void open_objects(struct bench *bench, const char *folder)
{
    const struct ppu_nest_options nest = { .state_bytes = 32 * PPU_KIB };

    bench_need(ppu_context_create(bench->device, &bench->context), "context");
    bench_need(ppu_context_nest(bench->context, &nest), "nest");
    bench_need(ppu_channel_create(bench->context, NULL, &bench->channel), "channel");
    bench_need(ppu_stream_create(bench->channel, &bench->stream), "stream");
    bench->program = load(bench, folder, "counter");
    bench->kernel = bench_kernel(bench->program, "counter");
    bench->pressure = load(bench, folder, "pressure");
    bench_need(ppu_memory_create(bench->context, PPU_MEMORY_VRAM, 65536, &bench->memory), "memory");
    bench->va = ppu_memory_va(bench->memory, bench->context).va;
}

void bench_open(struct bench *bench, const char *ppu, const char *const *launcher_args)
{
    const struct ppu_machine_options options = { .ppu = ppu ? &ppu : NULL, .launcher_args = launcher_args };
    struct ppu_error error;

    need_told(ppu_machine_start(&options, &bench->machine, &error), &error);
    need_told(ppu_machine_transport(bench->machine, 0, &bench->transport, &error), &error);
    need_told(ppu_device_open(bench->transport, NULL, &bench->device, &error), &error);
    open_objects(bench, "build/kernels");
}

void bench_open_here(struct bench *bench, const char *folder)
{
    struct ppu_error error;

    need_told(ppu_open(&bench->device, &error), &error);
    open_objects(bench, folder);
}

void bench_close(struct bench *bench)
{
    ppu_channel_destroy(bench->channel);
    ppu_stream_destroy(bench->stream);
    ppu_program_unload(bench->program);
    ppu_program_unload(bench->pressure);
    ppu_memory_free(bench->memory);
    ppu_context_destroy(bench->context);
    ppu_device_close(bench->device);
    if (bench->machine) {
        ppu_machine_stop(bench->machine);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_quantile(double *values, uint32_t count, double quantile)
{
    qsort(values, count, sizeof(values[0]), compare);
    return values[(uint32_t)(quantile * (count - 1))];
}

static void row(const char *name, double value, const char *unit, const char *better, double budget, const char *note)
{
    printf("{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"better\": \"%s\", ", name, value, unit, better);
    if (budget > 0) {
        printf("\"budget\": %.6g, ", budget);
    }
    printf("\"note\": \"%s\"}\n", note);
}

void bench_row(const char *name, double value, const char *unit, double budget, const char *note)
{
    row(name, value, unit, "lower", budget, note);
}

void bench_row_higher(const char *name, double value, const char *unit, double budget, const char *note)
{
    row(name, value, unit, "higher", budget, note);
}
