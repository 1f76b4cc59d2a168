/* SPDX-License-Identifier: MIT */
/* Tells the process's time, for what the demo measures. */
#ifndef DEMO_CLOCK_H
#define DEMO_CLOCK_H

#include <time.h>

static inline double clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

#endif
