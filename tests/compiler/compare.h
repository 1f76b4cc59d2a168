/* SPDX-License-Identifier: MIT */
/* Describes the kernels that are compared with code written by hand: kernels/compare.cl and compare.s. */
#ifndef TESTS_COMPILER_COMPARE_H
#define TESTS_COMPILER_COMPARE_H

#include "tests/compiler/device.h"

struct comparison {
    const char *name;
    void (*run)(struct device *device); /* of the program that is loaded; fails the test when results are wrong */
};

extern const struct comparison comparisons[];
extern const uint32_t comparison_count;

#endif
