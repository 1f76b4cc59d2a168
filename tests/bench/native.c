/* SPDX-License-Identifier: MIT */
/* How long a process beside QEMU waits for the smallest kernel. */
#include <stdio.h>

#include "bench.h"
#include "deadline.h"

#define WARM_UP 200u
#define ROUNDS 2000u

int main(void)
{
    static double us[ROUNDS];
    struct bench bench = { 0 };
    char note[128];

    bench_open(&bench, NULL, NULL);
    const uint64_t params[] = { bench.va, bench.va + 64 };
    const struct ppu_launch launch = {
        .grid = { 1, 1, 1 }, .cta = { 1, 1, 1 }, .params = params, .param_bytes = sizeof(params)
    };
    for (uint32_t i = 0; i < WARM_UP + ROUNDS; i++) {
        struct ppu_event event;
        uint64_t before_ns = clock_ns();
        bench_need(ppu_stream_launch(bench.stream, bench.kernel, &launch, &event), "launch");
        bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
        if (i >= WARM_UP) {
            us[i - WARM_UP] = (double)(clock_ns() - before_ns) / 1000;
        }
    }
    double median = bench_quantile(us, ROUNDS, 0.5);
    snprintf(note, sizeof(note), "median of %u launches of one thread, submit to event; 99 in 100 below %.0f us",
             ROUNDS, bench_quantile(us, ROUNDS, 0.99));
    bench_row("native.doorbell_to_done_us", median, "us", 0, note);
    bench_close(&bench);
    return 0;
}
