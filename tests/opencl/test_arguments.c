/* SPDX-License-Identifier: MIT */
/* Tests kernels with more arguments than a task's parameters have room for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define N 64u
#define ROWS 25000u /* ints of a structure: 100,000 bytes */

static const char text[] = "struct large { int a[25000]; };\n"
                           "kernel void k(global int *o, struct large s, int n) {\n"
                           "  int i = get_global_id(0);\n"
                           "  o[i] = s.a[i * 390] + s.a[24999] + n;\n"
                           "}\n";

static void fill(cl_int values[ROWS], cl_int seed)
{
    for (cl_int i = 0; i < (cl_int)ROWS; i++) {
        values[i] = seed * 1000003 + i * 7;
    }
}

static void expect(const cl_int out[N], cl_int seed, cl_int n)
{
    for (cl_int i = 0; i < (cl_int)N; i++) {
        assert_int_equal(out[i], 2 * seed * 1000003 + i * 390 * 7 + ((cl_int)ROWS - 1) * 7 + n);
    }
}

/* Of each launch as they were when it was enqueued; those of a clone are its own. */
static void blocks_are_captured(void **state)
{
    enum { LAUNCHES = 6 };
    struct fixture *f = *state;
    cl_int *values = malloc(ROWS * sizeof(cl_int)), error;
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_mem buffer[LAUNCHES];
    const size_t size = N;

    assert_non_null(values);
    for (cl_int l = 0; l < LAUNCHES; l++) {
        buffer[l] = fixture_buffer(f, 0, N * sizeof(cl_int), NULL);
        fill(values, l);
        check(clSetKernelArg(kernel, 0, sizeof(buffer[l]), &buffer[l]));
        check(clSetKernelArg(kernel, 1, ROWS * sizeof(cl_int), values));
        check(clSetKernelArg(kernel, 2, sizeof(l), &l));
        cl_kernel clone = clCloneKernel(kernel, &error);
        check(error);
        fill(values, -1);
        check(clSetKernelArg(l % 2 ? clone : kernel, 1, ROWS * sizeof(cl_int), values));
        check(clEnqueueNDRangeKernel(l % 3 ? f->loose : f->queue, l % 2 ? kernel : clone, 1, NULL, &size, NULL, 0, NULL,
                                     NULL));
        check(clReleaseKernel(clone));
    }
    check(clFinish(f->loose));
    for (cl_int l = 0; l < LAUNCHES; l++) {
        cl_int out[N];
        check(clEnqueueReadBuffer(f->queue, buffer[l], CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
        expect(out, l, l);
        check(clReleaseMemObject(buffer[l]));
    }
    check(clReleaseKernel(kernel));
    free(values);
}

/* As many of each kind as are told, one behind the other; the last buffer is written through. */
static void as_many_arguments_as_are_told(void **state)
{
    struct fixture *f = *state;
    size_t told = 0, len;
    char *source = NULL;
    FILE *file = open_memstream(&source, &len);
    const size_t one = 1;

    assert_non_null(file);
    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_PARAMETER_SIZE, sizeof(told), &told, NULL));
    assert_true(told > PPU_MAX_PARAM);
    const cl_uint count = (cl_uint)((told - sizeof(cl_mem)) / sizeof(cl_long16));
    fprintf(file, "kernel void k(");
    for (cl_uint i = 0; i < count; i++) {
        fprintf(file, "long16 a%u, ", i);
    }
    fprintf(file, "global long *o) { long16 s = 0;\n");
    for (cl_uint i = 0; i < count; i++) {
        fprintf(file, "s = s * 3 + a%u;\n", i);
    }
    fprintf(file, "o[0] = s.s3; o[1] = s.sf; }\n");
    fclose(file);
    cl_kernel kernel = fixture_kernel(f, source, "k");
    cl_ulong wanted[2] = { 0, 0 }, got[2];
    for (cl_uint i = 0; i < count; i++) {
        cl_ulong value[16];
        for (cl_uint e = 0; e < 16; e++) {
            value[e] = (cl_ulong)(i + 1) * (e + 5) * 1000003u;
        }
        wanted[0] = wanted[0] * 3 + value[3];
        wanted[1] = wanted[1] * 3 + value[15];
        check(clSetKernelArg(kernel, i, sizeof(value), value));
    }
    cl_mem buffer = fixture_buffer(f, 0, sizeof(got), NULL);
    check(clSetKernelArg(kernel, count, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    assert_true(got[0] == wanted[0] && got[1] == wanted[1]);
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    free(source);
}

/* As much as an allocation may have, when a buffer has all of that. */
static void no_memory_is_left(void **state)
{
    struct fixture *f = *state;
    char source[200];
    cl_ulong largest = 0;
    cl_int status = CL_SUCCESS;
    cl_event event = NULL;
    const size_t one = 1;

    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest, NULL));
    const size_t bytes = largest - PPU_KIB;
    snprintf(source, sizeof(source),
             "struct s { char c[%zuul]; }; kernel void k(struct s s, global char *o) { o[0] = s.c[get_global_id(0)]; }",
             bytes);
    cl_kernel kernel = fixture_kernel(f, source, "k");
    void *value = calloc(1, bytes);
    cl_mem buffer = fixture_buffer(f, 0, largest, NULL);
    assert_non_null(value);
    assert_int_equal(clSetKernelArg(kernel, 0, bytes - 1, value), CL_INVALID_ARG_SIZE);
    check(clSetKernelArg(kernel, 0, bytes, value));
    check(clSetKernelArg(kernel, 1, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, &event));
    assert_int_equal(clFinish(f->queue), CL_OUT_OF_RESOURCES);
    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_OUT_OF_RESOURCES);
    check(clReleaseEvent(event));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    free(value);
}

/* The build says which kernel has more than any launch finds, and which more than any object may have. */
static void more_than_any_object_is_refused(void **state)
{
    struct fixture *f = *state;
    static const char *const sources[] = {
        "struct s { char c[0xffff0000ul]; }; kernel void large(struct s s, global char *o) { o[0] = s.c[0]; }",
        "struct s { char c[0xffff0001ul]; }; kernel void huge(struct s s, global char *o) { o[0] = s.c[0]; }",
        ("struct s { char c[0xfffe0000ul]; }; kernel void huge(struct s s, struct s t, global char *o)\n"
         "{ o[0] = s.c[0] + t.c[0]; }"),
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(sources); i++) {
        const char *source = sources[i];
        char log[300] = "";
        cl_int error;
        cl_program program = clCreateProgramWithSource(f->context, 1, &source, NULL, &error);
        check(error);
        error = clBuildProgram(program, 0, NULL, "", NULL, NULL);
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
        assert_int_equal(error, i == 0 ? CL_OUT_OF_RESOURCES : CL_BUILD_PROGRAM_FAILURE);
        assert_non_null(strstr(log, i == 0 ? "kernel 'large' has no room for its arguments"
                                           : "kernel 'huge' has more than 4294901760 bytes of arguments"));
        check(clReleaseProgram(program));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("arguments of 100,000 bytes are captured at each enqueue [A7]", blocks_are_captured),
        cl_test("a kernel has as many arguments as the device tells [A7]", as_many_arguments_as_are_told),
        cl_test("a launch that finds no memory for its arguments fails", no_memory_is_left),
        cl_test("a program with more than an object may have is not built", more_than_any_object_is_refused),
    };

    return cmocka_run_group_tests_name("opencl: arguments", tests, NULL, NULL);
}
