/* SPDX-License-Identifier: MIT */
/* Finds an OpenCL platform for a benchmark that runs on any of them. What fails ends the program with a sentence. */
#ifndef TESTS_BENCH_PLATFORM_H
#define TESTS_BENCH_PLATFORM_H

#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <stddef.h>

void cl_check(cl_int error, const char *what);
/* Zeros, also where no bytes are asked for. The caller frees them. */
void *cl_allocate(size_t bytes);
/* The first device of the platform with these words in its name. */
cl_device_id cl_find_device(const char *platform);
/* Of a clock that only goes forward. */
double seconds_now(void);

#endif
