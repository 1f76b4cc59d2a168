/* SPDX-License-Identifier: MIT */
/* Describes the kernels of high pressure (kernels/pressure.cl): their data, and what they compute. */
#ifndef TESTS_COMPILER_PRESSURE_H
#define TESTS_COMPILER_PRESSURE_H

#include "tests/compiler/device.h"

struct pressure_case {
    const char *name;
    /* Describes the launch, whose results are buffer `out`, and fills its buffers. */
    void (*describe)(struct device *device);
    /* Fails the test when the results are not the host's. */
    void (*check)(const struct device *device);
    uint32_t out; /* offset of the results among the launch's buffers */
    uint32_t out_bytes;
    uint32_t grid[2], threads[2]; /* CTAs, and threads of each */
};

extern const struct pressure_case pressure_cases[];
extern const uint32_t pressure_count;
#define PRESSURE_SHA 3u /* which of them is sha256 */

/* Registers of a wave in the lanes of one part, and passes: a vector instruction one for each part, any other one. */
struct pressure_cost {
    uint32_t parts;
    uint32_t private_vregs, shared_vregs;
    double passes;
};

/*
 * Runs a kernel of the program that is loaded, on the reference executor too when it has no segments or those of the
 * form ENTER; the test fails when the two differ, or the results are not the host's. Results, malloc()ed.
 */
uint8_t *pressure_run(struct device *device, const struct pressure_case *which);
/* What it costs: of the program that is loaded, whose form of segments is ENTER or none. */
struct pressure_cost pressure_cost_of(struct device *device, const struct pressure_case *which);

#endif
