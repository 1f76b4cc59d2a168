/* SPDX-License-Identifier: MIT */
#include "tests/bench/crowd.h"

#define SEM_AT 32768u /* in the bench's memory: stays 0 */

void crowd_begin(struct crowd *crowd, struct bench *bench)
{
    crowd->bench = bench;
    bench_need(ppu_channel_create(bench->context, NULL, &crowd->holder), "channel of the crowd");
    for (uint32_t i = 0; i < BENCH_WAITING; i++) {
        bench_need(ppu_stream_create(crowd->holder, &crowd->stream[i]), "stream of the crowd");
    }
}

static struct ppu_channel *parked(struct bench *bench)
{
    const struct ppu_channel_options options = { .entries = 4 };
    struct ppu_channel *channel = NULL;
    struct ppu_block *block = NULL;

    bench_need(ppu_channel_create(bench->context, &options, &channel), "channel of the crowd");
    bench_need(ppu_block_begin(channel, &block), "block");
    ppu_block_acquire(block, (ppu_va_t){ bench->va + SEM_AT }, 1, PPU_SEM_EQUAL);
    bench_need(ppu_block_submit(block, NULL), "acquire");
    return channel;
}

/* The first task of each TMDQ waits for ever, and those behind it for the first. */
static void hold(struct crowd *crowd, uint32_t number)
{
    struct bench *bench = crowd->bench;
    const uint64_t params[] = { bench->va, bench->va + 64 };
    const struct ppu_launch first = { .grid = { 1 }, .cta = { 1 } };
    const struct ppu_launch behind = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    struct ppu_stream *stream = crowd->stream[number % BENCH_WAITING];

    bench_need(number < BENCH_WAITING ? ppu_stream_launch(stream, bench_kernel(bench->pressure, "hold"), &first, NULL)
                                      : ppu_stream_launch(stream, bench->kernel, &behind, NULL),
               "task of the crowd");
}

void crowd_grow(struct crowd *crowd, uint32_t size)
{
    for (; crowd->size < size; crowd->size++) {
        crowd->channel[crowd->size] = parked(crowd->bench);
        if (crowd->size < CROWD_TASKS) {
            hold(crowd, crowd->size);
        }
    }
}

void crowd_end(struct crowd *crowd)
{
    for (uint32_t i = 0; i < crowd->size; i++) {
        bench_need(ppu_channel_destroy(crowd->channel[i]), "end of a channel of the crowd");
    }
    bench_need(ppu_channel_destroy(crowd->holder), "end of the crowd");
    for (uint32_t i = 0; i < BENCH_WAITING; i++) {
        bench_need(ppu_stream_destroy(crowd->stream[i]), "end of a stream of the crowd");
    }
}
