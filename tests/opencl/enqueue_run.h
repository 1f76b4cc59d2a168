/* SPDX-License-Identifier: MIT */
/* Builds and runs a kernel that enqueues, and reads what it and what it enqueued left in memory. */
#ifndef TESTS_OPENCL_ENQUEUE_RUN_H
#define TESTS_OPENCL_ENQUEUE_RUN_H

#include "tests/opencl/fixture.h"

#define WORDS 4096u
#define CL3 "-cl-std=CL3.0"
#define NO_WAIT "CLK_ENQUEUE_FLAGS_NO_WAIT"

/* A device's queue, and a kernel `k(global int *out)` with a buffer of zeros. */
struct run {
    struct fixture *f;
    cl_command_queue device_queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
    cl_int out[WORDS];
};

cl_command_queue run_default_queue(struct fixture *f);
struct run *run_prepare(struct fixture *f, const char *source, const char *options);
/* Returns the command's status, with the buffer in `out`. */
cl_int run_launch(struct run *run, size_t items, size_t group);
void run_finish(struct run *run);
/* Prepares it, and runs it without an error. `state` is cmocka's, a fixture. */
struct run *run_done(void **state, const char *source, const char *options, size_t items, size_t group);

#endif
