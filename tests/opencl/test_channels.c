/* SPDX-License-Identifier: MIT */
/* Tests what queues are to the device: its channels and streams, as its firmware counts and traces them. */
#include <stdlib.h>
#include <time.h>

#include "opencl/api/device.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define TASKS 8u
#define LOOSE_CHANNELS 4u
#define PATIENCE_S 20

static struct ppu_device *ppu_of(const struct fixture *f)
{
    return f->device->ppu;
}

/* ---- what the device says ---- */

static uint32_t open_channels(const struct fixture *f)
{
    uint32_t open = 0;

    for (uint32_t i = 0; i < ppu_device_info(ppu_of(f))->channels; i++) {
        uint64_t state = PPU_CHANNEL_CLOSED;
        assert_int_equal(ppu_device_query(ppu_of(f), PPU_KEY_CHANNEL_STATE, i, &state), PPU_OK);
        open += state != PPU_CHANNEL_CLOSED;
    }
    return open;
}

/* A released queue ends in a thread of the library. */
static void await_open(const struct fixture *f, uint32_t wanted)
{
    const struct timespec pause = { 0, 1000000 };
    time_t until = time(NULL) + PATIENCE_S;

    while (open_channels(f) != wanted && time(NULL) < until) {
        nanosleep(&pause, NULL);
    }
    assert_int_equal(open_channels(f), wanted);
}

struct task {
    uint32_t channel, stream;
};

struct trace {
    struct task task[2 * TASKS];
    uint32_t count;
    uint32_t together; /* the most that ran at a time */
};

/* What was launched since record `number`. All of it has ended. */
static void read_trace(const struct fixture *f, uint32_t number, struct trace *trace)
{
    struct ppu_trace_record record;
    uint32_t running = 0;

    *trace = (struct trace){ .count = 0 };
    while (ppu_trace_read(ppu_of(f), PPU_TRACE_OF_FIRMWARE, &number, &record, 1) == 1) {
        if (record.type == PPU_TRACE_LAUNCH) {
            assert_in_range(trace->count, 0, 2 * TASKS - 1);
            trace->task[trace->count++] = (struct task){ record.id[0], record.id[2] };
        } else if (record.type == PPU_TRACE_TASK_START) {
            running++;
            trace->together = PPU_MAX(running, trace->together);
        } else if (record.type == PPU_TRACE_TASK_END) {
            running--;
        }
    }
    assert_int_equal(running, 0);
}

static uint32_t now(const struct fixture *f)
{
    return ppu_trace_next(ppu_of(f), PPU_TRACE_OF_FIRMWARE);
}

/* ---- what a program does ---- */

static cl_command_queue new_queue(struct fixture *f, cl_command_queue_properties flags)
{
    const cl_queue_properties properties[] = { CL_QUEUE_PROPERTIES, flags, 0 };
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, properties, &error);

    check(error);
    return queue;
}

/* A kernel that takes a while; arguments are set. */
static cl_kernel slow_kernel(struct fixture *f, cl_mem *buffer)
{
    const char *source = "kernel void slow(global volatile uint *words)\n"
                         "{ for (uint i = 0; i < 3000; i++) words[get_global_id(0)] += i; }\n";
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &source, NULL, &error);

    check(error);
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "slow", &error);
    check(error);
    check(clReleaseProgram(program));
    *buffer = fixture_buffer(f, 0, 4 * 32, NULL);
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), buffer));
    return kernel;
}

/* TASKS launches in each of the queues, held back until all are there. */
static void run_in(struct fixture *f, cl_command_queue *queues, uint32_t count, struct trace *trace)
{
    const size_t global = 32;
    cl_int error = CL_SUCCESS;
    cl_mem buffer = NULL;
    cl_kernel kernel = slow_kernel(f, &buffer);
    cl_event gate = clCreateUserEvent(f->context, &error);
    uint32_t number = now(f);

    check(error);
    for (uint32_t q = 0; q < count; q++) {
        check(clEnqueueBarrierWithWaitList(queues[q], 1, &gate, NULL));
        for (uint32_t i = 0; i < TASKS; i++) {
            check(clEnqueueNDRangeKernel(queues[q], kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
        }
    }
    check(clSetUserEventStatus(gate, CL_COMPLETE));
    for (uint32_t q = 0; q < count; q++) {
        check(clFinish(queues[q]));
    }
    read_trace(f, number, trace);
    assert_int_equal(trace->count, count * TASKS);
    check(clReleaseEvent(gate));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(buffer));
}

/* How many different ones there are; `differ` says what makes two tasks different. */
static uint32_t count_different(const struct trace *trace, bool (*differ)(const struct task *a, const struct task *b))
{
    uint32_t different = 0;

    for (uint32_t i = 0; i < trace->count; i++) {
        bool is_new = true;
        for (uint32_t k = 0; k < i; k++) {
            is_new &= differ(&trace->task[i], &trace->task[k]);
        }
        different += is_new;
    }
    return different;
}

static bool other_channel(const struct task *a, const struct task *b)
{
    return a->channel != b->channel;
}

static bool other_stream(const struct task *a, const struct task *b)
{
    return a->stream != b->stream;
}

static bool other_way(const struct task *a, const struct task *b)
{
    return other_channel(a, b) || other_stream(a, b);
}

/* ---- tests ---- */

static void queues_open_channels(void **state)
{
    struct fixture *f = *state;
    uint32_t before = open_channels(f);
    cl_command_queue first = new_queue(f, 0);

    assert_int_equal(open_channels(f), before + 1);
    cl_command_queue second = new_queue(f, CL_QUEUE_PROFILING_ENABLE);
    assert_int_equal(open_channels(f), before + 2);
    cl_command_queue loose = new_queue(f, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    assert_int_equal(open_channels(f), before + 2 + LOOSE_CHANNELS);
    check(clReleaseCommandQueue(loose));
    await_open(f, before + 2);
    check(clReleaseCommandQueue(second));
    check(clReleaseCommandQueue(first));
    await_open(f, before);
}

static void in_order_is_a_stream(void **state)
{
    struct fixture *f = *state;
    struct trace trace;

    run_in(f, &f->queue, 1, &trace);
    assert_int_equal(count_different(&trace, other_way), 1);
    assert_int_equal(trace.together, 1);
}

static void queues_are_apart(void **state)
{
    struct fixture *f = *state;
    cl_command_queue queues[2] = { new_queue(f, 0), new_queue(f, 0) };
    struct trace trace;

    run_in(f, queues, 2, &trace);
    assert_int_equal(count_different(&trace, other_channel), 2);
    assert_int_equal(count_different(&trace, other_stream), 2);
    assert_int_equal(count_different(&trace, other_way), 2);
    assert_int_equal(trace.together, 2);
    check(clReleaseCommandQueue(queues[0]));
    check(clReleaseCommandQueue(queues[1]));
}

static void out_of_order_is_many(void **state)
{
    struct fixture *f = *state;
    struct trace trace;

    run_in(f, &f->loose, 1, &trace);
    assert_int_equal(count_different(&trace, other_channel), LOOSE_CHANNELS);
    assert_int_equal(count_different(&trace, other_stream), LOOSE_CHANNELS);
    assert_int_equal(count_different(&trace, other_way), LOOSE_CHANNELS);
    assert_in_range(trace.together, 2, LOOSE_CHANNELS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a queue in order opens one channel of the device, one out of order four [A2]", queues_open_channels),
        cl_test("a queue in order is one stream of one channel, and its tasks run one by one [A2, B2]",
                in_order_is_a_stream),
        cl_test("two queues in order are two channels and streams, whose tasks run beside each other [A2, B2]",
                queues_are_apart),
        cl_test("a queue out of order is four channels and streams, and its tasks run beside each other [A2, B2]",
                out_of_order_is_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
