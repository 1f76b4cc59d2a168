/* SPDX-License-Identifier: MIT */
/*
 * Timers on the one hardware timer: a binary heap ordered by deadline, so that
 * starting and stopping take at most log2(TIMERS_MAX) steps.
 */
#ifndef FIRMWARE_TIMER_H
#define FIRMWARE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "ppu/taskq.h"

/* A watchdog a slot, a retest a channel, one a queue, one each of slices, the admin queue, ranks and shares. */
#define TIMERS_MAX (PPU_MAX_SLOTS + PPU_MAX_CHANNELS + PPU_TASKQS + 4u)

#define TIMER_NS_PER_US 1000ull
#define TIMER_NS_PER_MS 1000000ull
#define TIMER_NS_PER_S 1000000000ull

struct timer {
    uint64_t deadline_ns;
    void (*fire)(struct timer *timer); /* called once, from timers_run(); the timer is stopped then */
    uint32_t heap_index;               /* in the heap, from 1; 0: not running */
};

void timers_init(void);

/* Runs from now; a timer that runs already is moved. */
void timer_start(struct timer *timer, uint64_t delay_ns);
void timer_stop(struct timer *timer);

/* Fires what is due, at most `most` timers, and sets the hardware for the next. True: more are due. */
bool timers_run(uint32_t most);

#endif
