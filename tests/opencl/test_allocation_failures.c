/* SPDX-License-Identifier: MIT */
/* Tests each allocation of a call that fails: the call says so, or does without, and leaves nothing behind. */
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/compiler_joined.h"
#include "tests/opencl/fixture.h"

#define MOST 60u /* allocations of one call */

/* Linked with --wrap: every call of these in the library, libppu and the machine comes here. */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *at, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *at, size_t bytes);
char *__wrap_strdup(const char *text);

/* Allocations until one fails; 0: none does. Only those of the thread that asks for it. */
static _Thread_local uint32_t countdown;
static _Thread_local bool failed;

static bool fails(void)
{
    bool now = countdown == 1;

    countdown -= countdown > 0;
    failed |= now;
    return now;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *at, size_t bytes)
{
    return fails() ? NULL : __real_realloc(at, bytes);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

struct objects {
    struct fixture *fixture;
    cl_program program;
    cl_kernel kernel;
    cl_mem buffer;
    cl_event gate;
};

/* Each makes something, gives it back, and returns the error. */

static cl_int make_context(struct objects *p)
{
    const cl_context_properties properties[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)p->fixture->platform, 0 };
    cl_int error = CL_SUCCESS;
    cl_context context = clCreateContext(properties, 1, &p->fixture->device, NULL, NULL, &error);

    if (context) {
        clReleaseContext(context);
    }
    return error;
}

static cl_int make_queue(struct objects *p)
{
    const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0 };
    cl_int error = CL_SUCCESS;
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(p->fixture->context, p->fixture->device, properties, &error);

    if (queue) {
        clReleaseCommandQueue(queue);
    }
    return error;
}

static cl_int make_buffer(struct objects *p)
{
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(p->fixture->context, 0, 100, NULL, &error);

    if (buffer) {
        clReleaseMemObject(buffer);
    }
    return error;
}

static cl_int make_sub_buffer(struct objects *p)
{
    const cl_buffer_region region = { 0, 16 };
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateSubBuffer(p->buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);

    if (buffer) {
        clReleaseMemObject(buffer);
    }
    return error;
}

static cl_int make_event(struct objects *p)
{
    cl_int error = CL_SUCCESS;
    cl_event event = clCreateUserEvent(p->fixture->context, &error);

    if (event) {
        clReleaseEvent(event);
    }
    return error;
}

static cl_int make_program(struct objects *p)
{
    const char *text = "kernel void k() {}";
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(p->fixture->context, 1, &text, NULL, &error);

    if (program) {
        clReleaseProgram(program);
    }
    return error;
}

static cl_int make_kernel(struct objects *p)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(p->program, "k", &error);

    if (kernel) {
        clReleaseKernel(kernel);
    }
    return error;
}

static cl_int make_loaded(struct objects *p)
{
    size_t bytes = 0;
    cl_int error = CL_SUCCESS;

    check(clGetProgramInfo(p->program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), &bytes, NULL));
    unsigned char *binary = __real_malloc(bytes);
    check(clGetProgramInfo(p->program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
    cl_program program = clCreateProgramWithBinary(p->fixture->context, 1, &p->fixture->device, &bytes,
                                                   (const unsigned char **)(void *)&binary, NULL, &error);
    free(binary);
    if (program) {
        clReleaseProgram(program);
    }
    return error;
}

static cl_int enqueue_kernel(struct objects *p)
{
    const size_t global = 64;

    return clEnqueueNDRangeKernel(p->fixture->queue, p->kernel, 1, NULL, &global, NULL, 1, &p->gate, NULL);
}

static cl_int enqueue_fill(struct objects *p)
{
    const char zero = 0;

    return clEnqueueFillBuffer(p->fixture->queue, p->buffer, &zero, 1, 0, 64, 1, &p->gate, NULL);
}

static cl_int enqueue_map(struct objects *p)
{
    cl_int error = CL_SUCCESS;
    void *at = clEnqueueMapBuffer(p->fixture->queue, p->buffer, CL_FALSE, CL_MAP_READ, 0, 4, 1, &p->gate, NULL, &error);

    return !at ? error : clEnqueueUnmapMemObject(p->fixture->queue, p->buffer, at, 0, NULL, NULL);
}

static void CL_CALLBACK nothing(void *arguments)
{
    (void)arguments;
}

static cl_int enqueue_native(struct objects *p)
{
    char arguments[8] = "";

    return clEnqueueNativeKernel(p->fixture->queue, nothing, arguments, sizeof(arguments), 0, NULL, NULL, 1, &p->gate,
                                 NULL);
}

static const struct {
    const char *name;
    cl_int (*call)(struct objects *objects);
} calls[] = {
    { "clCreateContext", make_context },
    { "clCreateCommandQueue", make_queue },
    { "clCreateBuffer", make_buffer },
    { "clCreateSubBuffer", make_sub_buffer },
    { "clCreateUserEvent", make_event },
    { "clCreateProgramWithSource", make_program },
    { "clCreateKernel", make_kernel },
    { "clCreateProgramWithBinary", make_loaded },
    { "clEnqueueNDRangeKernel", enqueue_kernel },
    { "clEnqueueFillBuffer", enqueue_fill },
    { "clEnqueueMapBuffer", enqueue_map },
    { "clEnqueueNativeKernel", enqueue_native },
};

static void open_gate(struct objects *p)
{
    cl_int error = CL_SUCCESS;

    if (p->gate) {
        check(clSetUserEventStatus(p->gate, CL_COMPLETE));
        check(clFinish(p->fixture->queue));
        check(clReleaseEvent(p->gate));
    }
    p->gate = clCreateUserEvent(p->fixture->context, &error);
    check(error);
}

/* Returns how often it was told. */
static uint32_t try_call(struct objects *p, size_t i)
{
    uint32_t told = 0;

    for (uint32_t n = 1; n <= MOST; n++) {
        failed = false;
        countdown = n;
        cl_int error = calls[i].call(p);
        countdown = 0;
        if (error != CL_SUCCESS && error != CL_OUT_OF_HOST_MEMORY && error != CL_OUT_OF_RESOURCES &&
            error != CL_MEM_OBJECT_ALLOCATION_FAILURE) {
            fail_msg("%s: allocation %u fails: error %d", calls[i].name, n, error);
        }
        told += error == CL_OUT_OF_HOST_MEMORY;
        if (error != CL_SUCCESS && !failed) {
            fail_msg("%s: error %d, but nothing failed", calls[i].name, error);
        }
        open_gate(p);
        if (!failed) {
            return told;
        }
    }
    fail_msg("%s: more than %u allocations", calls[i].name, MOST);
    return told;
}

static void each_allocation_may_fail(void **state)
{
    struct fixture *f = *state;
    struct objects p = { .fixture = f };
    const char *text = "kernel void k(global int *a) { a[get_global_id(0)] = 1; }";
    cl_int error = CL_SUCCESS;

    p.program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(p.program, 0, NULL, NULL, NULL, NULL));
    p.kernel = clCreateKernel(p.program, "k", &error);
    check(error);
    p.buffer = fixture_buffer(f, 0, 1024, NULL);
    check(clSetKernelArg(p.kernel, 0, sizeof(p.buffer), &p.buffer));
    open_gate(&p);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(calls); i++) {
        uint32_t told = try_call(&p, i);
        if (told == 0) {
            fail_msg("%s never told CL_OUT_OF_HOST_MEMORY", calls[i].name);
        }
        check(calls[i].call(&p)); /* and then it works again */
        open_gate(&p);
    }
    check(clSetUserEventStatus(p.gate, CL_COMPLETE));
    check(clReleaseEvent(p.gate));
    check(clFinish(f->queue));
    check(clReleaseKernel(p.kernel));
    check(clReleaseProgram(p.program));
    check(clReleaseMemObject(p.buffer));
}

/* What compiles allocates, too. */
bool compiler_joined_within(void)
{
    return true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("the n-th allocation of a call fails, and it is told [F6]", each_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
