/* SPDX-License-Identifier: MIT */
/* Measures how long the smallest launch takes, from the doorbell on. */
#ifndef DEMO_LATENCY_H
#define DEMO_LATENCY_H

#include "demo/user.h"

#define LATENCY_ROUNDS 200u

struct latency {
    double irq_us[LATENCY_ROUNDS];  /* doorbell written to interrupt raised: the device's trace, the device's clock */
    double wake_us[LATENCY_ROUNDS]; /* submit to the return of the wait: this process's clock */
};

/* Launches one thread LATENCY_ROUNDS times, each after the one before has ended. `counter`: a word it may count in. */
enum ppu_err latency_measure(const struct user *user, uint64_t counter_va, struct latency *latency);

/* The value that a share `quantile` of the rounds does not exceed. Sorts. */
double latency_quantile(double us[LATENCY_ROUNDS], double quantile);

#endif
