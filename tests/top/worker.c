/* SPDX-License-Identifier: MIT */
/*
 * Does known work on a PPU until a line comes on standard input: a context with a task on one SM, one behind it in its
 * stream, and a channel of priority 3 that waits at a semaphore; and a context with nothing but 2 MiB.
 *
 *     worker SPIN            image of tests/kernels/spin.s
 *     worker SPIN queues     the other context has a nest, a task queue and a work queue, too
 *     worker SPIN fault      a task of the other context has faulted
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu.h"

#define PRIORITY 3u
#define SEM_VALUE 42u
#define MEMORY_BYTES (2u << 20)
#define WAIT_NS (60ull * 1000000000u)

static void check(enum ppu_err err, const char *what)
{
    if (err != PPU_OK) {
        fprintf(stderr, "worker: %s: %s\n", what, ppu_error_text(err));
        exit(1);
    }
}

struct work {
    struct ppu_device *device;
    struct ppu_context *context, *other;
    struct ppu_memory *gate, *memory;
    struct ppu_program *program;
    struct ppu_channel *channel, *parked;
    struct ppu_stream *stream;
    struct ppu_event done;
};

static void open_all(struct work *work, const char *image)
{
    struct ppu_error error = { 0 };

    if (ppu_open(&work->device, &error) != PPU_OK) {
        fprintf(stderr, "worker: %s\n", error.text);
        exit(1);
    }
    check(ppu_context_create(work->device, &work->context), "make a context");
    check(ppu_context_create(work->device, &work->other), "make a context");
    check(ppu_memory_create(work->context, PPU_MEMORY_VRAM, 4096, &work->gate), "take memory");
    check(ppu_memory_create(work->other, PPU_MEMORY_VRAM, MEMORY_BYTES, &work->memory), "take memory");
    if (ppu_program_load_file(work->context, image, &work->program, &error) != PPU_OK) {
        fprintf(stderr, "worker: %s\n", error.text);
        exit(1);
    }
    check(ppu_channel_create(work->context, NULL, &work->channel), "make a channel");
    check(ppu_channel_create(work->context, &(struct ppu_channel_options){ .priority = PRIORITY }, &work->parked),
          "make a channel");
    check(ppu_stream_create(work->channel, &work->stream), "make a stream");
}

static void begin(struct work *work)
{
    const uint64_t va = ppu_memory_va(work->gate, work->context).va;
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { 64 }, .params = &va, .param_bytes = sizeof(va), .priority = PRIORITY
    };
    const struct ppu_kernel *kernel = NULL;
    struct ppu_block *block = NULL;

    check(ppu_kernel_find(work->program, "spin_until", &kernel), "find the kernel");
    check(ppu_stream_launch(work->stream, kernel, &launch, NULL), "launch");
    check(ppu_stream_launch(work->stream, kernel, &launch, NULL), "launch");
    check(ppu_block_begin(work->channel, &block), "begin");
    check(ppu_block_submit(block, &work->done), "wait for both"); /* the channel does */
    check(ppu_block_begin(work->parked, &block), "begin a block");
    ppu_block_acquire(block, (ppu_va_t){ va + 64 }, SEM_VALUE, PPU_SEM_GREATER_EQUAL);
    check(ppu_block_submit(block, NULL), "submit a block");
}

/* In the address space that does nothing else. */
static void open_queues(struct work *work)
{
    struct ppu_channel *channel = NULL;
    struct ppu_taskq *taskq = NULL;
    struct ppu_workq *workq = NULL;

    check(ppu_context_nest(work->other, &(struct ppu_nest_options){ .tasks = 64, .depth = 4 }), "make a nest");
    check(ppu_taskq_create(work->other, &(struct ppu_taskq_options){ .entries = 16, .data_bytes = 48 }, &taskq),
          "make a task queue");
    check(ppu_channel_create(work->other, NULL, &channel), "make a channel");
    check(ppu_workq_create(channel, &(struct ppu_workq_options){ .entries = 32, .block_bytes = 256 }, &workq),
          "make a work queue");
}

/* A task of that address space loads from where nothing is. */
static void fault(struct work *work, const char *image)
{
    const uint64_t nowhere = 0;
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { 1 }, .params = &nowhere, .param_bytes = sizeof(nowhere)
    };
    const struct ppu_kernel *kernel = NULL;
    struct ppu_program *program = NULL;
    struct ppu_channel *channel = NULL;
    struct ppu_stream *stream = NULL;
    struct ppu_block *block = NULL;
    struct ppu_event done;

    check(ppu_program_load_file(work->other, image, &program, NULL), "load the program");
    check(ppu_kernel_find(program, "spin_until", &kernel), "find the kernel");
    check(ppu_channel_create(work->other, NULL, &channel), "make a channel");
    check(ppu_stream_create(channel, &stream), "make a stream");
    check(ppu_block_begin(channel, &block), "begin a block");
    ppu_block_launch(block, stream, kernel, &launch);
    check(ppu_block_submit(block, &done), "submit a block");
    const enum ppu_err err = ppu_event_wait(&done, WAIT_NS);
    if (err == PPU_OK || err == PPU_ERR_TIMEOUT) {
        fprintf(stderr, "worker: wait for a task that faults: %s\n", ppu_error_text(err));
        exit(1);
    }
}

int main(int argc, char **argv)
{
    const char *const more = argc == 3 ? argv[2] : "";
    struct work work = { 0 };
    char line[16];

    if (argc != 2 && strcmp(more, "queues") != 0 && strcmp(more, "fault") != 0) {
        fprintf(stderr, "Usage: worker SPIN [queues|fault]\n");
        return 2;
    }
    open_all(&work, argv[1]);
    if (strcmp(more, "queues") == 0) {
        open_queues(&work);
    } else if (strcmp(more, "fault") == 0) {
        fault(&work, argv[1]);
    }
    begin(&work);
    printf("ready\n");
    fflush(stdout);
    if (!fgets(line, sizeof(line), stdin)) {
        return 1;
    }
    *(volatile uint32_t *)ppu_memory_host(work.gate) = 1;
    *(volatile uint32_t *)((uint8_t *)ppu_memory_host(work.gate) + 64) = SEM_VALUE;
    check(ppu_event_wait(&work.done, WAIT_NS), "wait");
    return 0;
}
