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
    assert_int_equal(clBuildProgram(program, 0, NULL, "-cl-ppu-segments=off", NULL, NULL), CL_OUT_OF_RESOURCES);
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_non_null(strstr(log, "kernel 'wide' has no room on an SM: a warp of 128 threads needs "));
    assert_null(clCreateKernel(program, "wide", &error));
    assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
    check(clReleaseProgram(program));
}

/* Segments whose parts share registers make room for it, and nobody has to ask for them. */
static void makes_room(void **state)
{
    struct fixture *f = *state;
    char source[8000];

    write_source(source, sizeof(source));
    cl_kernel kernel = fixture_kernel(f, source, "wide");
    const size_t items = 128;
    float values[VALUES] = { 3 };
    cl_mem memory = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(values), values);
    const size_t zero = 0;
    check(clSetKernelArg(kernel, 0, sizeof(memory), &memory));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, &zero, &(const size_t){ 1 }, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, memory, CL_TRUE, 0, sizeof(values), values, 0, NULL, NULL));
    for (uint32_t i = 0; i < VALUES; i++) {
        assert_true(values[i] == 3);
    }
    size_t most = 0;
    check(clGetKernelWorkGroupInfo(kernel, f->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, NULL));
    assert_true(most >= items);
    check(clReleaseMemObject(memory));
    check(clReleaseKernel(kernel));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a kernel of which no warp has room is refused when it is built [F6]", refused),
        cl_test("a kernel has segments by itself, and so room on an SM [D4][D9]", makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
