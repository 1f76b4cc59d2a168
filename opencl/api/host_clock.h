/* SPDX-License-Identifier: MIT */
/* Reads the clock of the host that only goes forward. */
#ifndef OPENCL_API_HOST_CLOCK_H
#define OPENCL_API_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t host_clock_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
