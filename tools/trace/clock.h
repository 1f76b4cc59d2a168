/* SPDX-License-Identifier: MIT */
/* Reads the host's clock that records of programs have. */
#ifndef TOOLS_TRACE_CLOCK_H
#define TOOLS_TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S 1000000000u
#define CLOCK_NS_PER_MS 1000000u
#define CLOCK_NS_PER_US 1000u

static inline uint64_t clock_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * CLOCK_NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
