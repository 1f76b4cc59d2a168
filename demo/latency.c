/* SPDX-License-Identifier: MIT */
#include "demo/latency.h"

#include "demo/clock.h"

#include <stdlib.h>

#define WARM_UP 20u
#define PATIENCE_US 1e6

/* Time of the first record of this type and channel, not before `from_ns`, from *number on; 0: there is none. */
static uint64_t record_ns(const struct user *user, enum ppu_trace_source source, uint32_t *number,
                          enum ppu_trace_type type, uint32_t channel_id, uint64_t from_ns)
{
    struct ppu_trace_record record;

    while (ppu_trace_read(user->device, source, number, &record, 1) == 1) {
        if (record.time_ns >= from_ns && record.type == type &&
            record.id[channel_id] == ppu_channel_index(user->channel)) {
            return record.time_ns;
        }
    }
    return 0;
}

/* A position in both traces. */
struct trace_mark {
    uint32_t device;
    uint32_t firmware;
};

static struct trace_mark trace_mark_now(const struct user *user)
{
    return (struct trace_mark){ ppu_trace_next(user->device, PPU_TRACE_OF_DEVICE),
                                ppu_trace_next(user->device, PPU_TRACE_OF_FIRMWARE) };
}

/* The wait may have found the event before its interrupt came, which is then about to. */
static double doorbell_to_irq_us(const struct user *user, struct trace_mark from)
{
    double until_us = clock_ms() * 1e3 + PATIENCE_US;
    uint64_t raised_ns = 0;
    uint64_t rung_ns = record_ns(user, PPU_TRACE_OF_DEVICE, &from.device, PPU_TRACE_DOORBELL, 0, 0);

    while (raised_ns == 0 && clock_ms() * 1e3 < until_us) {
        raised_ns = record_ns(user, PPU_TRACE_OF_FIRMWARE, &from.firmware, PPU_TRACE_INTERRUPT, 1, rung_ns);
    }
    return (double)(raised_ns - rung_ns) / 1e3;
}

enum ppu_err latency_measure(const struct user *user, uint64_t counter_va, struct latency *latency)
{
    const struct ppu_kernel *count = user_kernel(user, "count");
    const struct ppu_launch launch = {
        .grid = { 1 }, .cta = { 1 }, .params = &counter_va, .param_bytes = sizeof(counter_va)
    };
    enum ppu_err err = PPU_OK;

    for (uint32_t i = 0; i < WARM_UP + LATENCY_ROUNDS && err == PPU_OK; i++) {
        struct trace_mark before = trace_mark_now(user);
        double before_us = clock_ms() * 1e3;
        err = user_run(user, count, &launch);
        double after_us = clock_ms() * 1e3;
        if (i >= WARM_UP) {
            latency->wake_us[i - WARM_UP] = after_us - before_us;
            latency->irq_us[i - WARM_UP] = doorbell_to_irq_us(user, before);
        }
    }
    return err;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double latency_quantile(double us[LATENCY_ROUNDS], double quantile)
{
    qsort(us, LATENCY_ROUNDS, sizeof(us[0]), compare);
    return us[(uint32_t)(quantile * (LATENCY_ROUNDS - 1))];
}
