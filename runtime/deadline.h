/* SPDX-License-Identifier: MIT */
/* Computes deadlines, up to which something is waited for, on the monotonic clock of this process. */
#ifndef RUNTIME_DEADLINE_H
#define RUNTIME_DEADLINE_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000ull
#define NS_PER_MS 1000000ull
#define NS_PER_US 1000ull

static inline uint64_t clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Saturates: a timeout that never ends is one. */
static inline uint64_t deadline_after(uint64_t timeout_ns)
{
    uint64_t now = clock_ns();

    return timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
}

/* 0 when it has passed. */
static inline uint64_t deadline_left(uint64_t deadline_ns)
{
    uint64_t now = clock_ns();

    return deadline_ns > now ? deadline_ns - now : 0;
}

static inline void sleep_ns(uint64_t ns)
{
    struct timespec time = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };

    nanosleep(&time, NULL);
}

#endif
