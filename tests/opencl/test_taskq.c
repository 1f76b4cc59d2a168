/* SPDX-License-Identifier: MIT */
/* Tests task queues: kernels whose work-groups take entries that the host and other kernels append. */
#include "tests/opencl/enqueue_run.h"

#include <stdio.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"

#define DATA_BYTES 8u

struct functions {
    clEnqueueTaskQueuePPU_fn enqueue;
    clPushTaskQueuePPU_fn push;
    clCloseTaskQueuePPU_fn close;
};

static void *find(const struct fixture *f, const char *name)
{
    void *found = clGetExtensionFunctionAddressForPlatform(f->platform, name);

    assert_non_null(found);
    return found;
}

static struct functions functions(const struct fixture *f)
{
    return (struct functions){
        (clEnqueueTaskQueuePPU_fn)find(f, "clEnqueueTaskQueuePPU"),
        (clPushTaskQueuePPU_fn)find(f, "clPushTaskQueuePPU"),
        (clCloseTaskQueuePPU_fn)find(f, "clCloseTaskQueuePPU"),
    };
}

static cl_command_queue task_queue(const struct fixture *f, cl_queue_properties entries)
{
    const cl_queue_properties wanted[] = {
        CL_QUEUE_PROPERTIES,
        CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
        CL_QUEUE_TASK_BYTES_PPU,
        DATA_BYTES,
        entries != 0 ? CL_QUEUE_TASK_ENTRIES_PPU : 0,
        entries,
        0,
    };
    cl_int error = CL_SUCCESS;

    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, wanted, &error);
    check(error);
    return queue;
}

/*
 * `k` takes entries: each counts its value in `out`, from 100 on, and appends value + 100 as often as it says. Checks
 * do not know the object of its pointer, so that a value that is too large faults with them, too.
 */
static const char source[] = "kernel void k(global int *out, queue_t tasks) {\n"
                             "    global int *entry = ppu_entry_data(tasks);\n"
                             "    int value = entry[0], hops = entry[1];\n"
                             "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                             "    atomic_add((global int *)((long)out + 4l * (100 + value)), get_local_id(0));\n"
                             "    if (get_local_id(0) != 0) return;\n"
                             "    if (ppu_free_entry(tasks) != 0) out[1] = 1;\n"
                             "    if (hops > 0) {\n"
                             "        int next[2] = { value + 100, hops - 1 }, error;\n"
                             "        while ((error = ppu_push_entry(tasks, next, 8)) == CLK_DEVICE_QUEUE_FULL);\n"
                             "        if (error != 0) out[2] = error;\n"
                             "    }\n"
                             "    if (atomic_inc(&out[0]) + 1 == out[3]) out[4] = ppu_close_entries(tasks);\n"
                             "}\n"
                             "kernel void feed(global int *out, queue_t tasks) {\n"
                             "    for (int i = 0; i < 5; i++) {\n"
                             "        int entry[2] = { get_global_id(0) * 5 + i, 0 }, error;\n"
                             "        while ((error = ppu_push_entry(tasks, entry, 8)) == CLK_DEVICE_QUEUE_FULL);\n"
                             "        if (error != 0) atomic_min(&out[2], error);\n"
                             "    }\n"
                             "}\n";

/* The kernel that takes, in flight on the out-of-order queue. */
struct taking {
    struct run *run;
    struct functions do_;
    cl_command_queue tasks;
    cl_event event;
};

static void set_word(struct taking *taking, size_t word, cl_int value)
{
    check(
        clEnqueueWriteBuffer(taking->run->f->queue, taking->run->buffer, CL_TRUE, 4 * word, 4, &value, 0, NULL, NULL));
}

static void begin_taking(struct taking *taking)
{
    const size_t local = 32;

    check(clFinish(taking->run->f->queue));
    check(taking->do_.enqueue(taking->run->f->loose, taking->tasks, taking->run->kernel, 1, &local, 0, NULL,
                              &taking->event));
}

static cl_int end_taking(struct taking *taking)
{
    struct run *run = taking->run;
    cl_int status = 1;

    clWaitForEvents(1, &taking->event);
    check(clGetEventInfo(taking->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    check(clReleaseEvent(taking->event));
    check(clEnqueueReadBuffer(run->f->queue, run->buffer, CL_TRUE, 0, sizeof(run->out), run->out, 0, NULL, NULL));
    return status;
}

static struct taking taking_new(void **state, cl_queue_properties entries)
{
    struct taking taking = { .run = run_prepare(*state, source, CL3), .do_ = functions(*state) };

    taking.tasks = task_queue(*state, entries);
    check(clSetKernelArg(taking.run->kernel, 1, sizeof(taking.tasks), &taking.tasks));
    return taking;
}

static void taking_end(struct taking *taking)
{
    check(clReleaseCommandQueue(taking->tasks));
    run_finish(taking->run);
}

static void push(const struct taking *taking, cl_int value, cl_int hops)
{
    const cl_int entry[2] = { value, hops };
    cl_int error = CL_OUT_OF_RESOURCES;

    while (error == CL_OUT_OF_RESOURCES) {
        error = taking->do_.push(taking->tasks, entry, sizeof(entry));
    }
    check(error);
}

#define OF_A_GROUP (31 * 32 / 2) /* what the work-items of a group add */

static void each_taken(const struct taking *taking, int first, int count, int times)
{
    for (int i = first; i < first + count; i++) {
        assert_int_equal(taking->run->out[100 + i], times * OF_A_GROUP);
    }
}

/* ---- tests ---- */

/* Before the command and while it runs; then the queue is open again for the next command. */
static void the_host_feeds(void **state)
{
    static const cl_queue_properties entries[] = { 2, 8, 0, 1024 };

    for (size_t e = 0; e < PPU_ARRAY_SIZE(entries); e++) {
        struct taking taking = taking_new(state, entries[e]);
        for (int round = 1; round <= 3; round++) {
            const int early = round == 1 ? 2 : 0;
            for (int i = 0; i < early; i++) {
                push(&taking, i, 0);
            }
            begin_taking(&taking);
            for (int i = early; i < 300; i++) {
                push(&taking, i, 0);
            }
            assert_int_equal(taking.do_.enqueue(taking.run->f->loose, taking.tasks, taking.run->kernel, 1,
                                                &(size_t){ 32 }, 0, NULL, NULL),
                             CL_INVALID_OPERATION);
            check(taking.do_.close(taking.tasks));
            assert_int_equal(taking.do_.push(taking.tasks, "12345678", 8), CL_INVALID_OPERATION);
            assert_int_equal(end_taking(&taking), CL_COMPLETE);
            assert_int_equal(taking.run->out[0], 300 * round);
            assert_int_equal(taking.run->out[1], 0);
            each_taken(&taking, 0, 300, round);
        }
        taking_end(&taking);
    }
}

/* Work-items of another kernel; the kernel that takes closes the queue when it has had all. */
static void kernels_feed(void **state)
{
    static const cl_queue_properties entries[] = { 2, 16, 256 };

    for (size_t e = 0; e < PPU_ARRAY_SIZE(entries); e++) {
        struct taking taking = taking_new(state, entries[e]);
        struct run *run = taking.run;
        const size_t items = 200;
        cl_int error = CL_SUCCESS;
        cl_kernel feed = clCreateKernel(run->program, "feed", &error);
        check(error);
        check(clSetKernelArg(feed, 0, sizeof(run->buffer), &run->buffer));
        check(clSetKernelArg(feed, 1, sizeof(taking.tasks), &taking.tasks));
        for (int round = 1; round <= 2; round++) {
            set_word(&taking, 3, 1000 * round);
            begin_taking(&taking);
            check(clEnqueueNDRangeKernel(run->f->queue, feed, 1, NULL, &items, NULL, 0, NULL, NULL));
            assert_int_equal(end_taking(&taking), CL_COMPLETE);
            assert_int_equal(run->out[0], 1000 * round);
            assert_int_equal(run->out[2], 0);
            assert_int_equal(run->out[4], 0);
            each_taken(&taking, 0, 1000, round);
        }
        check(clReleaseKernel(feed));
        taking_end(&taking);
    }
}

/* What takes entries appends some. */
static void a_queue_feeds_itself(void **state)
{
    struct taking taking = taking_new(state, 64);

    set_word(&taking, 3, 10 * 20);
    begin_taking(&taking);
    for (int i = 0; i < 10; i++) {
        push(&taking, i, 19);
    }
    assert_int_equal(end_taking(&taking), CL_COMPLETE);
    assert_int_equal(taking.run->out[0], 200);
    assert_int_equal(taking.run->out[2], 0);
    for (int hop = 0; hop < 20; hop++) {
        each_taken(&taking, 100 * hop, 10, 1);
    }
    taking_end(&taking);
}

/* The queue is there again, empty, for the next command, as soon as the end is told. */
static void a_kernel_that_faults(void **state)
{
    struct taking taking = taking_new(state, 16);
    const cl_int far = 1 << 28;

    for (int i = 1; i <= 20; i++) {
        begin_taking(&taking);
        push(&taking, far, 0);
        assert_int_equal(end_taking(&taking), CL_OUT_OF_RESOURCES);
        push(&taking, far, 0);
        begin_taking(&taking);
        push(&taking, 5, 0);
        check(taking.do_.close(taking.tasks));
        assert_int_equal(end_taking(&taking), CL_COMPLETE);
        assert_int_equal(taking.run->out[0], i);
        each_taken(&taking, 5, 1, i);
    }
    taking_end(&taking);
}

/* ---- blocks as entries ---- */

/* Blocks of `feed` capture a number, have local and private memory, and launch blocks of their own. */
static const char blocks[] =
    "kernel void k(global int *out, queue_t tasks) {\n"
    "    global int *entry = ppu_entry_data(tasks);\n"
    "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    if (get_local_id(0) != 0) return;\n"
    "    if (entry != 0) {\n"
    "        if (ppu_start_entry(tasks) != -59) out[1] = 1;\n"
    "        atomic_inc(&out[100 + entry[0]]);\n"
    "    } else {\n"
    "        int error;\n"
    "        while ((error = ppu_start_entry(tasks)) == CLK_DEVICE_QUEUE_FULL) ppu_wait_children();\n"
    "        if (error != 0) out[2] = error;\n"
    "        if (ppu_start_entry(tasks) != -59) out[1] = 2;\n"
    "        if (out[5] != 0) {\n"
    "            ppu_wait_children();\n"
    "            atomic_inc(&out[6]);\n"
    "        }\n"
    "    }\n"
    "    if (ppu_free_entry(tasks) != 0) out[1] = 3;\n"
    "    if (atomic_inc(&out[0]) + 1 == out[3]) out[4] = ppu_close_entries(tasks);\n"
    "}\n"
    "kernel void feed(global int *out, queue_t tasks) {\n"
    "    int n = get_global_id(0), error;\n"
    "    do {\n"
    "        error = enqueue_kernel(tasks, PPU_ENQUEUE_FLAGS_ENTRY, ndrange_1D(64, 32), ^(local void *a) {\n"
    "            local int *sum = a;\n"
    "            int mine[8];\n"
    "            for (int i = 0; i < 8; i++) mine[(i + n) & 7] = n;\n"
    "            if (get_local_id(0) == 0) *sum = 0;\n"
    "            barrier(CLK_LOCAL_MEM_FENCE);\n"
    "            atomic_add(sum, mine[get_local_id(0) & 7] == n);\n"
    "            barrier(CLK_LOCAL_MEM_FENCE);\n"
    "            if (get_local_id(0) == 0) {\n"
    "                atomic_add(&out[200 + n], *sum);\n"
    "                enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1),\n"
    "                               ^{ atomic_inc(&out[500 + n]); });\n"
    "            }\n"
    "        }, 16);\n"
    "    } while (error == CLK_DEVICE_QUEUE_FULL || error == -5);\n" /* or the heap is full for a while */
    "    if (error != 0) atomic_min(&out[2], error);\n"
    "}\n";

/* A work-group of the kernel that takes entries starts each block as its child: the command ends after all of them. */
static void blocks_are_entries(void **state)
{
    static const cl_queue_properties entries[] = { 2, 32, 256 };
    const size_t items = CL_ROUNDS(150, 60);

    for (size_t e = 0; e < 2 * PPU_ARRAY_SIZE(entries); e++) {
        struct taking taking = { .run = run_prepare(*state, blocks, CL3 " -g"), .do_ = functions(*state) };
        struct run *run = taking.run;
        const bool waits = e % 2;
        cl_int error = CL_SUCCESS;
        taking.tasks = task_queue(*state, entries[e / 2]);
        check(clSetKernelArg(run->kernel, 1, sizeof(taking.tasks), &taking.tasks));
        cl_kernel feed = clCreateKernel(run->program, "feed", &error);
        check(error);
        check(clSetKernelArg(feed, 0, sizeof(run->buffer), &run->buffer));
        check(clSetKernelArg(feed, 1, sizeof(taking.tasks), &taking.tasks));
        set_word(&taking, 5, waits);
        for (int round = 1; round <= 2; round++) {
            set_word(&taking, 3, ((int)items + 10) * round);
            begin_taking(&taking);
            check(clEnqueueNDRangeKernel(run->f->queue, feed, 1, NULL, &items, NULL, 0, NULL, NULL));
            for (int i = 0; i < 10; i++) {
                push(&taking, i, 0);
            }
            assert_int_equal(end_taking(&taking), CL_COMPLETE);
            assert_int_equal(run->out[0], ((int)items + 10) * round);
            assert_int_equal(run->out[1], 0);
            assert_int_equal(run->out[2], 0);
            assert_int_equal(run->out[4], 0);
            assert_int_equal(run->out[6], waits ? (int)items * round : 0);
            for (int i = 0; i < (int)items; i++) {
                assert_int_equal(i < 10 ? run->out[100 + i] : round, round);
                assert_int_equal(run->out[200 + i], 64 * round);
                assert_int_equal(run->out[500 + i], 2 * round);
            }
        }
        check(clReleaseKernel(feed));
        taking_end(&taking);
    }
}

static void wrong_blocks(void **state)
{
    struct run *run = run_prepare(
        *state,
        "#define ENTRY(queue, range) enqueue_kernel(queue, PPU_ENQUEUE_FLAGS_ENTRY, range, ^{ out[20] = 1; })\n"
        "kernel void k(global int *out, queue_t tasks) {\n"
        "    queue_t stream = ppu_create_stream();\n"
        "    out[0] = ENTRY(get_default_queue(), ndrange_1D(1)); out[1] = ENTRY(stream, ndrange_1D(1));\n"
        "    out[2] = ENTRY(tasks, ndrange_1D(2048, 2048));\n"
        "    out[3] = enqueue_kernel(tasks, PPU_ENQUEUE_FLAGS_ENTRY, ndrange_1D(1), ^(local void *a) {\n"
        "        *(local int *)a = 1; out[20] = 1; }, 1 << 28);\n"
        "    out[4] = ENTRY(tasks, ndrange_1D(1)); out[5] = ENTRY(tasks, ndrange_1D(1));\n"
        "    out[6] = ENTRY(tasks, ndrange_1D(1));\n"
        "    out[7] = ppu_start_entry(get_default_queue());\n"
        "    out[8] = ppu_close_entries(tasks);\n"
        "    out[9] = ENTRY(tasks, ndrange_1D(1));\n"
        "}",
        CL3 " -g");
    static const cl_int expected[] = { -102, -102, -160, -51, 0, 0, -161, -102, 0, -59 };
    cl_command_queue tasks = task_queue(*state, 2);

    check(clSetKernelArg(run->kernel, 1, sizeof(tasks), &tasks));
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        if (run->out[i] != expected[i]) {
            fail_msg("result %zu is %d instead of %d", i, run->out[i], expected[i]);
        }
    }
    assert_int_equal(run->out[20], 0);
    check(clReleaseCommandQueue(tasks));
    run_finish(run);
}

static void wrong_properties(void **state)
{
    struct fixture *f = *state;
    const cl_queue_properties device = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    const struct {
        cl_queue_properties flags, property[4];
        cl_int error;
    } cases[] = {
        { device, { CL_QUEUE_TASK_BYTES_PPU, 0 }, CL_INVALID_QUEUE_PROPERTIES },
        { device, { CL_QUEUE_TASK_BYTES_PPU, 4081 }, CL_INVALID_QUEUE_PROPERTIES },
        { device, { CL_QUEUE_TASK_BYTES_PPU, 1ull << 32 | 8 }, CL_INVALID_QUEUE_PROPERTIES },
        { device, { CL_QUEUE_TASK_BYTES_PPU, 8, CL_QUEUE_TASK_ENTRIES_PPU, 1 }, CL_INVALID_QUEUE_PROPERTIES },
        { device, { CL_QUEUE_TASK_BYTES_PPU, 8, CL_QUEUE_TASK_ENTRIES_PPU, 24 }, CL_INVALID_QUEUE_PROPERTIES },
        { device, { CL_QUEUE_TASK_BYTES_PPU, 8, CL_QUEUE_TASK_ENTRIES_PPU, 1 << 17 }, CL_INVALID_QUEUE_PROPERTIES },
        { device, { CL_QUEUE_TASK_ENTRIES_PPU, 8 }, CL_INVALID_VALUE },
        { device, { CL_QUEUE_TASK_BYTES_PPU, 8, CL_QUEUE_SIZE, 4096 }, CL_INVALID_VALUE },
        { device,
          { CL_QUEUE_TASK_BYTES_PPU, 8, CL_QUEUE_WORK_QUEUE_PPU, (cl_queue_properties)f->queue },
          CL_INVALID_VALUE },
        { device | CL_QUEUE_ON_DEVICE_DEFAULT, { CL_QUEUE_TASK_BYTES_PPU, 8 }, CL_INVALID_VALUE },
        { 0, { CL_QUEUE_TASK_BYTES_PPU, 8 }, CL_INVALID_VALUE },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        const cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES,
                                               cases[i].flags,
                                               cases[i].property[0],
                                               cases[i].property[1],
                                               cases[i].property[2],
                                               cases[i].property[3],
                                               0 };
        cl_int error = CL_SUCCESS;
        assert_null(clCreateCommandQueueWithProperties(f->context, f->device, wanted, &error));
        if (error != cases[i].error) {
            fail_msg("case %zu is %d instead of %d", i, error, cases[i].error);
        }
    }
}

static void wrong_calls(void **state)
{
    struct fixture *f = *state;
    struct taking taking = taking_new(state, 4);
    const struct functions do_ = taking.do_;
    const size_t local = 32, none = 0, large = 1 << 20;
    cl_kernel k = taking.run->kernel;

    assert_int_equal(do_.push(f->queue, "1", 1), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(do_.push(taking.run->device_queue, "1", 1), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(do_.push(NULL, "1", 1), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(do_.push(taking.tasks, NULL, 1), CL_INVALID_VALUE);
    assert_int_equal(do_.push(taking.tasks, "123456789", 9), CL_INVALID_VALUE);
    assert_int_equal(do_.close(f->queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(do_.enqueue(f->loose, NULL, k, 1, &local, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(do_.enqueue(f->loose, f->queue, k, 1, &local, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(do_.enqueue(taking.tasks, taking.tasks, k, 1, &local, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(do_.enqueue(f->loose, taking.tasks, NULL, 1, &local, 0, NULL, NULL), CL_INVALID_KERNEL);
    assert_int_equal(do_.enqueue(f->loose, taking.tasks, k, 0, &local, 0, NULL, NULL), CL_INVALID_WORK_DIMENSION);
    assert_int_equal(do_.enqueue(f->loose, taking.tasks, k, 1, NULL, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(do_.enqueue(f->loose, taking.tasks, k, 1, &none, 0, NULL, NULL), CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(do_.enqueue(f->loose, taking.tasks, k, 1, &large, 0, NULL, NULL), CL_INVALID_WORK_ITEM_SIZE);
    for (int i = 0; i < 4; i++) {
        check(do_.push(taking.tasks, &(cl_int[2]){ i, 0 }, 8));
    }
    assert_int_equal(do_.push(taking.tasks, "12345678", 8), CL_OUT_OF_RESOURCES);
    check(do_.close(taking.tasks));
    begin_taking(&taking);
    assert_int_equal(end_taking(&taking), CL_COMPLETE);
    each_taken(&taking, 0, 4, 1);
    taking_end(&taking);
}

static void wrong_pushes_of_kernels(void **state)
{
    struct run *run = run_prepare(
        *state,
        "kernel void k(global int *out, queue_t tasks) {\n"
        "    int data[4] = { 0 };\n"
        "    queue_t other = get_default_queue(), stream = ppu_create_stream();\n"
        "    out[0] = ppu_push_entry(other, data, 8); out[1] = ppu_push_entry(stream, data, 8);\n"
        "    out[2] = ppu_push_entry(tasks, data, 17);\n"
        "    out[3] = ppu_push_entry(tasks, data, 0xffffffffu);\n"
        "    out[4] = ppu_close_entries(other); out[5] = ppu_free_entry(stream);\n"
        "    out[6] = ppu_entry_data(other) == 0;\n"
        "    out[7] = ppu_push_entry(tasks, data, 8); out[8] = ppu_push_entry(tasks, data, 0);\n"
        "    out[9] = ppu_push_entry(tasks, data, 8);\n"
        "    out[10] = ppu_close_entries(tasks);\n"
        "    out[11] = ppu_push_entry(tasks, data, 8);\n"
        "    out[12] = enqueue_kernel(tasks, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[20] = 1; });\n"
        "    out[13] = enqueue_kernel(tasks, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[20] = 1; });\n"
        "}",
        CL3 " -g");
    static const cl_int expected[] = { -102, -102, -30, -30, -102, -102, 1, 0, 0, -161, 0, -59, -102, -102 };
    cl_command_queue tasks = task_queue(*state, 2);

    check(clSetKernelArg(run->kernel, 1, sizeof(tasks), &tasks));
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        if (run->out[i] != expected[i]) {
            fail_msg("result %zu is %d instead of %d", i, run->out[i], expected[i]);
        }
    }
    assert_int_equal(run->out[20], 0);
    check(clReleaseCommandQueue(tasks));
    run_finish(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("the host feeds a kernel that takes entries, round after round [A6 A12]", the_host_feeds),
        cl_test("kernels feed a kernel that takes entries and closes its queue [A6 A12]", kernels_feed),
        cl_test("a kernel that takes entries appends some [A6 A12]", a_queue_feeds_itself),
        cl_test("a kernel that faults leaves its queue to the next [A6]", a_kernel_that_faults),
        cl_test("blocks are entries, which work-groups start as their children [A12 B1]", blocks_are_entries),
        cl_test("blocks that cannot be entries are refused [A12]", wrong_blocks),
        cl_test("task queues that cannot be are refused [A6]", wrong_properties),
        cl_test("wrong calls for task queues are refused, and harm none [A6]", wrong_calls),
        cl_test("kernels that append wrongly are told so [A12]", wrong_pushes_of_kernels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
