/* SPDX-License-Identifier: MIT */
/* Measures the memory of QEMU's own (anonymous, resident; VRAM and system memory are files) by the number of SMs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/native/machine.h"
#include "tests/bench/bench.h"

#define MOST_SMS 64u
#define CTAS_A_SM 32u
#define CTA_THREADS 256u
#define KIB_A_MIB 1024.0

static double resident_mib(const struct bench *bench)
{
    static const char field[] = "RssAnon:";
    char path[64], line[128];
    uint64_t kib = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)bench->machine->process.pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        if (strncmp(line, field, sizeof(field) - 1) == 0) {
            kib = strtoull(line + sizeof(field) - 1, NULL, 10);
        }
    }
    if (file) {
        fclose(file);
    }
    if (kib == 0) {
        fprintf(stderr, "%s does not tell what is resident\n", path);
        exit(1);
    }
    return (double)kib / KIB_A_MIB;
}

/* Every SM has had as many warps as it holds. */
static void fill_sms(struct bench *bench, uint32_t sms)
{
    struct ppu_memory *values; /* the kernel keeps one a thread */
    uint64_t params[] = { bench->va, 0 };
    const struct ppu_launch launch = {
        .grid = { sms * CTAS_A_SM, 1, 1 }, .cta = { CTA_THREADS, 1, 1 }, .params = params, .param_bytes = sizeof(params)
    };
    struct ppu_event event;

    bench_need(
        ppu_memory_create(bench->context, PPU_MEMORY_VRAM, sms * CTAS_A_SM * CTA_THREADS * sizeof(uint32_t), &values),
        "memory");
    params[1] = ppu_memory_va(values, bench->context).va;
    bench_need(ppu_stream_launch(bench->stream, bench->kernel, &launch, &event), "launch");
    bench_need(ppu_event_wait(&event, BENCH_WAIT_NS), "wait");
    ppu_memory_free(values);
}

static void measure(uint32_t sms)
{
    struct bench bench = { 0 };
    char ppu[64], name[64], note[128];

    snprintf(ppu, sizeof(ppu), "gpcs=1,sms=%u", sms);
    bench_open(&bench, ppu, NULL);
    double idle = resident_mib(&bench);
    fill_sms(&bench, sms);
    double used = resident_mib(&bench);
    snprintf(name, sizeof(name), "engine.memory.%u_sms_mib", sms);
    snprintf(note, sizeof(note), "resident memory of QEMU's own after a grid that fills %u SMs; %.1f before it", sms,
             idle);
    bench_row(name, used, "MiB", 0, note);
    bench_close(&bench);
}

int main(void)
{
    for (uint32_t sms = 1; sms <= MOST_SMS; sms *= 2) {
        measure(sms);
    }
    return 0;
}
