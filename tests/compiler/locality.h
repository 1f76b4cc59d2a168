/* SPDX-License-Identifier: MIT */
/* Kernels whose waves work on more than the first-level cache holds, kernels/locality.cl, with caches modelled (D8). */
#ifndef TESTS_COMPILER_LOCALITY_H
#define TESTS_COMPILER_LOCALITY_H

#include "tests/compiler/device.h"

extern const char *const locality_kernels[];
extern const uint32_t locality_count;

/* What a run counted on all SMs. */
struct locality_cost {
    double miss_rate; /* of the lines that loads looked for in the first level */
    double parts;     /* of the segments that left their mode open, those that ran part by part */
};

/* A device with the default caches and the program of these kernels, whose segments leave their mode open. */
struct device *locality_device_new(void);
/* Runs a kernel, segments in the mode; the test fails when the results are not the host's. */
struct locality_cost locality_run(struct device *device, uint32_t kernel, enum ppu_tmd_mode mode);

#endif
