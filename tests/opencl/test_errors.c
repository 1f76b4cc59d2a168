/* SPDX-License-Identifier: MIT */
/*
 * Tests handles of the wrong kind, and what is asked of the wrong object: each function says so with its own error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define expect(call, error) assert_int_equal((call), (error))
#define refused(call, expected)            \
    do {                                   \
        cl_int error = CL_SUCCESS;         \
        assert_null(call);                 \
        assert_int_equal(error, expected); \
    } while (0)

static cl_kernel kernel_of(struct fixture *f, const char *text)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    check(clReleaseProgram(program));
    return kernel;
}

/* Any object of another kind stands for a handle that is none. */
static void wrong_handles_are_known(void **state)
{
    struct fixture *f = *state;
    void *none = f->context, *other = f->queue;
    size_t size = 0;
    char byte = 0;
    const size_t one = 1;

    expect(clGetPlatformInfo(none, CL_PLATFORM_NAME, 0, NULL, &size), CL_INVALID_PLATFORM);
    expect(clGetDeviceIDs(none, CL_DEVICE_TYPE_ALL, 1, NULL, NULL), CL_INVALID_PLATFORM);
    expect(clUnloadPlatformCompiler(none), CL_INVALID_PLATFORM);
    assert_null(clGetExtensionFunctionAddressForPlatform(none, "clGetPlatformIDs"));
    expect(clGetDeviceInfo(none, CL_DEVICE_NAME, 0, NULL, &size), CL_INVALID_DEVICE);
    expect(clRetainDevice(none), CL_INVALID_DEVICE);
    expect(clReleaseDevice(none), CL_INVALID_DEVICE);
    expect(clGetHostTimer(none, NULL), CL_INVALID_DEVICE);
    expect(clGetDeviceAndHostTimer(none, NULL, NULL), CL_INVALID_DEVICE);
    expect(clRetainContext(other), CL_INVALID_CONTEXT);
    expect(clReleaseContext(other), CL_INVALID_CONTEXT);
    expect(clGetContextInfo(other, CL_CONTEXT_DEVICES, 0, NULL, &size), CL_INVALID_CONTEXT);
    expect(clSetContextDestructorCallback(other, NULL, NULL), CL_INVALID_CONTEXT);
    refused(clCreateCommandQueueWithProperties(other, f->device, NULL, &error), CL_INVALID_CONTEXT);
    refused(clCreateCommandQueueWithProperties(f->context, none, NULL, &error), CL_INVALID_DEVICE);
    refused(clCreateBuffer(other, 0, 4, NULL, &error), CL_INVALID_CONTEXT);
    refused(clCreateUserEvent(other, &error), CL_INVALID_CONTEXT);
    refused(clCreateProgramWithSource(other, 1, NULL, NULL, &error), CL_INVALID_CONTEXT);
    refused(clCreateProgramWithBinary(other, 1, &f->device, &one, NULL, NULL, &error), CL_INVALID_CONTEXT);
    expect(clRetainCommandQueue(none), CL_INVALID_COMMAND_QUEUE);
    expect(clReleaseCommandQueue(none), CL_INVALID_COMMAND_QUEUE);
    expect(clGetCommandQueueInfo(none, CL_QUEUE_CONTEXT, 0, NULL, &size), CL_INVALID_COMMAND_QUEUE);
    expect(clFlush(none), CL_INVALID_COMMAND_QUEUE);
    expect(clFinish(none), CL_INVALID_COMMAND_QUEUE);
    expect(clEnqueueBarrierWithWaitList(none, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    expect(clEnqueueReadBuffer(none, NULL, CL_TRUE, 0, 1, &byte, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    expect(clEnqueueNDRangeKernel(none, NULL, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    expect(clEnqueueNDRangeKernel(f->queue, none, 1, NULL, &one, NULL, 0, NULL, NULL), CL_INVALID_KERNEL);
    expect(clEnqueueReadBuffer(f->queue, none, CL_TRUE, 0, 1, &byte, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    expect(clRetainMemObject(none), CL_INVALID_MEM_OBJECT);
    expect(clReleaseMemObject(none), CL_INVALID_MEM_OBJECT);
    expect(clGetMemObjectInfo(none, CL_MEM_SIZE, 0, NULL, &size), CL_INVALID_MEM_OBJECT);
    expect(clSetMemObjectDestructorCallback(none, NULL, NULL), CL_INVALID_MEM_OBJECT);
    expect(clRetainEvent(none), CL_INVALID_EVENT);
    expect(clReleaseEvent(none), CL_INVALID_EVENT);
    expect(clGetEventInfo(none, CL_EVENT_CONTEXT, 0, NULL, &size), CL_INVALID_EVENT);
    expect(clGetEventProfilingInfo(none, CL_PROFILING_COMMAND_END, 0, NULL, &size), CL_INVALID_EVENT);
    expect(clSetUserEventStatus(none, CL_COMPLETE), CL_INVALID_EVENT);
    expect(clSetEventCallback(none, CL_COMPLETE, NULL, NULL), CL_INVALID_EVENT);
    expect(clWaitForEvents(1, (cl_event *)&none), CL_INVALID_EVENT);
    expect(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    expect(clRetainProgram(none), CL_INVALID_PROGRAM);
    expect(clReleaseProgram(none), CL_INVALID_PROGRAM);
    expect(clBuildProgram(none, 0, NULL, NULL, NULL, NULL), CL_INVALID_PROGRAM);
    expect(clGetProgramInfo(none, CL_PROGRAM_SOURCE, 0, NULL, &size), CL_INVALID_PROGRAM);
    expect(clGetProgramBuildInfo(none, f->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size), CL_INVALID_PROGRAM);
    refused(clCreateKernel(none, "k", &error), CL_INVALID_PROGRAM);
    expect(clCreateKernelsInProgram(none, 0, NULL, NULL), CL_INVALID_PROGRAM);
    expect(clRetainKernel(none), CL_INVALID_KERNEL);
    expect(clReleaseKernel(none), CL_INVALID_KERNEL);
    refused(clCloneKernel(none, &error), CL_INVALID_KERNEL);
    expect(clSetKernelArg(none, 0, 4, &byte), CL_INVALID_KERNEL);
    expect(clSetKernelArgSVMPointer(none, 0, NULL), CL_INVALID_KERNEL);
    expect(clSetKernelExecInfo(none, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL), CL_INVALID_KERNEL);
    expect(clGetKernelInfo(none, CL_KERNEL_NUM_ARGS, 0, NULL, &size), CL_INVALID_KERNEL);
    expect(clGetKernelArgInfo(none, 0, CL_KERNEL_ARG_NAME, 0, NULL, &size), CL_INVALID_KERNEL);
    expect(clGetKernelWorkGroupInfo(none, f->device, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, &size), CL_INVALID_KERNEL);
    expect(clGetKernelSubGroupInfo(none, f->device, 0, 0, NULL, 0, NULL, NULL), CL_INVALID_KERNEL);
}

static void context_wants_this_platform(void **state)
{
    struct fixture *f = *state;
    const cl_context_properties other[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)f->context, 0 };
    const cl_context_properties twice[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)f->platform,
                                            CL_CONTEXT_PLATFORM, (cl_context_properties)f->platform, 0 };

    refused(clCreateContext(other, 1, &f->device, NULL, NULL, &error), CL_INVALID_PLATFORM);
    refused(clCreateContextFromType(other, CL_DEVICE_TYPE_GPU, NULL, NULL, &error), CL_INVALID_PLATFORM);
    refused(clCreateContext(twice, 1, &f->device, NULL, NULL, &error), CL_INVALID_PROPERTY);
    refused(clCreateContextFromType(NULL, CL_DEVICE_TYPE_ACCELERATOR, NULL, NULL, &error), CL_DEVICE_NOT_FOUND);
    refused(clCreateContextFromType(NULL, CL_DEVICE_TYPE_CUSTOM, NULL, NULL, &error), CL_DEVICE_NOT_FOUND);
}

static void queries_are_checked(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, "kernel void k(global int *a) { a[0] = 1; }");
    cl_program program = NULL;
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);
    cl_int error = CL_SUCCESS;
    char byte[1];

    cl_event event = clCreateUserEvent(f->context, &error);
    check(error);
    check(clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(program), &program, NULL));
    expect(clGetContextInfo(f->context, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetContextInfo(f->context, CL_CONTEXT_DEVICES, 1, byte, NULL), CL_INVALID_VALUE);
    expect(clGetCommandQueueInfo(f->queue, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetMemObjectInfo(buffer, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetEventInfo(event, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, 0, NULL, NULL), CL_PROFILING_INFO_NOT_AVAILABLE);
    expect(clGetProgramInfo(program, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetProgramInfo(program, CL_PROGRAM_BINARIES, 1, byte, NULL), CL_INVALID_VALUE);
    expect(clGetProgramBuildInfo(program, f->device, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetProgramBuildInfo(program, NULL, CL_PROGRAM_BUILD_LOG, 0, NULL, NULL), CL_INVALID_DEVICE);
    expect(clGetKernelInfo(kernel, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetKernelArgInfo(kernel, 0, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetKernelWorkGroupInfo(kernel, f->device, 1, 0, NULL, NULL), CL_INVALID_VALUE);
    expect(clGetKernelWorkGroupInfo(kernel, (cl_device_id)f->context, CL_KERNEL_WORK_GROUP_SIZE, 0, NULL, NULL),
           CL_INVALID_DEVICE);
    check(clSetUserEventStatus(event, CL_COMPLETE));
    expect(clSetUserEventStatus(event, CL_COMPLETE), CL_INVALID_OPERATION);
    check(clReleaseEvent(event));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
}

static void launches_are_checked(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, "kernel void k(global int *a) { a[0] = 1; }");
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);
    const size_t far = SIZE_MAX - 3, large = (1ull << 31) - 3, four = 4;
    cl_int error = CL_SUCCESS;

    expect(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &four, NULL, 0, NULL, NULL), CL_INVALID_KERNEL_ARGS);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    expect(clEnqueueNDRangeKernel(f->queue, kernel, 1, &far, &four, NULL, 0, NULL, NULL), CL_INVALID_GLOBAL_OFFSET);
    cl_kernel small = kernel_of(f, "kernel void k(global int *a) { int i = get_global_id(0); a[i] = 1; }");
    check(clSetKernelArg(small, 0, sizeof(buffer), &buffer));
    expect(clEnqueueNDRangeKernel(f->queue, small, 1, &large, &four, NULL, 0, NULL, NULL), CL_OUT_OF_RESOURCES);
    check(clReleaseKernel(small));
    cl_context context = clCreateContext(NULL, 1, &f->device, NULL, NULL, &error);
    check(error);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, f->device, NULL, &error);
    check(error);
    expect(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &four, NULL, 0, NULL, NULL), CL_INVALID_CONTEXT);
    check(clReleaseCommandQueue(queue));
    check(clReleaseContext(context));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
}

static void memory_ends(void **state)
{
    struct fixture *f = *state;
    cl_ulong largest = 0;
    cl_mem buffers[8] = { NULL };
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest, NULL));
    while (error == CL_SUCCESS && count < 8) {
        buffers[count] = clCreateBuffer(f->context, CL_MEM_HOST_WRITE_ONLY, largest, NULL, &error);
        count += error == CL_SUCCESS;
    }
    assert_int_equal(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    assert_true(count >= 1 && count < 8);
    expect(clEnqueueReadBuffer(f->queue, buffers[0], CL_TRUE, 0, 1, &error, 0, NULL, NULL), CL_INVALID_OPERATION);
    while (count > 0) {
        check(clReleaseMemObject(buffers[--count]));
    }
    check(clReleaseMemObject(fixture_buffer(f, 0, largest, NULL)));
}

static void CL_CALLBACK take_long(cl_context context, void *user)
{
    const struct timespec pause = { .tv_nsec = 100000000 };

    (void)context;
    (void)user;
    nanosleep(&pause, NULL);
}

/* A context with a queue. When both are released it takes 100 ms to be closed. */
static cl_context slow_context(const struct fixture *f, cl_command_queue *queue)
{
    cl_int error = CL_SUCCESS;
    cl_context context = clCreateContext(NULL, 1, &f->device, NULL, NULL, &error);

    check(error);
    check(clSetContextDestructorCallback(context, take_long, NULL));
    *queue = clCreateCommandQueueWithProperties(context, f->device, NULL, &error);
    check(error);
    return context;
}

static void close_context(cl_context context, cl_command_queue queue)
{
    check(clReleaseContext(context));
    check(clReleaseCommandQueue(queue));
}

/* Takes all that is left, in pieces of `bytes` and of every half of it, behind the first `count`. Returns the count. */
static size_t take_all(struct fixture *f, size_t bytes, cl_mem *pieces, size_t count, size_t room)
{
    cl_int error = CL_SUCCESS;

    for (; bytes >= 0x10000; bytes /= 2) {
        error = CL_SUCCESS;
        while (error == CL_SUCCESS) {
            assert_true(count < room);
            pieces[count] = clCreateBuffer(f->context, 0, bytes, NULL, &error);
            count += error == CL_SUCCESS;
        }
        assert_int_equal(error, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    }
    return count;
}

static void memory_of_closed_contexts_is_waited_for(void **state)
{
    struct fixture *f = *state;
    const struct timespec pause = { .tv_nsec = 500000000 };
    cl_ulong largest = 0;
    cl_mem pieces[400] = { NULL };
    const size_t room = PPU_ARRAY_SIZE(pieces);
    cl_command_queue queue[2] = { NULL };
    cl_context context[2];

    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest, NULL));
    context[0] = slow_context(f, &queue[0]);
    context[1] = slow_context(f, &queue[1]);
    size_t count = take_all(f, largest, pieces, 0, room);
    close_context(context[0], queue[0]);
    close_context(context[1], queue[1]); /* what its queue has is given back when the first is closed */
    size_t full = take_all(f, 0x10000, pieces, count, room);
    assert_true(full > count);
    nanosleep(&pause, NULL);
    count = take_all(f, 0x10000, pieces, full, room);
    assert_int_equal(count, full);
    while (count > 0) {
        check(clReleaseMemObject(pieces[--count]));
    }
}

/* A context behind the memory of one that is being closed would leave a hole, and nothing large fits any more. */
static void closed_contexts_leave_no_holes(void **state)
{
    struct fixture *f = *state;
    cl_ulong largest = 0;
    cl_command_queue queue[4] = { NULL };
    cl_context context[4];

    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest, NULL));
    context[0] = slow_context(f, &queue[0]);
    for (int i = 1; i < 4; i++) {
        close_context(context[i - 1], queue[i - 1]);
        context[i] = slow_context(f, &queue[i]);
    }
    check(clReleaseMemObject(fixture_buffer(f, 0, largest, NULL)));
    close_context(context[3], queue[3]);
}

static void a_missing_compiler_is_told(void **state)
{
    struct fixture *f = *state;
    const char *text = "kernel void k() {}";
    cl_int error = CL_SUCCESS;
    char log[300] = "";

    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    setenv("PPU_CLANG", "/nowhere/clang", 1);
    expect(clBuildProgram(program, 0, NULL, NULL, NULL, NULL), CL_COMPILER_NOT_AVAILABLE);
    expect(clCompileProgram(program, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL), CL_COMPILER_NOT_AVAILABLE);
    unsetenv("PPU_CLANG");
    check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
    assert_string_equal(log, "error: run '/nowhere/clang': No such file or directory; install clang-19, or name it in "
                             "PPU_CLANG\n");
    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    check(clReleaseProgram(program));
}

#define NOTICE_BYTES 500u

static void CL_CALLBACK keep_notice(const char *text, const void *info, size_t bytes, void *user)
{
    (void)info;
    (void)bytes;
    snprintf(user, NOTICE_BYTES, "%s", text);
}

static const struct {
    const char *text;
    size_t items;
    const char *begin, *where; /* of the notice */
} faults[] = {
    { "kernel void k(global int *o) { o[1L << 40] = 1; }", 1,
      "clEnqueueNDRangeKernel: run a kernel: address is not mapped in this context (UNMAPPED): "
      "write at virtual address 0x",
      "; CTA (0, 0, 0), warp 0, lanes 0x00000001; pc 0x" },
    { "kernel void k(global int *o)\n"
      "{ if (get_local_id(0) & 1) { sub_group_barrier(CLK_GLOBAL_MEM_FENCE); o[1]++; }\n"
      "  else { sub_group_barrier(CLK_GLOBAL_MEM_FENCE); o[0]++; } }",
      8, "clEnqueueNDRangeKernel: run a kernel: barrier used in a way that cannot complete (BARRIER): ",
      "; CTA (0, 0, 0), warp 0, lanes 0x000000" },
};

static void run_that_faults(cl_context context, cl_command_queue queue, const char *text, size_t items)
{
    cl_int error = CL_SUCCESS;

    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    cl_mem buffer = clCreateBuffer(context, 0, 64, NULL, &error);
    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL));
    clFinish(queue);
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

/* The program that wants to be told hears which command failed, where, and why. */
static void a_fault_is_told(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(faults); i++) {
        static char notice[NOTICE_BYTES];
        cl_int error = CL_SUCCESS;

        cl_context context = clCreateContext(NULL, 1, &f->device, keep_notice, notice, &error);
        check(error);
        cl_command_queue queue = clCreateCommandQueueWithProperties(context, f->device, NULL, &error);
        check(error);
        run_that_faults(context, queue, faults[i].text, faults[i].items);
        if (strncmp(notice, faults[i].begin, strlen(faults[i].begin)) != 0 || !strstr(notice, faults[i].where)) {
            fail_msg("\"%s\" does not name command, cause and place", notice);
        }
        check(clReleaseCommandQueue(queue));
        check(clReleaseContext(context));
    }
}

/* ---- time limits ---- */

/* An endless kernel, and one whose child is. */
static const char endless[] =
    "kernel void k(global int *o) { for (;;) o[0]++; }\n"
    "kernel void p(global int *o) {"
    "  enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ for (;;) o[0]++; }); }";

static cl_command_queue limited_queue(cl_context context, cl_device_id device, cl_queue_properties limit_ms,
                                      cl_int expected)
{
    const cl_queue_properties properties[] = { CL_QUEUE_TIME_LIMIT_PPU, limit_ms, 0 };
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, properties, &error);

    assert_int_equal(error, expected);
    return queue;
}

/* A queue's limit ends what runs longer, also what its kernels enqueue, and is named. */
static void time_is_limited(void **state)
{
    static const cl_queue_properties on_device[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0
    };
    struct fixture *f = *state;
    const char *text = endless;
    static char notice[NOTICE_BYTES];
    const size_t one = 1;
    cl_int error = CL_SUCCESS;

    cl_context context = clCreateContext(NULL, 1, &f->device, keep_notice, notice, &error);
    check(error);
    assert_null(limited_queue(context, f->device, 3600001, CL_INVALID_VALUE));
    cl_command_queue queue = limited_queue(context, f->device, 50, CL_SUCCESS);
    cl_command_queue inner = clCreateCommandQueueWithProperties(context, f->device, on_device, &error);
    check(error);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    cl_mem buffer = clCreateBuffer(context, 0, 64, NULL, &error);
    check(error);
    for (int i = 0; i < 2; i++) {
        cl_kernel kernel = clCreateKernel(program, i == 0 ? "k" : "p", &error);
        check(error);
        notice[0] = 0;
        check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
        check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
        clFinish(queue);
        if (!strstr(notice, "longer than its time limit") || !strstr(notice, " 50000000;")) {
            fail_msg("\"%s\" does not name the time limit", notice);
        }
        check(clReleaseKernel(kernel));
    }
    check(clReleaseMemObject(buffer));
    check(clReleaseProgram(program));
    check(clReleaseCommandQueue(inner));
    check(clReleaseCommandQueue(queue));
    check(clReleaseContext(context));
}

static void CL_CALLBACK keep_first_notice(const char *text, const void *info, size_t bytes, void *user)
{
    char *first = user;

    if (first[0] == 0) {
        keep_notice(text, info, bytes, user);
    }
}

/* A command that takes long is told of, with why it is not done. */
static void a_long_wait_is_told(void **state)
{
    struct fixture *f = *state;
    const char *text = endless;
    static char notice[NOTICE_BYTES];
    const size_t one = 1;
    cl_int error = CL_SUCCESS;

    cl_context context = clCreateContext(NULL, 1, &f->device, keep_first_notice, notice, &error);
    check(error);
    setenv("PPU_WAIT_NOTICE", "0.1", 1);
    cl_command_queue queue = limited_queue(context, f->device, 1000, CL_SUCCESS);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    cl_mem buffer = clCreateBuffer(context, 0, 64, NULL, &error);
    check(error);
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    clFinish(queue);
    unsetenv("PPU_WAIT_NOTICE");
    if (strncmp(notice, "clEnqueueNDRangeKernel: wait for an event: time is over; channel ", 65) != 0 ||
        !strstr(notice, " runs in slot ")) {
        fail_msg("\"%s\" does not say what the command waits for", notice);
    }
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(buffer));
    check(clReleaseProgram(program));
    check(clReleaseCommandQueue(queue));
    check(clReleaseContext(context));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a handle of another kind is known by each function [F6]", wrong_handles_are_known),
        cl_test("a context wants this platform, once [F6]", context_wants_this_platform),
        cl_test("unknown queries and small rooms get their errors [F6]", queries_are_checked),
        cl_test("launches want arguments, a space that ends, and their own context [F6]", launches_are_checked),
        cl_test("when memory ends it is told, and it comes back [F6]", memory_ends),
        cl_test("memory of contexts that are being closed is waited for [F6]", memory_of_closed_contexts_is_waited_for),
        cl_test("contexts that are being closed leave no holes behind", closed_contexts_leave_no_holes),
        cl_test("a compiler that is not there is told [F6]", a_missing_compiler_is_told),
        cl_test("a kernel's fault is told with command, cause and place", a_fault_is_told),
        cl_test("a queue's time limit ends kernels and what they enqueue, and is named", time_is_limited),
        cl_test("what a command waits for is told while it lasts", a_long_wait_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
