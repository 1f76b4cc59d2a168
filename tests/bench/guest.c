/* SPDX-License-Identifier: MIT */
/*
 * Measures the time from the doorbell of the smallest launch to its interrupt, in the guest.
 *
 * usage: guest KERNELS
 */
#include <stdio.h>

#include "demo/latency.h"
#include "tests/bench/bench.h"

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
    snprintf(note, sizeof(note),
             "median of %u launches of one thread, by the device's clock; 99 in 100 below %.0f us; submit to wake-up "
             "%.0f us",
             LATENCY_ROUNDS, latency_quantile(latency.irq_us, 0.99), latency_quantile(latency.wake_us, 0.5));
    bench_row("guest.doorbell_to_irq_us", latency_quantile(latency.irq_us, 0.5), "us", 0, note);
    bench_need(ppu_memory_free(counter), "memory");
    user_close(&user);
    ppu_device_close(device);
    return 0;
}
