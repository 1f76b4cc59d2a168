/* SPDX-License-Identifier: MIT */
/*
 * Makes what may be present while something is measured: channels that are parked on a semaphore, and tasks that wait
 * in TMDQs.
 */
#ifndef TESTS_BENCH_CROWD_H
#define TESTS_BENCH_CROWD_H

#include "tests/bench/bench.h"

#define CROWD_MOST 4000u
#define CROWD_TASKS 1000u /* at most: there are 1,024 task records */

struct crowd {
    struct bench *bench;
    struct ppu_channel *holder; /* of the tasks */
    struct ppu_stream *stream[BENCH_WAITING];
    struct ppu_channel *channel[CROWD_MOST];
    uint32_t size;
};

void crowd_begin(struct crowd *crowd, struct bench *bench);
/* So many of both, at most CROWD_MOST and CROWD_TASKS, tasks spread over BENCH_WAITING TMDQs. None of them runs. */
void crowd_grow(struct crowd *crowd, uint32_t size);
void crowd_end(struct crowd *crowd);

#endif
