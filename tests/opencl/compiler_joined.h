/* SPDX-License-Identifier: MIT */
/* Says where OpenCL tests on the joined machine compile. */
#ifndef TESTS_OPENCL_COMPILER_JOINED_H
#define TESTS_OPENCL_COMPILER_JOINED_H

#include <stdbool.h>

/*
 * Whether bitcode is compiled within the test's process, where sanitizers look at it: it is not (tests/opencl/apart.h),
 * as the compiler has tests of its own. One that is about compiling defines the function, and says yes.
 */
bool compiler_joined_within(void);

#endif
