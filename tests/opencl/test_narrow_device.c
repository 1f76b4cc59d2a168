/* SPDX-License-Identifier: MIT */
/* Tests a device whose SMs have few registers: a kernel of which no warp has room is refused when it is built. */
#include <stdio.h>
#include <string.h>

#include "tests/joined/joined.h"
#include "tests/opencl/fixture.h"
#include "tests/opencl/source_joined.h"

#define SM_VREGS 8192u /* of a warp of 128 threads: 64 a thread */
#define VALUES 80u

/* All of them are read before the first is written. */
static void write_source(char *text, size_t bytes)
{
    size_t at = (size_t)snprintf(text, bytes, "kernel void wide(volatile global float *a) {\n");

    for (uint32_t i = 0; i < VALUES; i++) {
        at += (size_t)snprintf(text + at, bytes - at, "float x%u = a[%u * get_global_id(0)];\n", i, i);
    }
    for (uint32_t i = 0; i < VALUES; i++) {
        at += (size_t)snprintf(text + at, bytes - at, "a[%u] = x%u;\n", i, i);
    }
    snprintf(text + at, bytes - at, "}\n");
}

void source_joined_adjust(struct joined_options *options)
{
    options->config.sm_vregs = SM_VREGS;
}

static void refused(void **state)
{
    struct fixture *f = *state;
    char log[500] = "", source[8000];
    cl_int error = CL_SUCCESS;
    const char *text = source;

    write_source(source, sizeof(source));
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_OUT_OF_RESOURCES);
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_non_null(strstr(log, "kernel 'wide' has no room on an SM: a warp of 128 threads needs "));
    assert_null(clCreateKernel(program, "wide", &error));
    assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
    check(clReleaseProgram(program));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a kernel of which no warp has room is refused when it is built [F6]", refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
