/* SPDX-License-Identifier: MIT */
/*
 * Computes y = a * x + y piece by piece: each piece is copied to the PPU, computed, and copied back. Two streams take
 * turns, so that copies of one run beside the grid of the other. Three ways are measured side by side:
 *
 *  - the four commands of a piece are one task of the stream (B15);
 *  - each command is a task of its own;
 *  - the CPU waits for each command before it gives the next.
 *
 * usage: pieces [KERNELS]     KERNELS: build/kernels/saxpy.ppu
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "ppu.h"

#define PIECES 64u
#define FLOATS 16384u /* of a piece */
#define BYTES (FLOATS * sizeof(float))
#define STREAMS 2u
#define SECONDS_60 60000000000ull

#define TRY(call)                                                              \
    do {                                                                       \
        enum ppu_err tried = (call);                                           \
        if (tried != PPU_OK) {                                                 \
            fprintf(stderr, "pieces: %s: %s\n", #call, ppu_error_text(tried)); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

/* As the kernel has them. */
struct params {
    ppu_va_t x, y;
    uint32_t n;
    float a;
};

struct ppu {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *streams[STREAMS];
    struct ppu_program *program;
    const struct ppu_kernel *saxpy;
    struct ppu_memory *x, *y; /* all pieces, in system memory */
    struct ppu_memory *vram;  /* a piece of x and one of y for each stream */
    uint64_t x_va, y_va, vram_va;
};

static void ppu_begin(struct ppu *ppu, const char *kernels)
{
    struct ppu_error error;

    if (ppu_open(&ppu->device, &error) != PPU_OK) {
        fprintf(stderr, "pieces: %s\n", error.text);
        exit(1);
    }
    TRY(ppu_context_create(ppu->device, &ppu->context));
    TRY(ppu_channel_create(ppu->context, NULL, &ppu->channel));
    for (uint32_t i = 0; i < STREAMS; i++) {
        TRY(ppu_stream_create(ppu->channel, &ppu->streams[i]));
    }
    if (ppu_program_load_file(ppu->context, kernels, &ppu->program, &error) != PPU_OK) {
        fprintf(stderr, "pieces: %s\n", error.text);
        exit(1);
    }
    TRY(ppu_kernel_find(ppu->program, "saxpy", &ppu->saxpy));
    TRY(ppu_memory_create(ppu->context, PPU_MEMORY_SYSTEM, PIECES * BYTES, &ppu->x));
    TRY(ppu_memory_create(ppu->context, PPU_MEMORY_SYSTEM, PIECES * BYTES, &ppu->y));
    TRY(ppu_memory_create(ppu->context, PPU_MEMORY_VRAM, 2 * STREAMS * BYTES, &ppu->vram));
    ppu->x_va = ppu_memory_va(ppu->x, ppu->context).va;
    ppu->y_va = ppu_memory_va(ppu->y, ppu->context).va;
    ppu->vram_va = ppu_memory_va(ppu->vram, ppu->context).va;
}

static void ppu_end(struct ppu *ppu)
{
    TRY(ppu_channel_destroy(ppu->channel));
    for (uint32_t i = 0; i < STREAMS; i++) {
        ppu_stream_destroy(ppu->streams[i]);
    }
    ppu_program_unload(ppu->program);
    TRY(ppu_memory_free(ppu->x));
    TRY(ppu_memory_free(ppu->y));
    TRY(ppu_memory_free(ppu->vram));
    TRY(ppu_context_destroy(ppu->context));
    ppu_device_close(ppu->device);
}

/* A piece: where it lies, and what becomes of it. */
struct piece {
    struct ppu_stream *stream;
    ppu_va_t x, y;         /* in system memory */
    ppu_va_t own_x, own_y; /* the stream's in VRAM */
    struct params params;
};

static struct piece piece_of(const struct ppu *ppu, uint32_t number)
{
    const uint32_t stream = number % STREAMS;
    const ppu_va_t own_x = { ppu->vram_va + 2 * stream * BYTES }, own_y = { own_x.va + BYTES };

    return (struct piece){
        .stream = ppu->streams[stream],
        .x = { ppu->x_va + number * BYTES },
        .y = { ppu->y_va + number * BYTES },
        .own_x = own_x,
        .own_y = own_y,
        .params = { own_x, own_y, FLOATS, 2.0f },
    };
}

static struct ppu_launch launch_of(const struct params *params)
{
    return (struct ppu_launch){
        .grid = { FLOATS / 256 }, .cta = { 256 }, .params = params, .param_bytes = sizeof(*params)
    };
}

static void as_one_task(const struct ppu *ppu, const struct piece *piece)
{
    const struct ppu_launch launch = launch_of(&piece->params);
    struct ppu_block *block;

    TRY(ppu_block_begin(ppu->channel, &block));
    ppu_block_commands(block, piece->stream);
    ppu_block_copy(block, piece->own_x, piece->x, BYTES);
    ppu_block_copy(block, piece->own_y, piece->y, BYTES);
    ppu_block_launch(block, piece->stream, ppu->saxpy, &launch);
    ppu_block_copy(block, piece->y, piece->own_y, BYTES);
    ppu_block_commands_end(block);
    TRY(ppu_block_submit(block, NULL));
}

static void as_four_tasks(const struct ppu *ppu, const struct piece *piece)
{
    const struct ppu_launch launch = launch_of(&piece->params);

    TRY(ppu_stream_copy(piece->stream, piece->own_x, piece->x, BYTES, NULL));
    TRY(ppu_stream_copy(piece->stream, piece->own_y, piece->y, BYTES, NULL));
    TRY(ppu_stream_launch(piece->stream, ppu->saxpy, &launch, NULL));
    TRY(ppu_stream_copy(piece->stream, piece->y, piece->own_y, BYTES, NULL));
}

static void by_cpu(const struct ppu *ppu, const struct piece *piece)
{
    const struct ppu_launch launch = launch_of(&piece->params);
    struct ppu_event event;

    TRY(ppu_stream_copy(piece->stream, piece->own_x, piece->x, BYTES, &event));
    TRY(ppu_event_wait(&event, SECONDS_60));
    TRY(ppu_stream_copy(piece->stream, piece->own_y, piece->y, BYTES, &event));
    TRY(ppu_event_wait(&event, SECONDS_60));
    TRY(ppu_stream_launch(piece->stream, ppu->saxpy, &launch, &event));
    TRY(ppu_event_wait(&event, SECONDS_60));
    TRY(ppu_stream_copy(piece->stream, piece->y, piece->own_y, BYTES, &event));
    TRY(ppu_event_wait(&event, SECONDS_60));
}

static const struct {
    const char *name;
    void (*give)(const struct ppu *ppu, const struct piece *piece);
} ways[] = {
    { "a task for each piece", as_one_task },
    { "a task for each command", as_four_tasks },
    { "the CPU waits for each command", by_cpu },
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Gives and waits; returns the time in ms. */
static double compute(const struct ppu *ppu, size_t way)
{
    double began = now_ms();

    for (uint32_t i = 0; i < PIECES; i++) {
        const struct piece piece = piece_of(ppu, i);
        ways[way].give(ppu, &piece);
    }
    for (uint32_t i = 0; i < STREAMS; i++) {
        TRY(ppu_stream_wait(ppu->streams[i], SECONDS_60));
    }
    return now_ms() - began;
}

static void fill(const struct ppu *ppu, float value)
{
    float *x = ppu_memory_host(ppu->x), *y = ppu_memory_host(ppu->y);

    for (uint32_t i = 0; i < PIECES * FLOATS; i++) {
        x[i] = (float)(i % 1000);
        y[i] = value;
    }
}

static bool is_right(const struct ppu *ppu, float value)
{
    const float *y = ppu_memory_host(ppu->y);

    for (uint32_t i = 0; i < PIECES * FLOATS; i++) {
        if (y[i] != 2.0f * (float)(i % 1000) + value) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    struct ppu ppu = { 0 };
    uint32_t wrong = 0;

    if (argc > 2) {
        fprintf(stderr, "usage: pieces [KERNELS]\n");
        return 2;
    }
    ppu_begin(&ppu, argc > 1 ? argv[1] : "build/kernels/saxpy.ppu");
    printf("%u pieces of %u floats, each copied to the PPU, computed, and copied back\n", PIECES, FLOATS);
    (void)compute(&ppu, 0); /* memory that is touched for the first time takes longer */
    for (size_t way = 0; way < WAYS; way++) {
        fill(&ppu, (float)way);
        double ms = compute(&ppu, way);
        bool right = is_right(&ppu, (float)way);
        printf("  %-32s %8.2f ms   %s\n", ways[way].name, ms, right ? "ok" : "WRONG");
        wrong += !right;
    }
    ppu_end(&ppu);
    return wrong != 0;
}
