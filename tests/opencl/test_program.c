/* SPDX-License-Identifier: MIT */
/* Programs from source and from binaries, kernels, arguments, index spaces. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define N 1000u

static const char *const source =
    "__constant int table[4] = { 10, 20, 30, 40 };\n"
    "kernel void saxpy(float a, global const float *x, global float *y)\n"
    "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }\n"
    "kernel void where(global uint *out)\n"
    "{ size_t x = get_global_id(0) - get_global_offset(0), y = get_global_id(1) - get_global_offset(1);\n"
    "  out[y * get_global_size(0) + x] = (uint)(get_global_id(1) << 16 | get_global_id(0)) + table[get_work_dim()]; }\n"
    "kernel void sums(global const uint *in, global uint *out, local uint *first, local ulong *second)\n"
    "{ size_t i = get_local_id(0); first[i] = in[get_global_id(0)]; second[i] = 1;\n"
    "  barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  if (i == 0) { uint sum = 0; for (uint k = 0; k < get_local_size(0); k++) sum += first[k] * (uint)second[k];\n"
    "    out[get_group_id(0)] = sum; } }\n"
    "kernel __attribute__((reqd_work_group_size(8, 4, 1))) void fixed(global uint *out) { out[0] = 1; }\n"
    /* of an object that checks cannot know, so it faults with them, too */
    "kernel void wild(global uint *at) { *(global uint *)((ulong)at + (1ul << 32) + 4 * get_global_id(0)) = 1; }\n";

static cl_program built(struct fixture *f, const char *text, const char *options)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    char log[2000] = "";

    check(error);
    error = clBuildProgram(program, 1, &f->device, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("build: %d: %s", error, log);
    }
    return program;
}

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    check(error);
    return kernel;
}

static void run_saxpy(struct fixture *f, cl_program program)
{
    float x[N], y[N];
    const float a = 3;
    const size_t global = N;

    for (uint32_t i = 0; i < N; i++) {
        x[i] = (float)i;
        y[i] = (float)(2 * i);
    }
    cl_mem bx = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(x), x);
    cl_mem by = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(y), y);
    cl_kernel kernel = kernel_of(program, "saxpy");
    check(clSetKernelArg(kernel, 0, sizeof(a), &a));
    check(clSetKernelArg(kernel, 1, sizeof(bx), &bx));
    check(clSetKernelArg(kernel, 2, sizeof(by), &by));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clReleaseKernel(kernel));
    check(clEnqueueReadBuffer(f->queue, by, CL_TRUE, 0, sizeof(y), y, 0, NULL, NULL));
    for (uint32_t i = 0; i < N; i++) {
        assert_true(y[i] == (float)(5 * i));
    }
    check(clReleaseMemObject(bx));
    check(clReleaseMemObject(by));
}

static void source_runs(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, "-cl-std=CL1.2 -DUNUSED=1");
    char names[200] = "";
    size_t kernels = 0;

    run_saxpy(f, program);
    check(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL));
    assert_int_equal(kernels, 5);
    check(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL));
    assert_non_null(strstr(names, "saxpy"));
    check(clReleaseProgram(program));
}

static void binary_runs(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, NULL);
    size_t bytes = 0;
    cl_int status = 1, error = CL_SUCCESS;

    check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL));
    unsigned char *binary = malloc(bytes);
    check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
    check(clReleaseProgram(program));
    const unsigned char *given = binary;
    program = clCreateProgramWithBinary(f->context, 1, &f->device, &bytes, &given, &status, &error);
    check(error);
    check(status);
    run_saxpy(f, program);
    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    run_saxpy(f, program);
    check(clReleaseProgram(program));
    binary[0] ^= 1;
    assert_null(clCreateProgramWithBinary(f->context, 1, &f->device, &bytes, &given, &status, &error));
    assert_int_equal(error, CL_INVALID_BINARY);
    assert_int_equal(status, CL_INVALID_BINARY);
    free(binary);
}

static void bad_source_is_told(void **state)
{
    struct fixture *f = *state;
    const char *text = "kernel void wrong(global int *a) { a[0] = nothing; }\n";
    cl_int error = CL_SUCCESS;
    char log[2000] = "";
    cl_build_status status = CL_BUILD_NONE;

    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_BUILD_PROGRAM_FAILURE);
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_non_null(strstr(log, "nothing"));
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_BUILD_ERROR);
    assert_int_equal(clBuildProgram(program, 0, NULL, "-o /dev/null", NULL, NULL), CL_INVALID_BUILD_OPTIONS);
    assert_int_equal(clBuildProgram(program, 1, NULL, "", NULL, NULL), CL_INVALID_VALUE);
    assert_null(clCreateKernel(program, "wrong", &error));
    assert_int_equal(error, CL_INVALID_PROGRAM_EXECUTABLE);
    check(clReleaseProgram(program));
    assert_null(clCreateProgramWithSource(f->context, 0, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
}

static void index_space_is_seen(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, NULL);
    cl_kernel kernel = kernel_of(program, "where");
    const size_t offset[2] = { 5, 7 }, global[2] = { 12, 10 }, local[2] = { 4, 5 };
    uint32_t out[120];

    cl_mem buffer = fixture_buffer(f, 0, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 2, offset, global, local, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (uint32_t i = 0; i < 120; i++) {
        assert_int_equal(out[i], ((i / 12 + 7) << 16 | (i % 12 + 5)) + 30);
    }
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

/* Without a local size: as many work-items as a group can have and as divide the space. */
static void groups_are_chosen(void **state)
{
    static const struct {
        size_t global;
        uint32_t local;
    } cases[] = { { 4096, 1024 }, { 1000, 1000 }, { 3000, 1000 }, { 2 * 1031, 2 }, { 7, 7 }, { 31 * 67, 67 } };
    struct fixture *f = *state;
    const char *text = "kernel void k(global uint *out) { out[0] = (uint)get_local_size(0); }";
    cl_program program = built(f, text, NULL);
    cl_kernel kernel = kernel_of(program, "k");
    cl_mem buffer = fixture_buffer(f, 0, 4, NULL);
    uint32_t out = 0;

    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &cases[i].global, NULL, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), &out, 0, NULL, NULL));
        assert_int_equal(out, cases[i].local);
    }
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

static void local_arguments_are_apart(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, NULL);
    cl_kernel kernel = kernel_of(program, "sums");
    const size_t global = 256, local = 64;
    uint32_t in[256], out[4];

    for (uint32_t i = 0; i < 256; i++) {
        in[i] = i;
    }
    cl_mem from = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(in), in);
    cl_mem to = fixture_buffer(f, 0, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(from), &from));
    check(clSetKernelArg(kernel, 1, sizeof(to), &to));
    check(clSetKernelArg(kernel, 2, 64 * 4, NULL));
    assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
                     CL_INVALID_KERNEL_ARGS);
    check(clSetKernelArg(kernel, 3, 64 * 8, NULL));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(out[i], 64 * 64 * i + 63 * 32);
    }
    check(clSetKernelArg(kernel, 2, 90 * 1024, NULL));
    check(clSetKernelArg(kernel, 3, 90 * 1024, NULL));
    assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
                     CL_OUT_OF_RESOURCES);
    check(clReleaseMemObject(from));
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

static void arguments_are_checked(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, NULL);
    cl_kernel kernel = kernel_of(program, "saxpy");
    cl_int error = CL_SUCCESS;
    cl_uint count = 0;
    char text[40] = "";
    double wrong = 1;

    assert_null(clCreateKernel(program, "nobody", &error));
    assert_int_equal(error, CL_INVALID_KERNEL_NAME);
    assert_null(clCreateKernel(program, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 3, 4, &wrong), CL_INVALID_ARG_INDEX);
    assert_int_equal(clSetKernelArg(kernel, 0, 8, &wrong), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 0, 4, NULL), CL_INVALID_ARG_VALUE);
    assert_int_equal(clSetKernelArg(kernel, 1, 4, NULL), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof(cl_mem), &f->context), CL_INVALID_MEM_OBJECT);
    assert_int_equal(clBuildProgram(program, 0, NULL, "", NULL, NULL), CL_INVALID_OPERATION);
    check(clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, NULL));
    assert_int_equal(count, 3);
    check(clGetKernelArgInfo(kernel, 2, CL_KERNEL_ARG_NAME, sizeof(text), text, NULL));
    assert_string_equal(text, "y");
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

static void spaces_are_checked(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, NULL);
    cl_kernel kernel = kernel_of(program, "where"), fixed = kernel_of(program, "fixed");
    cl_mem buffer = fixture_buffer(f, 0, 1u << 16, NULL);
    const size_t global[3] = { 64, 64, 1 }, three[3] = { 3, 1, 1 }, huge[3] = { 2048, 1, 1 }, zero[3] = { 0, 1, 1 };
    const size_t many[3] = { 64, 64, 1 }, good[3] = { 8, 4, 1 };
    const struct {
        cl_uint dim;
        const size_t *global, *local;
        cl_int error;
    } cases[] = {
        { 0, global, NULL, CL_INVALID_WORK_DIMENSION },
        { 4, global, NULL, CL_INVALID_WORK_DIMENSION },
        { 2, global, three, CL_INVALID_WORK_GROUP_SIZE },
        { 2, global, huge, CL_INVALID_WORK_ITEM_SIZE },
        { 2, global, zero, CL_INVALID_WORK_GROUP_SIZE },
        { 2, global, many, CL_INVALID_WORK_GROUP_SIZE },
        { 1, zero, NULL, CL_SUCCESS },
        { 2, global, NULL, CL_SUCCESS },
    };

    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clSetKernelArg(fixed, 0, sizeof(buffer), &buffer));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, cases[i].dim, NULL, cases[i].global, cases[i].local,
                                                0, NULL, NULL),
                         cases[i].error);
    }
    assert_int_equal(clEnqueueNDRangeKernel(f->queue, fixed, 2, NULL, global, three, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    check(clEnqueueNDRangeKernel(f->queue, fixed, 2, NULL, global, good, 0, NULL, NULL));
    check(clEnqueueNDRangeKernel(f->queue, fixed, 2, NULL, global, NULL, 0, NULL, NULL));
    check(clFinish(f->queue));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseKernel(fixed));
    check(clReleaseProgram(program));
}

/* A kernel writes where nothing is: its event tells, and the queue goes on. */
static void fault_is_told(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, NULL);
    cl_kernel kernel = kernel_of(program, "wild");
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);
    const size_t global = 64;
    cl_event event = NULL;
    cl_int status = 0;

    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, &event));
    assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_OUT_OF_RESOURCES);
    run_saxpy(f, program);
    check(clReleaseEvent(event));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

/* Launches what faults, and gives it time to have ended. */
static void launch_wild(cl_command_queue queue, cl_kernel kernel, cl_event *event)
{
    const struct timespec pause = { 0, 50000000 };
    const size_t global = 64;

    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, event));
    check(clFlush(queue));
    nanosleep(&pause, NULL);
}

/* A program that looks at no event is told too, however long ago the kernel faulted: once. */
static void failure_is_told_once(void **state)
{
    struct fixture *f = *state;
    cl_program program = built(f, source, NULL);
    cl_kernel kernel = kernel_of(program, "wild");
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);
    const cl_queue_properties loose[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
    cl_int error = 0, word = 0;
    cl_event event = NULL;

    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    launch_wild(f->queue, kernel, NULL);
    assert_int_equal(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &word, 0, NULL, NULL),
                     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
    check(clFinish(f->queue));

    launch_wild(f->queue, kernel, NULL);
    check(clEnqueueReadBuffer(f->queue, buffer, CL_FALSE, 0, 4, &word, 0, NULL, &event));
    assert_int_equal(clFinish(f->queue), CL_OUT_OF_RESOURCES);
    check(clFinish(f->queue));
    assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clReleaseEvent(event));

    launch_wild(f->queue, kernel, &event);
    do {
        check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(error), &error, NULL));
    } while (error > CL_COMPLETE);
    assert_int_equal(error, CL_OUT_OF_RESOURCES);
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &word, 0, NULL, NULL));
    check(clReleaseEvent(event));

    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, loose, &error);
    check(error);
    launch_wild(queue, kernel, NULL);
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 4, &word, 0, NULL, NULL)); /* it waits for nothing */
    assert_int_equal(clFinish(queue), CL_OUT_OF_RESOURCES);
    check(clFinish(queue));
    run_saxpy(f, program);
    check(clReleaseCommandQueue(queue));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

static const char *const large_source =
    "int first[3 << 20], seven = 7, *held = &first[5];\n"
    "ulong last[1 << 20]; char odd; int more[2] = { 8, 9 };\n"
    "kernel void write(global int *out)\n"
    "{ size_t i = get_global_id(0); out[i] = first[i * 12288] + (int)last[i * 4096] + odd; first[i * 12288] = (int)i + 1;\n"
    "  last[i * 4096 + 4095] = i + seven; }\n"
    "kernel void read(global int *out)\n"
    "{ size_t i = get_global_id(0); out[i] = first[i * 12288] * 1000 + (int)last[i * 4096 + 4095] + *held + more[1]; }\n";

/* Variables of 20 MiB, with values and without, which each program has anew. */
static void large_variables(void **state)
{
    struct fixture *f = *state;
    const size_t global = 256;
    uint32_t out[256];
    size_t bytes = 0, binary_bytes = 0;
    cl_mem buffer = fixture_buffer(f, 0, sizeof(out), NULL);

    for (uint32_t turn = 0; turn < 2; turn++) {
        cl_program program = built(f, large_source, "-cl-std=CL3.0");
        cl_kernel kernels[] = { kernel_of(program, "write"), kernel_of(program, "read") };
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, sizeof(bytes),
                                    &bytes, NULL));
        assert_true(bytes >= 20u << 20 && bytes < (20u << 20) + 4096); /* reports of checked kernels have words, too */
        check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(binary_bytes), &binary_bytes, NULL));
        assert_true(binary_bytes < 1u << 20);
        for (uint32_t k = 0; k < 2; k++) {
            check(clSetKernelArg(kernels[k], 0, sizeof(buffer), &buffer));
            check(clEnqueueNDRangeKernel(f->queue, kernels[k], 1, NULL, &global, NULL, 0, NULL, NULL));
            check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
            for (uint32_t i = 0; i < 256; i++) {
                assert_int_equal(out[i], k == 0 ? 0 : (i + 1) * 1000 + i + 7 + 9);
            }
            check(clReleaseKernel(kernels[k]));
        }
        check(clReleaseProgram(program));
    }
    check(clReleaseMemObject(buffer));
}

/* A device that has no room for them says so when the program is built, and goes on. */
static void too_large_variables(void **state)
{
    struct fixture *f = *state;
    const char *text = "char many[3000000000]; kernel void k(global int *o) { many[o[0]] = 1; o[1] = many[o[2]]; }";
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    size_t most = 0;

    check(error);
    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, sizeof(most), &most, NULL));
    assert_true(most >= 32u << 20 && most < 3000000000);
    assert_int_equal(clBuildProgram(program, 1, &f->device, "-cl-std=CL3.0", NULL, NULL), CL_OUT_OF_RESOURCES);
    check(clReleaseProgram(program));
    source_runs(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a program is built from source and runs [F6]", source_runs),
        cl_test("a binary is saved, loaded and runs; a broken one is refused [F6]", binary_runs),
        cl_test("a source that does not compile is told in the log [F6]", bad_source_is_told),
        cl_test("kernels see the index space with its offset [A7]", index_space_is_seen),
        cl_test("a group is chosen when the program leaves it open [F6]", groups_are_chosen),
        cl_test("local arguments lie apart, within the SM's shared memory [A7]", local_arguments_are_apart),
        cl_test("wrong arguments get their errors [F6]", arguments_are_checked),
        cl_test("wrong index spaces get their errors [F6]", spaces_are_checked),
        cl_test("variables of a program are as many as memory allows [F6]", large_variables),
        cl_test("variables that memory has no room for are refused [F6]", too_large_variables),
        cl_test("a fault is its command's, and the queue goes on [A2]", fault_is_told),
        cl_test("a fault is told once to a program without events [A2]", failure_is_told_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
