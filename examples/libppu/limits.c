/* SPDX-License-Identifier: MIT */
/*
 * Lets a PPU work as fast as this host lets it, of arithmetic and of memory, and prints how fast that is. ppu-report
 * compares kernels with a record of it. Usage: limits build/kernels/limits.ppu
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ppu.h"

#define CTA_THREADS 256u
#define CTAS_EACH_SM 8u
#define ROW_BYTES 4096u     /* that limit_memory loads in a turn */
#define ARITHMETIC_INSNS 11 /* of a turn */
#define MEMORY_LOADS 4      /* of a turn; each one transaction for the lanes of a warp */
#define WAVE 32
#define TIMES 3u
#define LEAST_S 0.05 /* a launch that takes less is made longer */
#define WAIT_NS 60000000000u
#define MOST_TURNS (1u << 24)

struct limits {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_program *program;
    struct ppu_memory *memory;
};

static void need(enum ppu_err err, const char *what, const struct ppu_error *error)
{
    if (err != PPU_OK) {
        fprintf(stderr, "limits: %s: %s\n", what, error && error->code == err ? error->text : ppu_error_text(err));
        exit(1);
    }
}

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void begin(struct limits *limits, const char *path)
{
    struct ppu_error error = { .code = PPU_OK };

    need(ppu_open(&limits->device, &error), "open a PPU", &error);
    need(ppu_context_create(limits->device, &limits->context), "make a context", NULL);
    need(ppu_channel_create(limits->context, NULL, &limits->channel), "make a channel", NULL);
    need(ppu_stream_create(limits->channel, &limits->stream), "make a stream", NULL);
    need(ppu_program_load_file(limits->context, path, &limits->program, &error), "load the kernels", &error);
    need(ppu_memory_create(limits->context, PPU_MEMORY_VRAM, ROW_BYTES, &limits->memory), "allocate memory", NULL);
}

/* Seconds of a launch. */
static double run(const struct limits *limits, const char *name, uint32_t turns)
{
    const struct ppu_kernel *kernel = NULL;
    const struct {
        uint64_t turns;
        ppu_va_t memory;
    } params = { turns, ppu_memory_va(limits->memory, limits->context) };

    need(ppu_kernel_find(limits->program, name, &kernel), "find a kernel", NULL);
    const struct ppu_launch launch = {
        .grid = { ppu_device_info(limits->device)->sms * CTAS_EACH_SM },
        .cta = { CTA_THREADS },
        .params = &params,
        .param_bytes = strcmp(name, "limit_memory") == 0 ? sizeof(params) : sizeof(params.turns),
    };
    double began_s = now_s();
    need(ppu_stream_launch(limits->stream, kernel, &launch, NULL), "launch a kernel", NULL);
    need(ppu_stream_wait(limits->stream, WAIT_NS), "wait for a kernel", NULL);
    return now_s() - began_s;
}

/* The best of some times: turns a second of all threads. */
static double turns_a_second(const struct limits *limits, const char *name)
{
    uint32_t turns = 64;
    double best = 0;

    while (run(limits, name, turns) < LEAST_S && turns < MOST_TURNS) {
        turns *= 4;
    }
    for (uint32_t i = 0; i < TIMES; i++) {
        double rate = turns / run(limits, name, turns);
        best = rate > best ? rate : best;
    }
    return best * ppu_device_info(limits->device)->sms * CTAS_EACH_SM * CTA_THREADS;
}

int main(int argc, char **argv)
{
    struct limits limits;

    begin(&limits, argc > 1 ? argv[1] : "build/kernels/limits.ppu");
    double arithmetic = turns_a_second(&limits, "limit_arithmetic") * ARITHMETIC_INSNS;
    double memory = turns_a_second(&limits, "limit_memory") * MEMORY_LOADS / WAVE;
    printf("%.3g thread instructions a second\n%.3g transactions a second\n", arithmetic, memory);
    need(ppu_channel_destroy(limits.channel), "close the channel", NULL);
    ppu_device_close(limits.device);
    return 0;
}
