/* SPDX-License-Identifier: MIT */
/* Gives the OpenCL tests what they share: a context of the device and queues of both orders. */
#ifndef TESTS_OPENCL_FIXTURE_H
#define TESTS_OPENCL_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_2_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_gl.h>

struct fixture {
    cl_platform_id platform;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue; /* in order, with times */
    cl_command_queue loose; /* out of order */
};

int fixture_setup(void **state);
int fixture_teardown(void **state);

/* How often something is done; with a sanitizer, which takes ten times as long and sees it at once, less often. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CL_ROUNDS(usual, sanitized) (sanitized)
#else
#define CL_ROUNDS(usual, sanitized) (usual)
#endif

#define cl_test(name, function)                               \
    {                                                         \
        name, function, fixture_setup, fixture_teardown, NULL \
    }

/* Fails the test when it is not CL_SUCCESS. */
#define check(expression) assert_int_equal((expression), CL_SUCCESS)

cl_mem fixture_buffer(struct fixture *fixture, cl_mem_flags flags, size_t bytes, void *host);
/* A kernel of a program in OpenCL C 3.0; the caller releases it. */
cl_kernel fixture_kernel(struct fixture *fixture, const char *text, const char *name);
cl_kernel fixture_kernel_with(struct fixture *fixture, const char *text, const char *name, const char *options);
/* Random numbers: seed from PPU_SEED, printed. */
uint64_t fixture_seed(void);
uint32_t fixture_random(uint64_t *state);

#endif
