/* SPDX-License-Identifier: MIT */
/* Tests events: what waits for what, what is told when, by whatever thread. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/opencl/fixture.h"

#define CHAIN 1000u
#define THREADS 4u
#define ROUNDS 100u

static cl_int status_of(cl_event event)
{
    cl_int status = 0;

    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    return status;
}

static cl_event user_event(struct fixture *f)
{
    cl_int error = CL_SUCCESS;
    cl_event event = clCreateUserEvent(f->context, &error);

    check(error);
    return event;
}

static void user_event_holds_back(void **state)
{
    struct fixture *f = *state;
    cl_event gate = user_event(f), copied = NULL, marked = NULL;
    cl_mem a = fixture_buffer(f, 0, 64, NULL), b = fixture_buffer(f, 0, 64, NULL);
    const uint32_t five = 5;
    uint32_t seen = 0;

    assert_int_equal(status_of(gate), CL_SUBMITTED);
    check(clEnqueueFillBuffer(f->queue, a, &five, 4, 0, 64, 1, &gate, NULL));
    check(clEnqueueCopyBuffer(f->queue, a, b, 0, 0, 64, 0, NULL, &copied));
    check(clEnqueueMarkerWithWaitList(f->loose, 1, &copied, &marked));
    assert_int_equal(status_of(marked), CL_QUEUED);
    assert_int_equal(clSetUserEventStatus(gate, 1), CL_INVALID_VALUE);
    assert_int_equal(clSetUserEventStatus(copied, CL_COMPLETE), CL_INVALID_EVENT);
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    assert_int_equal(clSetUserEventStatus(gate, CL_COMPLETE), CL_INVALID_OPERATION);
    check(clWaitForEvents(1, &marked));
    assert_int_equal(status_of(copied), CL_COMPLETE);
    check(clEnqueueReadBuffer(f->loose, b, CL_TRUE, 0, 4, &seen, 0, NULL, NULL));
    assert_int_equal(seen, 5);
    check(clReleaseEvent(gate));
    check(clReleaseEvent(copied));
    check(clReleaseEvent(marked));
    check(clReleaseMemObject(a));
    check(clReleaseMemObject(b));
}

static void failure_is_passed_on(void **state)
{
    struct fixture *f = *state;
    cl_event gate = user_event(f), first = NULL, second = NULL;
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);
    uint32_t word = 0;

    check(clEnqueueMarkerWithWaitList(f->loose, 1, &gate, &first));
    check(clEnqueueReadBuffer(f->loose, buffer, CL_FALSE, 0, 4, &word, 1, &first, &second));
    check(clSetUserEventStatus(gate, -77));
    assert_int_equal(clWaitForEvents(1, &second), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(status_of(gate), -77);
    assert_int_equal(status_of(second), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, 4, &word, 1, &gate, NULL),
                     CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert_int_equal(clWaitForEvents(0, NULL), CL_INVALID_VALUE);
    check(clFinish(f->loose));
    check(clReleaseEvent(gate));
    check(clReleaseEvent(first));
    check(clReleaseEvent(second));
    check(clReleaseMemObject(buffer));
}

/* ---- callbacks, native kernels ---- */

struct told {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int calls;
    cl_int status[4];
};

static void CL_CALLBACK tell(cl_event event, cl_int status, void *user)
{
    struct told *told = user;

    (void)event;
    pthread_mutex_lock(&told->lock);
    told->status[told->calls++] = status;
    pthread_cond_signal(&told->changed);
    pthread_mutex_unlock(&told->lock);
}

static void await_calls(struct told *told, int calls)
{
    pthread_mutex_lock(&told->lock);
    while (told->calls < calls) {
        pthread_cond_wait(&told->changed, &told->lock);
    }
    pthread_mutex_unlock(&told->lock);
}

static void callbacks_are_called(void **state)
{
    struct fixture *f = *state;
    struct told told = { .calls = 0 };
    cl_event gate = user_event(f), event = NULL;

    pthread_mutex_init(&told.lock, NULL);
    pthread_cond_init(&told.changed, NULL);
    check(clEnqueueMarkerWithWaitList(f->queue, 1, &gate, &event));
    check(clSetEventCallback(event, CL_COMPLETE, tell, &told));
    assert_int_equal(clSetEventCallback(event, CL_QUEUED, tell, &told), CL_INVALID_VALUE);
    assert_int_equal(clSetEventCallback(event, CL_COMPLETE, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(told.calls, 0);
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    await_calls(&told, 1);
    assert_int_equal(told.status[0], CL_COMPLETE);
    check(clSetEventCallback(event, CL_COMPLETE, tell, &told)); /* too late is at once */
    await_calls(&told, 2);
    check(clReleaseEvent(gate));
    check(clReleaseEvent(event));
    cl_event bad = user_event(f);
    check(clSetEventCallback(bad, CL_COMPLETE, tell, &told));
    check(clSetUserEventStatus(bad, -5));
    await_calls(&told, 3);
    assert_int_equal(told.status[2], -5);
    check(clReleaseEvent(bad));
    pthread_cond_destroy(&told.changed);
    pthread_mutex_destroy(&told.lock);
}

struct addition {
    uint32_t *words;
    uint32_t count, by;
};

static void CL_CALLBACK add(void *arguments)
{
    const struct addition *addition = arguments;

    for (uint32_t i = 0; i < addition->count; i++) {
        addition->words[i] += addition->by;
    }
}

static void native_kernels_run(void **state)
{
    struct fixture *f = *state;
    uint32_t words[16] = { 1, 2, 3 };
    cl_mem buffer = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(words), words);
    struct addition addition = { NULL, 16, 10 };
    const void *words_at = &addition.words, *outside = &addition + 1;

    check(clEnqueueNativeKernel(f->queue, add, &addition, sizeof(addition), 1, &buffer, &words_at, 0, NULL, NULL));
    addition.by = 1000; /* the arguments were taken */
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(words), words, 0, NULL, NULL));
    assert_int_equal(words[2], 13);
    assert_int_equal(clEnqueueNativeKernel(f->queue, NULL, NULL, 0, 0, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(
        clEnqueueNativeKernel(f->queue, add, &addition, sizeof(addition), 1, &buffer, &outside, 0, NULL, NULL),
        CL_INVALID_VALUE);
    assert_int_equal(clEnqueueNativeKernel(f->queue, add, NULL, 4, 0, NULL, NULL, 0, NULL, NULL), CL_INVALID_VALUE);
    check(clReleaseMemObject(buffer));
}

/* ---- order ---- */

/* More commands than the device takes at once, held back together: enqueuing must not wait for them. */
static void enqueue_never_waits(void **state)
{
    struct fixture *f = *state;
    cl_event gate = user_event(f);
    cl_mem a = fixture_buffer(f, 0, 8 * (CHAIN + 1), NULL);
    const uint64_t value = 0x0123456789abcdefull;
    uint64_t seen = 0;

    check(clEnqueueWriteBuffer(f->queue, a, CL_FALSE, 0, 8, &value, 1, &gate, NULL));
    for (uint32_t i = 0; i < CHAIN; i++) {
        check(clEnqueueCopyBuffer(f->queue, a, a, 8 * i, 8 * i + 8, 8, 0, NULL, NULL));
    }
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    check(clEnqueueReadBuffer(f->queue, a, CL_TRUE, 8 * CHAIN, 8, &seen, 0, NULL, NULL));
    assert_true(seen == value);
    check(clReleaseEvent(gate));
    check(clReleaseMemObject(a));
}

static void *await(void *event)
{
    cl_event awaited = event;

    check(clWaitForEvents(1, &awaited));
    return NULL;
}

static int64_t processor_ns(void)
{
    struct timespec used;

    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
    return used.tv_sec * 1000000000ll + used.tv_nsec;
}

/* Commands for the device and for the host, all held back, and a thread that waits for them. */
static void nothing_polls(void **state)
{
    struct fixture *f = *state;
    const struct timespec while_ns = { 0, 400000000 };
    cl_event gate = user_event(f), last = NULL;
    cl_mem a = fixture_buffer(f, 0, 64, NULL);
    uint32_t seen[2] = { 0 };
    pthread_t waiter;

    check(clFinish(f->queue));
    check(clEnqueueCopyBuffer(f->queue, a, a, 0, 32, 32, 1, &gate, NULL));
    check(clEnqueueReadBuffer(f->queue, a, CL_FALSE, 0, 8, seen, 0, NULL, &last));
    check(clEnqueueMarkerWithWaitList(f->loose, 1, &gate, NULL));
    assert_int_equal(pthread_create(&waiter, NULL, await, last), 0);
    int64_t before_ns = processor_ns();
    nanosleep(&while_ns, NULL);
    int64_t used_ns = processor_ns() - before_ns;
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    pthread_join(waiter, NULL);
    print_message("# %lld us of the processor in %lld ms\n", (long long)(used_ns / 1000),
                  (long long)(while_ns.tv_nsec / 1000000));
    assert_true(used_ns < while_ns.tv_nsec / 20);
    check(clReleaseEvent(gate));
    check(clReleaseEvent(last));
    check(clReleaseMemObject(a));
}

static void loose_commands_pass(void **state)
{
    struct fixture *f = *state;
    cl_event gate = user_event(f), held = NULL, free_one = NULL, barrier = NULL, after = NULL;

    check(clEnqueueMarkerWithWaitList(f->loose, 1, &gate, &held));
    cl_mem a = fixture_buffer(f, 0, 64, NULL), b = fixture_buffer(f, 0, 64, NULL);
    check(clEnqueueCopyBuffer(f->loose, a, b, 0, 0, 64, 0, NULL, &free_one));
    check(clWaitForEvents(1, &free_one)); /* passes the one held back */
    assert_int_equal(status_of(held), CL_QUEUED);
    check(clEnqueueBarrierWithWaitList(f->loose, 0, NULL, &barrier));
    check(clEnqueueCopyBuffer(f->loose, a, b, 0, 0, 64, 0, NULL, &after));
    const struct timespec while_ns = { 0, 20000000 };
    nanosleep(&while_ns, NULL);
    assert_int_equal(status_of(after), CL_QUEUED);
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    check(clWaitForEvents(1, &after));
    assert_int_equal(status_of(barrier), CL_COMPLETE);
    check(clReleaseEvent(gate));
    check(clReleaseEvent(held));
    check(clReleaseEvent(free_one));
    check(clReleaseEvent(barrier));
    check(clReleaseEvent(after));
    check(clReleaseMemObject(a));
    check(clReleaseMemObject(b));
}

/* ---- what runs beside what ---- */

static const char *const meet_source =
    "kernel void meet(global atomic_uint *here, global uint *seen, uint number, uint patience)\n"
    "{ atomic_fetch_add(here, 1);\n"
    "  for (uint i = 0; i < patience && atomic_load(here) < 2; i++) { }\n"
    "  seen[number] = atomic_load(here); }\n"
    "kernel void hold(global atomic_uint *flag, global uint *seen, uint patience)\n"
    "{ uint i = 0;\n"
    "  while (i < patience && atomic_load(flag) == 0) i++;\n"
    "  *seen = atomic_load(flag); }\n";

#define FOR_LONG 50000000u
#define FOR_A_WHILE 2000u

/* Two launches that look for each other: how many each of them has seen at its end. */
static void meet(struct fixture *f, cl_command_queue first, cl_command_queue second, cl_uint patience, uint32_t seen[2])
{
    const cl_command_queue queues[2] = { first, second };
    const size_t one = 1;
    const uint32_t zero = 0;
    cl_event gate = user_event(f), met[2] = { NULL, NULL };
    cl_kernel kernel = fixture_kernel(f, meet_source, "meet");
    cl_mem here = fixture_buffer(f, 0, 4, NULL), result = fixture_buffer(f, 0, 8, NULL);

    check(clEnqueueFillBuffer(f->queue, here, &zero, 4, 0, 4, 0, NULL, NULL));
    check(clFinish(f->queue));
    check(clSetKernelArg(kernel, 0, sizeof(here), &here));
    check(clSetKernelArg(kernel, 1, sizeof(result), &result));
    check(clSetKernelArg(kernel, 3, sizeof(patience), &patience));
    for (cl_uint i = 0; i < 2; i++) {
        check(clSetKernelArg(kernel, 2, sizeof(i), &i));
        check(clEnqueueNDRangeKernel(queues[i], kernel, 1, NULL, &one, &one, 1, &gate, &met[i]));
    }
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    check(clEnqueueReadBuffer(f->queue, result, CL_TRUE, 0, 8, seen, 2, met, NULL));
    check(clReleaseEvent(gate));
    check(clReleaseEvent(met[0]));
    check(clReleaseEvent(met[1]));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(here));
    check(clReleaseMemObject(result));
}

static void queues_run_beside(void **state)
{
    struct fixture *f = *state;
    uint32_t seen[2] = { 0 };
    cl_int error = CL_SUCCESS;
    cl_command_queue other = clCreateCommandQueueWithProperties(f->context, f->device, NULL, &error);

    check(error);
    meet(f, f->queue, other, FOR_LONG, seen);
    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 2);
    meet(f, f->loose, f->loose, FOR_LONG, seen);
    assert_int_equal(seen[0], 2);
    assert_int_equal(seen[1], 2);
    meet(f, other, other, FOR_A_WHILE, seen); /* the second begins when the first has given up */
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 2);
    check(clReleaseCommandQueue(other));
}

/* A kernel that ends when it is told so, and behind it more than the device takes at once. */
static void enqueue_passes_a_running_kernel(void **state)
{
    struct fixture *f = *state;
    const size_t one = 1;
    const uint32_t zero = 0, told = 1;
    const cl_uint patience = FOR_LONG;
    cl_kernel kernel = fixture_kernel(f, meet_source, "hold");
    cl_mem flag = fixture_buffer(f, 0, 4, NULL), result = fixture_buffer(f, 0, 8, NULL);
    uint32_t seen[2] = { 0 }, early = 0;

    check(clEnqueueFillBuffer(f->queue, flag, &zero, 4, 0, 4, 0, NULL, NULL));
    check(clFinish(f->queue));
    check(clSetKernelArg(kernel, 0, sizeof(flag), &flag));
    check(clSetKernelArg(kernel, 1, sizeof(result), &result));
    check(clSetKernelArg(kernel, 2, sizeof(patience), &patience));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    for (uint32_t i = 0; i < CHAIN / 4; i++) {
        cl_int error = CL_SUCCESS;
        check(clEnqueueCopyBuffer(f->queue, result, result, 0, 4, 4, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, result, CL_FALSE, 0, 4, &early, 0, NULL, NULL));
        void *at = clEnqueueMapBuffer(f->queue, result, CL_FALSE, CL_MAP_READ, 0, 4, 0, NULL, NULL, &error);
        check(error);
        check(clEnqueueUnmapMemObject(f->queue, result, at, 0, NULL, NULL));
        check(clEnqueueMarkerWithWaitList(f->queue, 0, NULL, NULL));
        check(clFlush(f->queue));
    }
    check(clEnqueueWriteBuffer(f->loose, flag, CL_TRUE, 0, 4, &told, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, result, CL_TRUE, 0, 8, seen, 0, NULL, NULL));
    assert_int_equal(seen[0], told);
    assert_int_equal(seen[1], told);
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(flag));
    check(clReleaseMemObject(result));
}

static void times_rise(void **state)
{
    struct fixture *f = *state;
    const cl_profiling_info queries[] = { CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                          CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END };
    cl_mem a = fixture_buffer(f, 0, 1u << 20, NULL), b = fixture_buffer(f, 0, 1u << 20, NULL);
    cl_event event[2] = { NULL, NULL };
    cl_ulong last_end = 0;

    check(clEnqueueCopyBuffer(f->queue, a, b, 0, 0, 1u << 20, 0, NULL, &event[0]));
    check(clEnqueueCopyBuffer(f->queue, b, a, 0, 0, 1u << 20, 0, NULL, &event[1]));
    check(clWaitForEvents(2, event));
    for (int i = 0; i < 2; i++) {
        cl_ulong last = 0, time = 0;
        for (int q = 0; q < 4; q++) {
            check(clGetEventProfilingInfo(event[i], queries[q], sizeof(time), &time, NULL));
            assert_true(time >= last && time > 0);
            last = time;
        }
        cl_ulong start = 0;
        check(clGetEventProfilingInfo(event[i], CL_PROFILING_COMMAND_START, sizeof(start), &start, NULL));
        assert_true(start < last && start >= last_end);
        last_end = last;
        check(clReleaseEvent(event[i]));
    }
    cl_event untimed = NULL;
    cl_ulong time = 0;
    check(clEnqueueMarkerWithWaitList(f->loose, 0, NULL, &untimed));
    check(clWaitForEvents(1, &untimed));
    assert_int_equal(clGetEventProfilingInfo(untimed, queries[0], sizeof(time), &time, NULL),
                     CL_PROFILING_INFO_NOT_AVAILABLE);
    check(clReleaseEvent(untimed));
    check(clReleaseMemObject(a));
    check(clReleaseMemObject(b));
}

/* ---- threads ---- */

struct worker {
    struct fixture *fixture;
    cl_mem buffer;
    uint32_t number;
    bool right;
};

static void *work(void *opaque)
{
    struct worker *w = opaque;
    struct fixture *f = w->fixture;
    size_t at = (size_t)w->number * 256;

    w->right = true;
    for (uint32_t i = 0; i < ROUNDS && w->right; i++) {
        cl_command_queue queue = i % 2 == 0 ? f->queue : f->loose;
        uint32_t value = w->number << 16 | i, seen = 0;
        cl_event filled = NULL, copied = NULL;
        w->right =
            clEnqueueFillBuffer(queue, w->buffer, &value, 4, at, 128, 0, NULL, &filled) == CL_SUCCESS &&
            clEnqueueCopyBuffer(f->loose, w->buffer, w->buffer, at, at + 128, 128, 1, &filled, &copied) == CL_SUCCESS &&
            clEnqueueReadBuffer(queue, w->buffer, CL_TRUE, at + 252, 4, &seen, 1, &copied, NULL) == CL_SUCCESS &&
            seen == value;
        clReleaseEvent(filled);
        clReleaseEvent(copied);
    }
    return NULL;
}

static void threads_share_queues(void **state)
{
    struct fixture *f = *state;
    cl_mem buffer = fixture_buffer(f, 0, THREADS * 256, NULL);
    struct worker worker[THREADS];
    pthread_t thread[THREADS];

    for (uint32_t i = 0; i < THREADS; i++) {
        worker[i] = (struct worker){ f, buffer, i, false };
        assert_int_equal(pthread_create(&thread[i], NULL, work, &worker[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_true(worker[i].right);
    }
    check(clReleaseMemObject(buffer));
}

/* The queue is given up with work in it: all of it is done all the same. */
static void released_queue_finishes(void **state)
{
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    cl_event gate = user_event(f), last = NULL;
    cl_mem a = fixture_buffer(f, 0, 64, NULL), b = fixture_buffer(f, 0, 64, NULL);

    cl_command_queue queue = clCreateCommandQueue(f->context, f->device, 0, &error);
    check(error);
    check(clEnqueueMarkerWithWaitList(queue, 1, &gate, NULL));
    check(clEnqueueCopyBuffer(queue, a, b, 0, 0, 64, 0, NULL, &last));
    check(clReleaseCommandQueue(queue));
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    check(clWaitForEvents(1, &last));
    check(clReleaseEvent(last));
    check(clReleaseEvent(gate));
    check(clReleaseMemObject(a));
    check(clReleaseMemObject(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a user event holds back what waits for it, over queues [F6]", user_event_holds_back),
        cl_test("an error is passed on to all that wait [F6]", failure_is_passed_on),
        cl_test("event callbacks are called once, late ones at once [F6]", callbacks_are_called),
        cl_test("native kernels run in order with copied arguments [F6]", native_kernels_run),
        cl_test("enqueuing a thousand commands behind a user event does not wait [A2]", enqueue_never_waits),
        cl_test("nothing polls while commands are held back [F6]", nothing_polls),
        cl_test("an out-of-order queue passes what waits, not a barrier [B2]", loose_commands_pass),
        cl_test("enqueuing behind a kernel that runs until it is told does not wait [A2]",
                enqueue_passes_a_running_kernel),
        cl_test(
            "commands of two queues and of one out of order run beside each other, of one in order they do not [B2]",
            queues_run_beside),
        cl_test("the device's times of commands rise [C8]", times_rise),
        cl_test("threads share queues and buffers [F6]", threads_share_queues),
        cl_test("a released queue finishes its commands [A3]", released_queue_finishes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
