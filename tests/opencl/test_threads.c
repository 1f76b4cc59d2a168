/* SPDX-License-Identifier: MIT */
/* Tests many threads that use one context, one program and each other's events. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tests/opencl/compiler_joined.h"
#include "tests/opencl/fixture.h"

#define THREADS 4u
#define TURNS 25u
#define WORDS 256u

static const char *const source = "kernel void step(global uint *a, uint summand)\n"
                                  "{ size_t i = get_global_id(0); a[i] = a[i] * 3 + summand; }\n";

struct crowd {
    struct fixture *fixture;
    cl_program program;
    cl_kernel kernel; /* cloned by each; its own arguments belong to nobody */
    uint32_t calls;
};

static void CL_CALLBACK count_call(cl_event event, cl_int status, void *user)
{
    struct crowd *crowd = user;

    (void)event;
    if (status == CL_COMPLETE) {
        __atomic_add_fetch(&crowd->calls, 1, __ATOMIC_RELAXED);
    }
}

/* cmocka's checks belong to the main thread: others count what went wrong. */
static uint32_t turn(struct crowd *crowd, cl_command_queue queue, cl_kernel kernel, uint32_t n)
{
    cl_int error = CL_SUCCESS;
    uint32_t words[WORDS] = { 0 }, wrong = 0;
    const size_t global = WORDS;
    const cl_uint summand = n;
    cl_event first = NULL, launched = NULL, gate = clCreateUserEvent(crowd->fixture->context, &error);
    cl_mem buffer = clCreateBuffer(crowd->fixture->context, CL_MEM_COPY_HOST_PTR, sizeof(words), words, &error);
    cl_uint references = 0;

    wrong += error != CL_SUCCESS;
    wrong += clSetKernelArg(kernel, 0, sizeof(buffer), &buffer) != CL_SUCCESS;
    wrong += clSetKernelArg(kernel, 1, sizeof(summand), &summand) != CL_SUCCESS;
    wrong += clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate, &first) != CL_SUCCESS;
    wrong += clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &first, &launched) != CL_SUCCESS;
    wrong += clSetEventCallback(launched, CL_COMPLETE, count_call, crowd) != CL_SUCCESS;
    wrong += clSetUserEventStatus(gate, CL_COMPLETE) != CL_SUCCESS;
    wrong += clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(words), words, 1, &launched, NULL) != CL_SUCCESS;
    wrong += words[WORDS - 1] != n * 3 + n;
    wrong += clGetContextInfo(crowd->fixture->context, CL_CONTEXT_REFERENCE_COUNT, sizeof(references), &references,
                              NULL) != CL_SUCCESS;
    clReleaseEvent(gate);
    clReleaseEvent(first);
    clReleaseEvent(launched);
    clReleaseMemObject(buffer);
    return wrong;
}

static void *work(void *opaque)
{
    struct crowd *crowd = opaque;
    cl_int error = CL_SUCCESS;
    uintptr_t wrong = 0;
    cl_command_queue queue =
        clCreateCommandQueueWithProperties(crowd->fixture->context, crowd->fixture->device, NULL, &error);
    cl_kernel kernel = clCloneKernel(crowd->kernel, &error);

    wrong += error != CL_SUCCESS;
    for (uint32_t n = 1; n <= TURNS && wrong == 0; n++) {
        wrong += turn(crowd, n % 2 == 0 ? queue : crowd->fixture->loose, kernel, n);
    }
    clReleaseKernel(kernel);
    clReleaseCommandQueue(queue);
    return (void *)wrong;
}

/* Beside the work: the same context builds, fails to build, and makes contexts. */
static uint32_t build_beside(struct crowd *crowd)
{
    const char *texts[2] = { source, "kernel void wrong(" };
    uint32_t wrong = 0;

    for (int i = 0; i < 4; i++) {
        cl_int error = CL_SUCCESS;
        cl_program program = clCreateProgramWithSource(crowd->fixture->context, 1, &texts[i % 2], NULL, &error);
        wrong +=
            clBuildProgram(program, 0, NULL, NULL, NULL, NULL) != (i % 2 == 0 ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE);
        clReleaseProgram(program);
        cl_context context = clCreateContext(NULL, 1, &crowd->fixture->device, NULL, NULL, &error);
        wrong += error != CL_SUCCESS;
        clReleaseContext(context);
    }
    return wrong;
}

static void threads_do_not_disturb(void **state)
{
    struct fixture *f = *state;
    struct crowd crowd = { .fixture = f };
    pthread_t threads[THREADS];
    cl_int error = CL_SUCCESS;

    crowd.program = clCreateProgramWithSource(f->context, 1, (const char **)(uintptr_t)&source, NULL, &error);
    check(error);
    check(clBuildProgram(crowd.program, 0, NULL, NULL, NULL, NULL));
    crowd.kernel = clCreateKernel(crowd.program, "step", &error);
    check(error);
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, work, &crowd), 0);
    }
    uint32_t wrong = build_beside(&crowd);
    for (uint32_t i = 0; i < THREADS; i++) {
        void *result = NULL;
        pthread_join(threads[i], &result);
        wrong += (uint32_t)(uintptr_t)result;
    }
    assert_int_equal(wrong, 0);
    check(clFinish(f->loose));
    check(clReleaseKernel(crowd.kernel));
    check(clReleaseProgram(crowd.program));
    /* A callback may still be on its way when its command has ended for everybody else. */
    for (uint32_t i = 0; i < 1000 && __atomic_load_n(&crowd.calls, __ATOMIC_RELAXED) < THREADS * TURNS; i++) {
        const struct timespec ms = { 0, 1000000 };
        nanosleep(&ms, NULL);
    }
    assert_int_equal(__atomic_load_n(&crowd.calls, __ATOMIC_RELAXED), THREADS * TURNS);
}

bool compiler_joined_within(void)
{
    return true;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("threads that share a context do not disturb each other [F6]", threads_do_not_disturb),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
