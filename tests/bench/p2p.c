/* SPDX-License-Identifier: MIT */
/* Measures copies between two PPUs of one machine over the bus, beside a copy by the host's processor. */
#include <stdio.h>
#include <string.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "runtime/deadline.h"
#include "tests/bench/bench.h"

#define BYTES (64ull * PPU_MIB)
#define ROUNDS 9u
#define GB 1e9

struct end {
    struct ppu_device *device;
    struct ppu_context *context;
    struct ppu_channel *channel;
    struct ppu_stream *stream;
    struct ppu_memory *memory;
};

static struct end end_open(struct ppu_machine *machine, uint32_t index)
{
    struct end end = { .device = NULL };
    struct ppu_transport *transport = NULL;
    struct ppu_error error;

    bench_need(ppu_machine_transport(machine, index, &transport, &error), "transport");
    bench_need(ppu_device_open(transport, NULL, &end.device, &error), "device");
    bench_need(ppu_context_create(end.device, &end.context), "context");
    bench_need(ppu_channel_create(end.context, NULL, &end.channel), "channel");
    bench_need(ppu_stream_create(end.channel, &end.stream), "stream");
    bench_need(ppu_memory_create(end.context, PPU_MEMORY_VRAM, BYTES, &end.memory), "memory");
    memset(ppu_memory_host(end.memory), (int)index + 1, BYTES);
    return end;
}

static double by_device_gbs(const struct end *end, ppu_va_t to, ppu_va_t from)
{
    struct ppu_event done;
    const uint64_t before_ns = clock_ns();

    bench_need(ppu_stream_copy(end->stream, to, from, BYTES, &done), "copy");
    bench_need(ppu_event_wait(&done, BENCH_WAIT_NS), "wait");
    return (double)BYTES / (double)(clock_ns() - before_ns) * NS_PER_S / GB;
}

static double by_host_gbs(const struct end *to, const struct end *from)
{
    const uint64_t before_ns = clock_ns();

    memcpy(ppu_memory_host(to->memory), ppu_memory_host(from->memory), BYTES);
    return (double)BYTES / (double)(clock_ns() - before_ns) * NS_PER_S / GB;
}

int main(void)
{
    const struct ppu_machine_options options = { .ppus = 2 };
    struct ppu_machine *machine = NULL;
    struct ppu_memory *peer = NULL;
    struct ppu_error error;
    double gbs[ROUNDS], host_gbs[ROUNDS];
    char note[128];
    ppu_va_t there;

    bench_need(ppu_machine_start(&options, &machine, &error), "machine");
    const struct end far = end_open(machine, 0), near = end_open(machine, 1);
    bench_need(ppu_memory_of_peer(near.device, far.memory, &peer), "peer");
    bench_need(ppu_memory_map(peer, near.context, 0, &there), "map");
    for (uint32_t i = 0; i < ROUNDS; i++) {
        gbs[i] = by_device_gbs(&near, ppu_memory_va(near.memory, near.context), there);
        host_gbs[i] = by_host_gbs(&near, &far);
    }
    snprintf(note, sizeof(note), "64 MiB from another PPU's VRAM, by the one that wants it; the processor %.1f",
             bench_quantile(host_gbs, ROUNDS, 0.5));
    bench_row_higher("p2p.gbs", bench_quantile(gbs, ROUNDS, 0.5), "GB/s", 0, note);
    ppu_memory_free(peer);
    ppu_channel_destroy(near.channel);
    ppu_channel_destroy(far.channel);
    ppu_device_close(near.device);
    ppu_device_close(far.device);
    ppu_machine_stop(machine);
    return 0;
}
