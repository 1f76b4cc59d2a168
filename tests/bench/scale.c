/* SPDX-License-Identifier: MIT */
/*
 * Measures what a large PPU costs that has nothing to do: start-up to the first launch, and memory of the host. Both
 * beside a PPU of the default size, as they are to grow with what is used, not with what is possible.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "runtime/deadline.h"
#include "runtime/native/machine.h"
#include "tests/bench/bench.h"

#define ROUNDS 5u
#define LARGEST "sms=256,gpcs=64,channels=4096,contexts=256,slots=64"
#define LARGEST_VRAM "64G"

/* What nobody but the process has, and VRAM, whose pages are the client's as well. */
static double memory_mib(const struct ppu_machine *machine)
{
    char path[64], line[256];
    unsigned long kib = 0, sum = 0;

    snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)machine->process.pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "Private_Dirty: %lu kB", &kib) == 1 || sscanf(line, "Shared_Dirty: %lu kB", &kib) == 1) {
            sum += kib;
        }
    }
    if (file) {
        fclose(file);
    }
    return (double)sum / 1024;
}

struct cost {
    double start_ms, idle_mib;
};

static struct cost cost_of(const char *ppu, const char *vram)
{
    static const char *const one_thread[] = { "--sm-threads", "1", NULL };

    bench_need((vram ? setenv("PPU_VRAM", vram, 1) : unsetenv("PPU_VRAM")) == 0 ? PPU_OK : PPU_ERR_NO_MEMORY,
               "choose VRAM");
    const uint64_t before_ns = clock_ns();
    struct bench bench = { 0 };
    struct ppu_event event;

    bench_open(&bench, ppu, one_thread);
    const uint64_t params[] = { bench.va, bench.va + 64 };
    const struct ppu_launch launch = { .grid = { 1 }, .cta = { 1 }, .params = params, .param_bytes = sizeof(params) };
    bench_need(ppu_stream_launch(bench.stream, bench.kernel, &launch, &event), "launch");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
    const double start_ms = (double)(clock_ns() - before_ns) / NS_PER_MS, idle_mib = memory_mib(bench.machine);
    bench_close(&bench);
    return (struct cost){ start_ms, idle_mib };
}

int main(void)
{
    double start_ms[2][ROUNDS], idle_mib[2][ROUNDS];
    static const char *const shapes[2] = { NULL, LARGEST };
    char note[160];

    for (uint32_t i = 0; i < ROUNDS; i++) {
        for (uint32_t large = 0; large < 2; large++) {
            const struct cost cost = cost_of(shapes[large], large != 0 ? LARGEST_VRAM : NULL);
            start_ms[large][i] = cost.start_ms;
            idle_mib[large][i] = cost.idle_mib;
        }
    }
    snprintf(note, sizeof(note),
             "256 SMs, 4,096 channels, 64 GiB: start to the end of the first launch; default PPU %.0f",
             bench_quantile(start_ms[0], ROUNDS, 0.5));
    bench_row("scale.sms_256_start_ms", bench_quantile(start_ms[1], ROUNDS, 0.5), "ms", 250, note);
    snprintf(note, sizeof(note), "memory of the same PPU's process after that launch; default PPU %.1f",
             bench_quantile(idle_mib[0], ROUNDS, 0.5));
    bench_row("scale.idle_mib", bench_quantile(idle_mib[1], ROUNDS, 0.5), "MiB", 64, note);
    return 0;
}
