/* SPDX-License-Identifier: MIT */
/* Copies between the VRAM of two PPUs of this machine, by each of them. It checks every word, and says "both ways". */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ppu.h"

#define BYTES (3u << 20)
#define WORDS (BYTES / sizeof(uint32_t))
#define WAIT_NS 30000000000ull
#define PPUS 2u

struct end {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_memory *memory, *peer;
};

static void need(enum ppu_err err, const char *what)
{
    if (err != PPU_OK) {
        fprintf(stderr, "%s: %s: %s\n", what, ppu_error_name(err), ppu_error_text(err));
        exit(1);
    }
}

static void end_open(struct end *end)
{
    struct ppu_transport *transport = NULL;
    struct ppu_error error = { .code = PPU_OK };

    need(ppu_vfio_transport(NULL, &transport, &error), error.text);
    need(ppu_device_open(transport, NULL, &end->device, &error), error.text);
    need(ppu_context_create(end->device, &end->context), "context");
    need(ppu_channel_create(end->context, NULL, &end->channel), "channel");
    need(ppu_stream_create(end->channel, &end->stream), "stream");
    need(ppu_memory_create(end->context, PPU_MEMORY_VRAM, BYTES, &end->memory), "memory");
}

static uint32_t word(uint32_t seed, uint32_t i)
{
    return (seed << 24) ^ (i * 2654435761u);
}

/* By `end`: all of the other's memory into its own, or the other way. */
static void copy(const struct end *end, int fetches)
{
    const ppu_va_t own = ppu_memory_va(end->memory, end->context), peer = ppu_memory_va(end->peer, end->context);
    struct ppu_event done;

    need(ppu_stream_copy(end->stream, fetches ? own : peer, fetches ? peer : own, BYTES, &done), "copy");
    need(ppu_event_wait(&done, WAIT_NS), "wait for the copy");
}

static void check(const struct end *end, uint32_t seed)
{
    const uint32_t *words = ppu_memory_host(end->memory);

    for (uint32_t i = 0; i < WORDS; i++) {
        if (words[i] != word(seed, i)) {
            fprintf(stderr, "word %" PRIu32 " is 0x%08" PRIx32 " instead of 0x%08" PRIx32 "\n", i, words[i],
                    word(seed, i));
            exit(1);
        }
    }
}

static void fill(const struct end *end, uint32_t seed)
{
    uint32_t *words = ppu_memory_host(end->memory);

    for (uint32_t i = 0; i < WORDS; i++) {
        words[i] = word(seed, i);
    }
}

int main(void)
{
    struct end end[PPUS] = { 0 };
    ppu_va_t va;

    for (uint32_t i = 0; i < PPUS; i++) {
        end_open(&end[i]);
    }
    for (uint32_t i = 0; i < PPUS; i++) {
        need(ppu_memory_of_peer(end[i].device, end[1 - i].memory, &end[i].peer), "reach the peer");
        need(ppu_memory_map(end[i].peer, end[i].context, 0, &va), "map the peer's memory");
    }
    for (uint32_t i = 0; i < PPUS; i++) {
        fill(&end[1 - i], 2 * i + 1);
        copy(&end[i], 1);
        check(&end[i], 2 * i + 1);
        fill(&end[i], 2 * i + 2);
        copy(&end[i], 0);
        check(&end[1 - i], 2 * i + 2);
    }
    for (uint32_t i = 0; i < PPUS; i++) {
        need(ppu_memory_free(end[i].peer), "let the peer go");
    }
    puts("both ways");
    return 0;
}
