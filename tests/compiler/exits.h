/* SPDX-License-Identifier: MIT */
/* Runs the kernels of tests/compiler/kernels/exits.cl and checks what they compute. */
#ifndef TESTS_COMPILER_EXITS_H
#define TESTS_COMPILER_EXITS_H

#include "tests/compiler/device.h"

extern const char *const exits_names[];
extern const uint32_t exits_percent[]; /* instructions that a kernel may take, of its twin's */
extern const uint32_t exits_count;

#define EXITS_THREADS 2048u /* at most, and a multiple of 128 */

/* Runs so many threads of the kernel or its twin, which device_load_file() has loaded; the test fails when a result is
 * wrong. Returns the warp instructions that it took. */
uint64_t exits_run(struct device *device, uint32_t number, bool twin, uint32_t threads);

#endif
