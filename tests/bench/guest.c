/* SPDX-License-Identifier: MIT */
/*
 * Measures the time from the doorbell of the smallest launch to its interrupt, in the guest.
 *
 * usage: guest KERNELS
 */
#include <stdio.h>

#include "demo/latency.h"
#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "tests/bench/bench.h"

#define ROUNDS 5u
#define MEMORY_BYTES (64ull * PPU_MIB)

/* Each time from new pages. */
static void system_memory(const struct user *user)
{
    double ms[ROUNDS];

    for (uint32_t i = 0; i < ROUNDS; i++) {
        struct ppu_memory *memory = NULL;
        uint64_t before_ns = clock_ns();
        bench_need(ppu_memory_create(user->context, PPU_MEMORY_SYSTEM, MEMORY_BYTES, &memory), "system memory");
        ms[i] = (double)(clock_ns() - before_ns) / NS_PER_MS;
        bench_need(ppu_memory_free(memory), "memory");
    }
    bench_row("guest.system_64mib_ms", bench_quantile(ms, ROUNDS, 0.5), "ms", 0,
              "64 MiB of system memory made visible; median of 5");
}

int main(int argc, char **argv)
{
    struct ppu_device *device = NULL;
    struct latency latency;
    struct user user;
    char note[128];

    bench_need(argc == 2 ? PPU_OK : PPU_ERR_BAD_ARG, "usage: guest KERNELS");
    bench_need(ppu_open(&device, NULL), "device");
    user_open(&user, device, argv[1]);
    struct ppu_memory *counter = user_memory(&user, PPU_MEMORY_VRAM, sizeof(uint32_t));
    bench_need(latency_measure(&user, user_va(&user, counter), &latency), "launches");
    snprintf(note, sizeof(note), "median of %u launches of one thread, by the device's clock; 99 in 100 below %.0f us",
             LATENCY_ROUNDS, latency_quantile(latency.irq_us, 0.99));
    bench_row("guest.doorbell_to_irq_us", latency_quantile(latency.irq_us, 0.5), "us", 0, note);
    bench_row("guest.submit_to_wake_us", latency_quantile(latency.wake_us, 0.5), "us", 0,
              "the same launches: submit to the return of the wait");
    bench_need(ppu_memory_free(counter), "memory");
    system_memory(&user);
    user_close(&user);
    ppu_device_close(device);
    return 0;
}
