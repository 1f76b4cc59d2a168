/* SPDX-License-Identifier: MIT */
/* Says where OpenCL tests on the joined machine compile. */
#ifndef TESTS_OPENCL_COMPILER_JOINED_H
#define TESTS_OPENCL_COMPILER_JOINED_H

#include <stdbool.h>

/*
 * Whether bitcode is compiled within the test's process, where sanitizers look at it: yes, but not with the thread
 * sanitizer (tests/opencl/apart.h). A test whose threads compile beside each other defines the function, and says yes.
 */
bool compiler_joined_within(void);
/* It is not from now on, or as that function says again. */
void compiler_joined_apart(bool apart);

#endif
