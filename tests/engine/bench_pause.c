/* SPDX-License-Identifier: MIT */
/*
 * Measures how long core_pause() waits at most for an SM whose kernel is as slow to stop as any: a row for
 * tests/bench/run.
 */
#define _POSIX_C_SOURCE 200809L /* clocks */

#include "tests/engine/worst.h"

#include <stdio.h>
#include <time.h>

#define PAUSES 60u
#define BUDGET_MS 10

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The longest but two, which the host's other work may have made long. */
static double worst_ms(struct rig *rig)
{
    const struct timespec nap = { 0, 3000000 };
    double most[3] = { 0 };

    for (uint32_t i = 0; i < PAUSES; i++) {
        nanosleep(&nap, NULL);
        double begin = now_ms();
        core_pause(rig->board->core);
        double ms = now_ms() - begin;
        core_resume(rig->board->core);
        for (uint32_t n = 0; n < 3; n++) {
            if (ms > most[n]) {
                const double less = most[n];
                most[n] = ms;
                ms = less;
            }
        }
    }
    return most[2];
}

int main(void)
{
    const struct worst *slowest = &worsts[0];
    double most = 0;

    for (uint32_t i = 0; i < WORSTS; i++) {
        struct rig *rig = worst_rig(&worsts[i], 1);

        worst_start(rig, &worsts[i]);
        double ms = worst_ms(rig);
        if (ms > most) {
            most = ms;
            slowest = &worsts[i];
        }
        rig_free(rig);
    }
    printf(
        "{\"name\": \"engine.pause_ms.worst\", \"value\": %.4g, \"unit\": \"ms\", \"better\": \"lower\", \"budget\": %d, "
        "\"note\": \"what a stop waits for an SM at most, of %u kernels the slowest to stop: %s\"}\n",
        most, BUDGET_MS, WORSTS, slowest->name);
    return 0;
}
