/* SPDX-License-Identifier: MIT */
/* Tests work queues that kernels fill, from the host's side and from OpenCL C's. */
#include <stdio.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/opencl/enqueue_run.h"
static cl_command_queue work_queue(struct fixture *f, cl_command_queue maker, cl_int *error)
{
    const cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES,
                                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
                                           CL_QUEUE_WORK_QUEUE_PPU, (cl_queue_properties)maker, 0 };

    return clCreateCommandQueueWithProperties(f->context, f->device, wanted, error);
}

/* What work-items put into the queue runs after their kernel, and may put more there. */
static void work_is_made(void **state)
{
    struct fixture *f = *state;
    struct run *run = run_prepare(
        f,
        "kernel void k(global int *out, queue_t work) {\n"
        "    enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(32, 32), ^(local void *a) {\n"
        "        local int *x = a; x[get_local_id(0)] = get_local_id(0);\n"
        "        barrier(CLK_LOCAL_MEM_FENCE);\n"
        "        out[100 + get_local_id(0)] = x[31 - get_local_id(0)];\n"
        "        if (out[1] != 64) out[2] = 1;\n"
        "        if (get_local_id(0) == 0)\n"
        "            out[3] |= enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(32, 32), ^{ atomic_inc(&out[0]); });\n"
        "        }, 128);\n"
        "    out[4] = enqueue_kernel(get_default_queue(), PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[5] = 1; });\n"
        "    out[6] = enqueue_kernel(work, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ out[5] = 1; });\n"
        "    out[7] = enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(2048, 2048), ^{ out[5] = 1; });\n"
        "    atomic_inc(&out[1]);\n"
        "}",
        CL3 " -g");
    cl_int error = CL_SUCCESS;

    cl_command_queue work = work_queue(f, f->queue, &error);
    check(error);
    assert_null(work_queue(f, f->queue, &error));
    assert_int_equal(error, CL_INVALID_COMMAND_QUEUE);
    assert_null(work_queue(f, f->loose, &error));
    assert_int_equal(error, CL_INVALID_COMMAND_QUEUE);
    check(clSetKernelArg(run->kernel, 1, sizeof(work), &work));
    const size_t one = 1;
    assert_int_equal(clEnqueueNDRangeKernel(f->loose, run->kernel, 1, NULL, &one, NULL, 0, NULL, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    for (int round = 1; round < 4; round++) {
        const cl_int zero = 0;
        check(clEnqueueFillBuffer(f->queue, run->buffer, &zero, sizeof(zero), 4, 4, 0, NULL, NULL));
        assert_int_equal(run_launch(run, 64, 64), CL_COMPLETE);
        assert_int_equal(run->out[0], round * 64 * 32);
        assert_int_equal(run->out[1], 64);
        assert_int_equal(run->out[2], 0);
        assert_int_equal(run->out[3], 0);
        assert_int_equal(run->out[4], -102);
        assert_int_equal(run->out[5], 0);
        assert_int_equal(run->out[6], -102);
        assert_int_equal(run->out[7], -160);
        for (int i = 0; i < 32; i++) {
            assert_int_equal(run->out[100 + i], 31 - i);
        }
    }
    check(clReleaseCommandQueue(work));
    run_finish(run);
}

/* A fault in the work is the command's that made it; then the queue takes work again. */
static void work_that_faults_is_told(void **state)
{
    struct fixture *f = *state;
    struct run *run = run_prepare(f,
                                  "kernel void k(global int *out, queue_t work) {\n"
                                  "    int bad = out[0];\n"
                                  "    enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{\n"
                                  "        if (bad == 0) *(volatile global int *)0x123450 = 1;\n"
                                  "        out[1] = 5; });\n"
                                  "    out[0] = 1;\n"
                                  "}",
                                  CL3);
    cl_int error = CL_SUCCESS;

    cl_command_queue work = work_queue(f, f->queue, &error);
    check(error);
    check(clSetKernelArg(run->kernel, 1, sizeof(work), &work));
    assert_int_equal(run_launch(run, 1, 1), CL_OUT_OF_RESOURCES);
    assert_int_equal(run->out[1], 0);
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[1], 5);
    check(clReleaseCommandQueue(work));
    run_finish(run);
}

/* ---- the queue's size, and room ---- */

/* With a queue of so many entries (0: as many as the library likes) as the kernel's argument 1. */
static struct run *prepare_work(void **state, const char *source, cl_queue_properties entries, cl_command_queue *work)
{
    struct fixture *f = *state;
    struct run *run = run_prepare(f, source, CL3 " -g");
    const cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES,
                                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
                                           CL_QUEUE_WORK_QUEUE_PPU,
                                           (cl_queue_properties)f->queue,
                                           entries != 0 ? CL_QUEUE_WORK_ENTRIES_PPU : 0,
                                           entries,
                                           0 };
    cl_int error = CL_SUCCESS;

    *work = clCreateCommandQueueWithProperties(f->context, f->device, wanted, &error);
    check(error);
    check(clSetKernelArg(run->kernel, 1, sizeof(*work), work));
    return run;
}

static void finish_work(struct run *run, cl_command_queue work)
{
    check(clReleaseCommandQueue(work));
    run_finish(run);
}

/* Before its round nothing comes free, and to wait for that is in vain. */
static void rings_are_as_large_as_asked(void **state)
{
    static const char source[] =
        "kernel void k(global int *out, queue_t work) {\n"
        "    int error = 0;\n"
        "    while ((error = enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ atomic_inc(&out[0]); })) == 0)\n"
        "        out[1]++;\n"
        "    out[2] = error;\n"
        "    out[3] = ppu_wait_room(work, 1);\n"
        "}";
    static const uint32_t entries[] = { 4, 5, 7, 8, 100, 1000, 4096 };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(entries); i++) {
        cl_command_queue work = NULL;
        struct run *run = prepare_work(state, source, entries[i], &work);
        for (int round = 1; round < 3; round++) {
            assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
            assert_int_equal(run->out[1], round * (int)((entries[i] - 2) / 2));
            assert_int_equal(run->out[0], run->out[1]);
            assert_int_equal(run->out[2], -161);
            assert_int_equal(run->out[3], -161);
        }
        finish_work(run, work);
    }
}

static void wrong_sizes_of_rings(void **state)
{
    struct fixture *f = *state;
    const cl_command_queue_properties device = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    const struct {
        cl_queue_properties maker, entries;
        cl_int error;
    } cases[] = {
        { (cl_queue_properties)f->queue, 0, CL_INVALID_QUEUE_PROPERTIES },
        { (cl_queue_properties)f->queue, 3, CL_INVALID_QUEUE_PROPERTIES },
        { (cl_queue_properties)f->queue, 65537, CL_INVALID_QUEUE_PROPERTIES },
        { (cl_queue_properties)f->queue, 1ull << 32 | 64, CL_INVALID_QUEUE_PROPERTIES },
        { 0, 64, CL_INVALID_VALUE },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        const cl_queue_properties wanted[] = {
            CL_QUEUE_PROPERTIES, device, CL_QUEUE_WORK_ENTRIES_PPU, cases[i].entries, CL_QUEUE_WORK_QUEUE_PPU,
            cases[i].maker,      0
        };
        cl_int error = CL_SUCCESS;
        assert_null(clCreateCommandQueueWithProperties(f->context, f->device, wanted, &error));
        assert_int_equal(error, cases[i].error);
    }
}

/* The queue has room for one piece: what makes more waits for room again and again, while the queue goes on. */
static void work_waits_for_room(void **state)
{
    static const char source[] =
        "void put(global int *out, queue_t work) {\n"
        "    int error;\n"
        "    do error = enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ atomic_inc(&out[0]); });\n"
        "    while (error == CLK_DEVICE_QUEUE_FULL && atomic_inc(&out[3]) >= 0 && (error = ppu_wait_room(work, 1)) == 0);\n"
        "    if (error != 0) atomic_min(&out[1], error);\n"
        "}\n"
        "kernel void k(global int *out, queue_t work) {\n"
        "    out[2] = enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(ITEMS, GROUP), ^{\n"
        "        for (int i = 0; i < PIECES; i++) put(out, work); });\n"
        "}";
    const int pieces = CL_ROUNDS(50, 20);
    static const struct {
        int entries, items, group;
    } cases[] = { { 4, 1, 1 }, { 5, 3, 1 }, { 16, 64, 16 }, { 64, 200, 40 } };
    int waits = 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        char text[sizeof(source) + 100];
        cl_command_queue work = NULL;
        snprintf(text, sizeof(text), "#define ITEMS %d\n#define GROUP %d\n#define PIECES %d\n%s", cases[i].items,
                 cases[i].group, pieces, source);
        struct run *run = prepare_work(state, text, (cl_queue_properties)cases[i].entries, &work);
        assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
        assert_int_equal(run->out[2], 0);
        assert_int_equal(run->out[1], 0);
        assert_int_equal(run->out[0], pieces * cases[i].items);
        waits += run->out[3];
        finish_work(run, work);
    }
    assert_true(waits > 0);
}

/* ---- what work is made of ---- */

#define SQUARES "enqueue_kernel(all, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(64), "

/* Three launches and a copy in the order in which they stand, and not before they are published. */
static void pieces_of_several_commands(void **state)
{
    cl_command_queue work = NULL;
    struct run *run = prepare_work(
        state,
        "kernel void k(global int *out, queue_t work) {\n"
        "    queue_t all = ppu_reserve_work(work, 3);\n"
        "    out[0] = " SQUARES "^{ out[100 + get_global_id(0)] = get_global_id(0) * get_global_id(0); });\n"
        "    out[1] = ppu_enqueue_wait(all);\n"
        "    out[2] = ppu_enqueue_copy(all, out + 200, out + 100, 256);\n"
        "    out[3] = ppu_enqueue_wait(all);\n"
        "    out[4] = " SQUARES "^{ out[300 + get_global_id(0)] = out[200 + get_global_id(0)] + 1; });\n"
        "    out[5] = ppu_enqueue_wait(all);\n"
        "    out[6] = " SQUARES "^{ out[400 + get_global_id(0)] = out[300 + get_global_id(0)] * 2; });\n"
        "    out[7] = " SQUARES "^{ out[20] = 1; });\n"
        "    out[8] = ppu_publish_work(all);\n"
        "    out[9] = ppu_publish_work(all);\n"
        "    out[10] = " SQUARES "^{ out[20] = 1; });\n"
        "}",
        0, &work);
    static const int expected[] = { 0, 0, 0, 0, 0, 0, 0, -161, 0, -102, -102 };

    for (int round = 0; round < 3; round++) {
        assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
        for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
            assert_int_equal(run->out[i], expected[i]);
        }
        for (int i = 0; i < 64; i++) {
            assert_int_equal(run->out[400 + i], 2 * (i * i + 1));
        }
        assert_int_equal(run->out[20], 0);
    }
    finish_work(run, work);
}

/* Work begins in the order of the reservations, whichever is published first; 44 words of commands are one piece. */
static void reservations_keep_their_order(void **state)
{
    cl_command_queue work = NULL;
    struct run *run = prepare_work(
        state,
        "kernel void k(global int *out, queue_t work) {\n"
        "    queue_t first = ppu_reserve_work(work, 1), second = ppu_reserve_work(work, 2);\n"
        "    ppu_enqueue_wait(second);\n"
        "    enqueue_kernel(second, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[2] = atomic_inc(&out[0]); });\n"
        "    ppu_publish_work(second);\n"
        "    enqueue_kernel(first, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{\n"
        "        for (int i = 0; i < 10000; i++) atomic_add(&out[5], 1);\n"
        "        out[1] = atomic_inc(&out[0]); });\n"
        "    while (ppu_enqueue_wait(first) == 0) out[3]++;\n"
        "    ppu_publish_work(first);\n"
        "}",
        16, &work);

    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 2);
    assert_int_equal(run->out[1], 0);
    assert_int_equal(run->out[2], 1);
    assert_int_equal(run->out[3], 40);
    finish_work(run, work);
}

/* The second launch begins when a thread of the first says so, which may run on. */
static void work_waits_for_semaphores(void **state)
{
    cl_command_queue work = NULL;
    struct run *run = prepare_work(
        state,
        "kernel void k(global int *out, queue_t work) {\n"
        "    global int *sem = out + 16;\n"
        "    queue_t all = ppu_reserve_work(work, 2);\n"
        "    enqueue_kernel(all, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{\n"
        "        for (int i = 0; i < 20000; i++) atomic_add(&out[5], 1);\n"
        "        out[6] = 9;\n"
        "        out[0] = ppu_release_semaphore(sem, 1);\n"
        "        while (atomic_or(&out[7], 0) == 0);\n"
        "    });\n"
        "    out[1] = ppu_enqueue_acquire(all, sem, 1);\n"
        "    enqueue_kernel(all, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[8] = out[6]; atomic_inc(&out[7]); });\n"
        "    ppu_enqueue_wait(all);\n"
        "    out[2] = ppu_enqueue_release(all, sem, 5);\n"
        "    ppu_publish_work(all);\n"
        "    out[3] = ppu_enqueue_copy(work, out + 30, out + 16, 4);\n"
        "}",
        0, &work);

    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(run->out[i], 0);
    }
    assert_int_equal(run->out[8], 9);
    assert_int_equal(run->out[16], 5);
    assert_int_equal(run->out[30], 5);
    finish_work(run, work);
}

/* What is put behind the end of a round belongs to the next. */
static void a_thread_ends_the_round(void **state)
{
    cl_command_queue work = NULL;
    struct run *run =
        prepare_work(state,
                     "kernel void k(global int *out, queue_t work) {\n"
                     "    out[0] = ppu_work_round(work);\n"
                     "    if (out[10]++ > 0) return;\n"
                     "    enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[5] = 1; });\n"
                     "    out[1] = ppu_end_round(work, out[0]);\n"
                     "    out[2] = ppu_end_round(work, out[0]);\n"
                     "    out[3] = ppu_end_round(work, 0);\n"
                     "    enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[6] = 1; });\n"
                     "}",
                     0, &work);

    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 1);
    assert_int_equal(run->out[1], 0);
    assert_int_equal(run->out[2], CL_INVALID_OPERATION);
    assert_int_equal(run->out[3], CL_INVALID_OPERATION);
    assert_int_equal(run->out[5], 1);
    assert_int_equal(run->out[6], 0);
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 2);
    assert_int_equal(run->out[6], 1);
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 3);
    finish_work(run, work);
}

/*
 * Work of low priority, much more of it than there are slots, waits without end for urgent work that was put in behind
 * it. Nothing of it can be saved: a slot is kept for what is more urgent.
 */
static void urgent_work_goes_first(void **state)
{
    cl_command_queue work = NULL;
    struct run *run = prepare_work(
        state,
        "kernel void k(global int *out, queue_t work) {\n"
        "    out[0] = out[1] = 0;\n"
        "    for (int i = 0; i < 60; i++)\n"
        "        enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK | PPU_ENQUEUE_FLAGS_PRIORITY(0), ndrange_1D(1), ^{\n"
        "            while (atomic_or(&out[1], 0) == 0) ;\n"
        "            atomic_inc(out);\n"
        "        });\n"
        "    enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK | PPU_ENQUEUE_FLAGS_PRIORITY(7), ndrange_1D(1),\n"
        "                   ^{ atomic_inc(&out[1]); });\n"
        "}",
        0, &work);

    for (int round = 1; round <= 3; round++) {
        assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
        assert_int_equal(run->out[0], 60);
        assert_int_equal(run->out[1], 1);
    }
    finish_work(run, work);
}

/* ---- private memory ---- */

/*
 * Memory goes from one launch to the next while others run; in the end all of it is there again: bytes are counted, as
 * small pieces are parts of large ones that were given back.
 */
static void work_has_private_memory(void **state)
{
    cl_command_queue work = NULL;
    struct run *run = prepare_work(
        state,
        "int bytes_left(void) {\n"
        "    global ulong *list = 0, *piece;\n"
        "    int sum = 0;\n"
        "    for (int bytes = 1 << 17; bytes >= 32; bytes /= 2)\n"
        "        for (; (piece = ppu_heap_take(bytes - 16)) != 0; sum += bytes) { piece[0] = (ulong)list; list = piece; }\n"
        "    for (; list != 0; list = piece) { piece = (global ulong *)list[0]; ppu_heap_give(list); }\n"
        "    return sum;\n"
        "}\n"
        "void put(global int *out, queue_t work) {\n"
        "    int error = enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(96, 32), ^{\n"
        "        int id = get_global_id(0), x[40], sum = 0;\n"
        "        for (int i = 0; i < 40; i++) x[(i * 7 + id) % 40] = i + id;\n"
        "        for (int i = 0; i < 40; i++) sum += x[(i + out[3000]) % 40];\n"
        "        if (sum != 780 + 40 * id) atomic_inc(&out[1]);\n"
        "        atomic_inc(&out[0]);\n"
        "    });\n"
        "    if (error != 0) atomic_min(&out[2], error);\n"
        "}\n"
        "kernel void k(global int *out, queue_t work) {\n"
        "    if (get_global_id(0) == 0) out[3] = bytes_left();\n"
        "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
        "    put(out, work);\n"
        "}",
        1000, &work);

    for (int round = 1; round <= 6; round++) {
        const int before = run->out[3];
        assert_int_equal(run_launch(run, 40, 40), CL_COMPLETE);
        assert_int_equal(run->out[2], 0);
        assert_int_equal(run->out[1], 0);
        assert_int_equal(run->out[0], round * 40 * 96);
        assert_true(run->out[3] > 8 << 17);
        assert_true(round < 3 || run->out[3] == before);
    }
    finish_work(run, work);
}

/* ---- what is wrong ---- */

static void wrong_work_is_told(void **state)
{
    cl_command_queue work = NULL;
    struct run *run = prepare_work(
        state,
        "kernel void k(global int *out, queue_t work) {\n"
        "    queue_t other = get_default_queue(), stream = ppu_create_stream(), part = ppu_reserve_work(work, 1);\n"
        "    queue_t large = ppu_reserve_work(work, 14), none = ppu_reserve_work(work, 0);\n"
        "    queue_t huge = ppu_reserve_work(work, 0xffffffffu), full = ppu_reserve_work(work, 13);\n"
        "    out[0] = ppu_enqueue_wait(other); out[1] = ppu_enqueue_wait(stream);\n"
        "    out[2] = ppu_enqueue_wait(large); out[3] = ppu_enqueue_wait(none);\n"
        "    out[4] = ppu_enqueue_wait(huge); out[5] = ppu_enqueue_wait(full);\n"
        "    out[6] = ppu_publish_work(work); out[7] = ppu_publish_work(other); out[8] = ppu_publish_work(stream);\n"
        "    out[9] = ppu_wait_room(other, 1); out[10] = ppu_wait_room(part, 1);\n"
        "    out[11] = ppu_wait_room(work, 0); out[12] = ppu_wait_room(work, 14);\n"
        "    out[13] = ppu_wait_room(work, 0xffffffffu); out[14] = ppu_wait_room(work, 13);\n"
        "    out[15] = ppu_end_round(part, 1); out[16] = ppu_work_round(other);\n"
        "    out[17] = ppu_enqueue_copy(part, out, out, 1ul << 32); out[18] = ppu_enqueue_copy(other, out, out, 4);\n"
        "    out[19] = ppu_enqueue_acquire(part, out + 1, 1); out[20] = ppu_enqueue_release(part, out + 2, 1);\n"
        "    out[21] = ppu_enqueue_release(part, 0, 1); out[22] = ppu_release_semaphore(out + 3, 1);\n"
        "    out[23] = ppu_release_semaphore(0, 1);\n"
        "    out[24] = enqueue_kernel(part, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(2048, 2048), ^{ out[100] = 1; });\n"
        "    out[25] = enqueue_kernel(part, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^(local void *a) {\n"
        "        out[100] = *(local int *)a; }, 0u);\n"
        "    out[26] = enqueue_kernel(part, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^(local void *a) {\n"
        "        out[100] = *(local int *)a; }, 1u << 19);\n"
        "    out[27] = enqueue_kernel(part, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1024, 512), ^{\n"
        "        int x[50000]; for (int i = 0; i < 50000; i++) x[(i * 7) % 50000] = i; out[100] = x[out[0]]; });\n"
        "    out[28] = enqueue_kernel(part, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[101] = 1; });\n"
        "    out[29] = ppu_publish_work(part);\n"
        "}",
        16, &work);
    static const int expected[] = { -102, -102, -102, -102, -102, -102, -102, -102, -102, -102,
                                    -102, -30,  -30,  -30,  -161, -102, 0,    -30,  -102, -30,
                                    -30,  -30,  -30,  -30,  -160, -51,  -51,  -5,   0,    0 };

    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        if (run->out[i] != expected[i]) {
            fail_msg("result %zu is %d instead of %d", i, run->out[i], expected[i]);
        }
    }
    assert_int_equal(run->out[100], 0);
    assert_int_equal(run->out[101], 1);
    finish_work(run, work);
}

/* Each kind of command that faults is its command's; then the queue takes work again. */
static void commands_that_fault_are_told(void **state)
{
    static const char *const wrong[] = {
        "ppu_enqueue_copy(work, (global int *)0x123450, out, 64)",
        "ppu_enqueue_copy(work, out, (global int *)0x123450, 64)",
        "ppu_enqueue_acquire(work, (global int *)0x123450, 1)",
        "ppu_enqueue_release(work, (global int *)0x123450, 1)",
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(wrong); i++) {
        char text[1000];
        cl_command_queue work = NULL;
        snprintf(text, sizeof(text),
                 "kernel void k(global int *out, queue_t work) {\n"
                 "    if (out[0]++ == 0) out[1] = %s;\n"
                 "    enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(1), ^{ out[2]++; });\n"
                 "}",
                 wrong[i]);
        struct run *run = prepare_work(state, text, 0, &work);
        assert_int_equal(run_launch(run, 1, 1), CL_OUT_OF_RESOURCES);
        assert_int_equal(run->out[1], 0);
        assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
        assert_true(run->out[2] >= 1);
        finish_work(run, work);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("kernels make work for a work queue, and so does that work [C1 C2 C3]", work_is_made),
        cl_test("work that faults is its command's, and the work queue goes on [C6]", work_that_faults_is_told),
        cl_test("a work queue has as many entries as the host asked for [C1 C4]", rings_are_as_large_as_asked),
        cl_test("sizes of work queues that cannot be are refused [C1]", wrong_sizes_of_rings),
        cl_test("work waits for room in its work queue, and all of it runs [C4]", work_waits_for_room),
        cl_test("work is copies and several launches in order, when it is published [C3 C6 C8]",
                pieces_of_several_commands),
        cl_test("work begins in the order of its reservations [C3]", reservations_keep_their_order),
        cl_test("work acquires and releases semaphores [C6 C8]", work_waits_for_semaphores),
        cl_test("a thread ends the round, and what follows is the next one's [C5]", a_thread_ends_the_round),
        cl_test("urgent work goes before work that was put in earlier [A3 A4 A5]", urgent_work_goes_first),
        cl_test("work has private memory, which is given back [C6 B14]", work_has_private_memory),
        cl_test("wrong work is told, and the work queue goes on [C3 C4 C5 C6]", wrong_work_is_told),
        cl_test("commands of work that fault are their command's [C6]", commands_that_fault_are_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
