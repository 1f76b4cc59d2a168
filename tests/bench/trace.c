/* SPDX-License-Identifier: MIT */
/* Measures how fast flight recorders are followed into a record, and writes a large record to measure others with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/trace/clock.h"
#include "tools/trace/follow.h"
#include "tools/trace/record_file.h"

#define RING 16384u /* records, as the device's recorder has */
#define LAPS 500u
#define TASK_CTAS 4096u
#define SMS 8u
#define ROUND (4 * SMS) /* CTAs that begin together */
#define STEP_NS 50u

static struct {
    struct ppu_trace_ring head;
    struct ppu_trace_record record[RING];
} ring = { .head = { .head = { PPU_TRACE_VERSION, sizeof(struct ppu_trace_record) }, .size = RING } };

/* The n-th record of a device: as many CTAs as four for each SM begin, then end, and so on. */
static struct ppu_trace_record cta_record(uint32_t n)
{
    return (struct ppu_trace_record){
        .version = PPU_TRACE_VERSION,
        .size_bytes = sizeof(struct ppu_trace_record),
        .type = n % (2 * ROUND) < ROUND ? PPU_TRACE_CTA_START : PPU_TRACE_CTA_END,
        .correlation = 1 + n / (2 * TASK_CTAS),
        .time_ns = (uint64_t)n * STEP_NS,
        .id = { n % SMS, 0, n / (2 * ROUND) * (ROUND) + n % (ROUND) },
        .sequence = n,
    };
}

/* Records a second, from the recorder to the file. */
static double follow_rate(FILE *file)
{
    static struct ppu_trace_record batch[RING];
    const struct record_events told = { RECORD_OF_DEVICE, 0 };
    struct follow follow;
    uint64_t taken_ns = 0, records = 0;

    follow_begin(&follow, &ring.head, RING, true);
    for (uint32_t lap = 0; lap < LAPS; lap++) {
        for (uint32_t i = 0; i < RING; i++) {
            ring.record[i] = cta_record(lap * RING + i);
        }
        ring.head.tail = (lap + 1) * RING;
        uint64_t lost = 0, before_ns = clock_now_ns();
        uint32_t count = follow_read(&follow, before_ns, batch, RING, &lost);
        bool written = record_write(file, RECORD_EVENTS, &told, sizeof(told), batch, count * sizeof(batch[0]));
        taken_ns += clock_now_ns() - before_ns;
        records += count;
        if (!written || lost != 0) {
            fprintf(stderr, "follow a recorder: %llu records are lost\n", (unsigned long long)lost);
            exit(1);
        }
    }
    return (double)records * 1e9 / (double)taken_ns;
}

static bool write_firmware(FILE *file, uint32_t tasks)
{
    const struct record_events told = { RECORD_OF_FIRMWARE, 0 };
    const uint64_t task_ns = 2ull * TASK_CTAS * STEP_NS;
    bool written = true;

    for (uint32_t task = 0, n = 0; task < tasks && written; task++) {
        const uint64_t time_ns[] = { task * task_ns, task * task_ns, (task + 1) * task_ns - 1 };
        const struct ppu_trace_record records[] = {
            { .type = PPU_TRACE_LAUNCH, .id = { 0, task + 1, 0 } },
            { .type = PPU_TRACE_TASK_START, .id = { task + 1, 0, 8 } },
            { .type = PPU_TRACE_TASK_END, .id = { task + 1, 0, 0 } },
        };
        for (uint32_t i = 0; i < 3 && written; i++, n++) {
            struct ppu_trace_record record = records[i];
            record.version = PPU_TRACE_VERSION;
            record.size_bytes = sizeof(record);
            record.correlation = task + 1;
            record.time_ns = time_ns[i];
            record.sequence = n;
            written = record_write(file, RECORD_EVENTS, &told, sizeof(told), &record, sizeof(record));
        }
    }
    return written;
}

/* A record of so many records of CTAs. */
static bool write_large(FILE *file, uint32_t count)
{
    const struct record_process process = { 0, 1 };
    const struct record_device device = { .sms = SMS, .slots = 16, .sm_ctas = 32, .sm_warps = 64, .sm_vregs = 65536 };
    const struct record_events told = { RECORD_OF_DEVICE, 0 };
    const struct record_end end = { 0, (uint64_t)count * STEP_NS };
    bool written = record_begin(file) && record_write(file, RECORD_PROCESS, &process, sizeof(process), "bench", 5) &&
                   record_write(file, RECORD_DEVICE, &device, sizeof(device), NULL, 0) &&
                   write_firmware(file, count / (2 * TASK_CTAS) + 1);

    for (uint32_t n = 0; n < count && written; n++) {
        ring.record[n % RING] = cta_record(n);
        uint32_t full = n % RING + 1;
        if (full == RING || n + 1 == count) {
            written =
                record_write(file, RECORD_EVENTS, &told, sizeof(told), ring.record, full * sizeof(ring.record[0]));
        }
    }
    return written && record_write(file, RECORD_END, &end, sizeof(end), NULL, 0) && fflush(file) == 0;
}

/* bench-trace FILE: follows into it, and says how fast. bench-trace FILE COUNT: writes a record. */
int main(int argc, char **argv)
{
    FILE *file = argc > 1 ? fopen(argv[1], "w") : NULL;

    if (!file) {
        fputs("Usage: bench-trace FILE [RECORDS]\n", stderr);
        return 2;
    }
    if (argc > 2) {
        return write_large(file, (uint32_t)strtoul(argv[2], NULL, 10)) && fclose(file) == 0 ? 0 : 1;
    }
    printf("%.0f\n", follow_rate(file));
    return fclose(file) == 0 ? 0 : 1;
}
