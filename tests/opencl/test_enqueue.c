/* SPDX-License-Identifier: MIT */
/* Tests kernels that enqueue kernels: what they left in memory, when their parent's command has ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/opencl/enqueue_run.h"

/* ---- forms ---- */

static void block_runs(void **state)
{
    struct run *run = run_done(state,
                               "kernel void k(global int *out) {\n"
                               "    int factor = 3;\n"
                               "    out[1000] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT,\n"
                               "        ndrange_1D(64, 16), ^{ out[get_global_id(0)] = factor * get_global_id(0)\n"
                               "                                   + 1000 * get_local_size(0); });\n"
                               "}",
                               CL3, 1, 1);

    assert_int_equal(run->out[1000], 0);
    for (int i = 0; i < 64; i++) {
        assert_int_equal(run->out[i], 3 * i + 16000);
    }
    assert_int_equal(run->out[64], 0);
    run_finish(run);
}

static void every_form_runs(void **state)
{
    struct run *run = run_done(
        state,
        "global int total;\n"
        "kernel void k(global int *out) {\n"
        "    queue_t q = get_default_queue();\n"
        "    ndrange_t range = ndrange_1D(32);\n"
        "    clk_event_t first, second, user = create_user_event();\n"
        "    out[100] = enqueue_kernel(q, " NO_WAIT ", range, 0, NULL, &first, ^{ out[get_global_id(0)] += 1; });\n"
        "    out[101] = enqueue_kernel(q, " NO_WAIT ", range, 1, &first, &second,\n"
        "        ^(local void *a, local void *b) {\n"
        "            local int *x = a; local long *y = b;\n"
        "            int i = get_global_id(0);\n"
        "            x[i] = out[i]; y[i] = 10 * i;\n"
        "            barrier(CLK_LOCAL_MEM_FENCE);\n"
        "            out[i] = x[31 - i] * 1000 + (int)y[31 - i];\n"
        "        }, 32 * 4, 32 * 8);\n"
        "    clk_event_t both[2] = { second, user };\n"
        "    out[102] = enqueue_kernel(q, " NO_WAIT ", range, 2, both, NULL,\n"
        "        ^(local void *a) { ((local int *)a)[get_local_id(0)] = 7;\n"
        "                            out[200 + get_global_id(0)] = out[get_global_id(0)] + ((local int *)a)[0]; }, 128u);\n"
        "    out[103] = enqueue_kernel(q, " NO_WAIT ", range, ^(local void *a) {\n"
        "        ((local int *)a)[get_local_id(0)] = 5; out[300 + get_global_id(0)] = ((local int *)a)[get_local_id(0)]; },\n"
        "        128);\n"
        "    out[104] = enqueue_kernel(q, " NO_WAIT ", range, ^{ atomic_inc(&total); });\n"
        "    set_user_event_status(user, CL_COMPLETE);\n"
        "    release_event(first); release_event(second); release_event(user);\n"
        "}\n"
        "kernel void sum(global int *out) { out[0] = total; }",
        CL3, 1, 1);

    for (int i = 0; i < 32; i++) {
        assert_int_equal(run->out[i], 1000 + 10 * (31 - i));
        assert_int_equal(run->out[200 + i], 1000 + 10 * (31 - i) + 7);
        assert_int_equal(run->out[300 + i], 5);
    }
    for (int i = 100; i < 105; i++) {
        assert_int_equal(run->out[i], 0);
    }
    cl_int error = CL_SUCCESS;
    cl_kernel sum = clCreateKernel(run->program, "sum", &error);
    check(error);
    check(clReleaseKernel(run->kernel));
    run->kernel = sum;
    check(clSetKernelArg(sum, 0, sizeof(run->buffer), &run->buffer));
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 32);
    run_finish(run);
}

static void ranges_are_seen(void **state)
{
    struct run *run = run_done(
        state,
        "void enqueue(global int *out, ndrange_t range) {\n"
        "    enqueue_kernel(get_default_queue(), " NO_WAIT ", range, ^{\n"
        "        if (get_local_linear_id() == 0 && get_group_id(0) + get_group_id(1) + get_group_id(2) == 0) {\n"
        "            out[0] = get_work_dim();\n"
        "            for (int i = 0; i < 3; i++) {\n"
        "                out[1 + i] = get_global_size(i); out[4 + i] = get_local_size(i);\n"
        "                out[7 + i] = get_global_offset(i); out[10 + i] = get_global_id(i);\n"
        "            }\n"
        "        }\n"
        "        atomic_inc(&out[15]);\n"
        "    });\n"
        "}\n"
        "kernel void k(global int *out) {\n"
        "    const size_t o[3] = { 3, 5, 7 }, g[3] = { 8, 6, 4 }, l[3] = { 4, 3, 2 };\n"
        "    switch (get_global_id(0)) {\n"
        "    case 0: enqueue(out, ndrange_1D(24)); break;\n"
        "    case 1: enqueue(out + 16, ndrange_1D(24, 8)); break;\n"
        "    case 2: enqueue(out + 32, ndrange_1D(2, 24, 8)); break;\n"
        "    case 3: enqueue(out + 48, ndrange_2D(g)); break;\n"
        "    case 4: enqueue(out + 64, ndrange_2D(g, l)); break;\n"
        "    case 5: enqueue(out + 80, ndrange_2D(o, g, l)); break;\n"
        "    case 6: enqueue(out + 96, ndrange_3D(g)); break;\n"
        "    case 7: enqueue(out + 112, ndrange_3D(g, l)); break;\n"
        "    case 8: enqueue(out + 128, ndrange_3D(o, g, l)); break;\n"
        "    case 9: enqueue(out + 144, ndrange_1D(2021)); break;\n"
        "    }\n"
        "}",
        CL3, 10, 10);
    const cl_int expected[10][16] = {
        { 1, 24, 1, 1, 24, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 24 },
        { 1, 24, 1, 1, 8, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 24 },
        { 1, 24, 1, 1, 8, 1, 1, 2, 0, 0, 2, 0, 0, 0, 0, 24 },
        { 2, 8, 6, 1, 8, 6, 1, 0, 0, 0, 0, 0, 0, 0, 0, 48 },
        { 2, 8, 6, 1, 4, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 48 },
        { 2, 8, 6, 1, 4, 3, 1, 3, 5, 0, 3, 5, 0, 0, 0, 48 },
        { 3, 8, 6, 4, 8, 6, 4, 0, 0, 0, 0, 0, 0, 0, 0, 192 },
        { 3, 8, 6, 4, 4, 3, 2, 0, 0, 0, 0, 0, 0, 0, 0, 192 },
        { 3, 8, 6, 4, 4, 3, 2, 3, 5, 7, 3, 5, 7, 0, 0, 192 },
        { 1, 2021, 1, 1, 47, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2021 },
    };

    for (int i = 0; i < 10; i++) {
        for (int j = 0; j < 16; j++) {
            if (run->out[16 * i + j] != expected[i][j]) {
                fail_msg("range %d, value %d: %d instead of %d", i, j, run->out[16 * i + j], expected[i][j]);
            }
        }
    }
    run_finish(run);
}

static void groups_are_told(void **state)
{
    struct run *run =
        run_done(state,
                 "kernel void k(global int *out) {\n"
                 "    int n = out[5];\n"
                 "    out[0] = get_kernel_work_group_size(^{ out[9] = n; });\n"
                 "    out[1] = get_kernel_preferred_work_group_size_multiple(^{ out[9] = n; });\n"
                 "    out[2] = get_kernel_work_group_size(^(local void *a) { out[9] = *(local int *)a; });\n"
                 "}",
                 CL3, 1, 1);

    size_t multiple = 0;
    check(clGetKernelWorkGroupInfo(run->kernel, run->f->device, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                   sizeof(multiple), &multiple, NULL));
    assert_int_equal(run->out[0], 1024);
    assert_int_equal(run->out[1], multiple);
    assert_int_equal(run->out[2], 1024);
    run_finish(run);
}

/* ---- order ---- */

/* 40 blocks, each after the one before it: without that, few would multiply in order. */
static void events_order(void **state)
{
    struct run *run = run_done(state,
                               "kernel void k(global int *out) {\n"
                               "    clk_event_t last, next;\n"
                               "    for (int i = 0; i < 40; i++) {\n"
                               "        enqueue_kernel(get_default_queue(), " NO_WAIT
                               ", ndrange_1D(1), i > 0, i > 0 ? &last : NULL,\n"
                               "            &next, ^{ out[0] = out[0] * 3 + i; });\n"
                               "        if (i > 0) release_event(last);\n"
                               "        last = next;\n"
                               "    }\n"
                               "    release_event(last);\n"
                               "}",
                               CL3, 1, 1);
    cl_uint expected = 0;

    for (cl_uint i = 0; i < 40; i++) {
        expected = expected * 3 + i;
    }
    assert_int_equal((cl_uint)run->out[0], expected);
    run_finish(run);
}

/* One, then eight beside each other, then one that adds up; a marker stands between. */
static void events_join(void **state)
{
    struct run *run = run_done(state,
                               "kernel void k(global int *out) {\n"
                               "    queue_t q = get_default_queue();\n"
                               "    clk_event_t root, mid[8], joined;\n"
                               "    enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), 0, NULL, &root, ^{ out[0] = 5; });\n"
                               "    for (int i = 0; i < 8; i++)\n"
                               "        enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), 1, &root, &mid[i],\n"
                               "                       ^{ out[1 + i] = out[0] + i; });\n"
                               "    out[20] = enqueue_marker(q, 8, mid, &joined);\n"
                               "    enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), 1, &joined, NULL,\n"
                               "        ^{ for (int i = 0; i < 8; i++) out[10] += out[1 + i]; });\n"
                               "    release_event(root); release_event(joined);\n"
                               "    for (int i = 0; i < 8; i++) release_event(mid[i]);\n"
                               "}",
                               CL3, 1, 1);

    assert_int_equal(run->out[20], 0);
    assert_int_equal(run->out[10], 8 * 5 + 28);
    run_finish(run);
}

/* Children that wait for their parent see what all its work-items wrote, and those of its children do too. */
static void parents_are_waited_for(void **state)
{
    struct run *run = run_prepare(*state,
                                  "kernel void k(global int *out) {\n"
                                  "    int n = get_global_size(0), i = get_global_id(0);\n"
                                  "    if (i == 0) {\n"
                                  "        for (int f = 1; f < 3; f++)\n"
                                  "            enqueue_kernel(get_default_queue(), f, ndrange_1D(1), ^{\n"
                                  "                for (int j = 0; j < n; j++) out[1000 * f] += out[j]; });\n"
                                  "    }\n"
                                  "    for (volatile int wait = 0; wait < 50; wait++) { }\n"
                                  "    out[i] = 2 * i;\n"
                                  "}",
                                  CL3);

    assert_int_equal(run_launch(run, 640, 64), CL_COMPLETE);
    assert_int_equal(run->out[1000], 640 * 639);
    assert_int_equal(run->out[2000], 640 * 639);
    run_finish(run);
}

/* A child may set what another one waits for; what waits for a failure does not run, and its event fails in turn. */
static void user_events_release_and_fail(void **state)
{
    struct run *run =
        run_done(state,
                 "kernel void k(global int *out) {\n"
                 "    queue_t q = get_default_queue();\n"
                 "    clk_event_t user = create_user_event(), bad = create_user_event(), after;\n"
                 "    out[10] = is_valid_event(user) + 2 * is_valid_event(CLK_NULL_EVENT);\n"
                 "    enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), 1, &user, NULL, ^{ out[0] = out[1]; });\n"
                 "    enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), 1, &bad, &after, ^{ out[2] = 1; });\n"
                 "    enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), 1, &after, NULL, ^{ out[3] = 1; });\n"
                 "    enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), ^{ out[1] = 42;\n"
                 "        set_user_event_status(user, CL_COMPLETE); set_user_event_status(bad, -1); });\n"
                 "    retain_event(after); release_event(after); release_event(after);\n"
                 "}",
                 CL3, 1, 1);

    assert_int_equal(run->out[10], 1);
    assert_int_equal(run->out[0], 42);
    assert_int_equal(run->out[2], 0);
    assert_int_equal(run->out[3], 0);
    run_finish(run);
}

static void times_are_captured(void **state)
{
    struct run *run = run_done(state,
                               "kernel void k(global int *out) {\n"
                               "    queue_t q = get_default_queue();\n"
                               "    clk_event_t event;\n"
                               "    enqueue_kernel(q, " NO_WAIT ", ndrange_1D(64, 32), 0, NULL, &event, ^{\n"
                               "        for (volatile int i = 0; i < 300; i++) { }\n"
                               "        enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), ^{\n"
                               "            for (volatile int i = 0; i < 3000; i++) { } });\n"
                               "    });\n"
                               "    capture_event_profiling_info(event, CLK_PROFILING_COMMAND_EXEC_TIME, out);\n"
                               "    release_event(event);\n"
                               "}",
                               CL3, 1, 1);
    cl_ulong times[2];

    memcpy(times, run->out, sizeof(times));
    assert_true(times[0] > 0);
    assert_true(times[1] > times[0]);
    assert_true(times[1] < 60000000000ull);
    run_finish(run);
}

/* ---- trees ---- */

/* Each enqueues two below itself: the command ends after the last of 63. */
static void trees_end_with_their_root(void **state)
{
    struct run *run = run_done(state,
                               "void below(global int *out, int node) {\n"
                               "    int left = 2 * node, right = 2 * node + 1;\n"
                               "    out[node] = node;\n"
                               "}\n"
                               "kernel void k(global int *out) {\n"
                               "    queue_t q = get_default_queue();\n"
                               "    int node = out[0] == 0 ? 1 : out[0];\n"
                               "    out[node] = 1;\n"
                               "    for (int i = 0; i < 4; i++)\n"
                               "        enqueue_kernel(q, i % 3, ndrange_1D(4), ^{\n"
                               "            int j = get_global_id(0);\n"
                               "            queue_t own = get_default_queue();\n"
                               "            out[16 + 4 * i + j] = 1;\n"
                               "            enqueue_kernel(own, (i + j) % 3, ndrange_1D(4), ^{\n"
                               "                int l = get_global_id(0);\n"
                               "                out[64 + 16 * i + 4 * j + l] = 1;\n"
                               "                enqueue_kernel(get_default_queue(), l % 3, ndrange_1D(4), ^{\n"
                               "                    out[256 + 64 * i + 16 * j + 4 * l + get_global_id(0)] = 1; });\n"
                               "            });\n"
                               "        });\n"
                               "}",
                               CL3, 1, 1);

    for (int i = 0; i < 16; i++) {
        assert_int_equal(run->out[16 + i], 1);
    }
    for (int i = 0; i < 64; i++) {
        assert_int_equal(run->out[64 + i], 1);
    }
    for (int i = 0; i < 256; i++) {
        assert_int_equal(run->out[256 + i], 1);
    }
    run_finish(run);
}

/* A kernel may enqueue itself as often as it likes, as long as nothing has to end behind it. */
static void chains_have_no_end(void **state)
{
    struct run *run = run_done(
        state,
        "void next(global int *out, int left) {\n"
        "    out[0]++;\n"
        "    if (left > 0 && enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),\n"
        "                                   ^{ next(out, left - 1); }) != 0) out[1]++;\n"
        "}\n"
        "kernel void k(global int *out) { next(out, 3000); }",
        CL3, 1, 1);

    assert_int_equal(run->out[0], 3001);
    assert_int_equal(run->out[1], 0);
    run_finish(run);
}

/* The same with private memory of which not every record can keep its own: it goes from one to the next. */
static void chains_take_private_memory(void **state)
{
    struct run *run = run_done(
        state,
        "void next(global int *out, int left) {\n"
        "    int x[100];\n"
        "    for (int i = 0; i < 100; i++) x[(i * 7 + left) % 100] = i;\n"
        "    out[0] += x[(out[3] + left) % 100] == 0;\n"
        "    if (left > 0 && enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),\n"
        "                                   ^{ next(out, left - 1); }) != 0) out[1]++;\n"
        "}\n"
        "kernel void k(global int *out) { next(out, 3000); }",
        CL3, 1, 1);

    assert_int_equal(run->out[0], 3001);
    assert_int_equal(run->out[1], 0);
    run_finish(run);
}

/* What has an event ends after all below it: a kernel that enqueues itself so is told when it is too deep. */
static void depth_has_an_end(void **state)
{
    struct run *run =
        run_done(state,
                 "kernel void k(global int *out) {\n"
                 "    clk_event_t event;\n"
                 "    atomic_inc(&out[0]);\n"
                 "    int error = enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), 0, NULL, &event,\n"
                 "                               ^{ k(out); });\n"
                 "    if (error != 0) out[1] = error; else release_event(event);\n"
                 "}",
                 CL3 " -g", 1, 1);

    assert_int_equal(run->out[0], 32);
    assert_int_equal(run->out[1], -5);
    run_finish(run);
}

/* Each of many work-items enqueues, and so does each of what it enqueued: far more than there are records. */
static void all_work_items_enqueue(void **state)
{
    struct run *run = run_done(
        state,
        "void block(global int *out, int level) {\n"
        "    atomic_inc(&out[level]);\n"
        "    if (level < 4 && enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4),\n"
        "                                    ^{ block(out, level + 1); }) != 0) atomic_inc(&out[10]);\n"
        "}\n"
        "kernel void k(global int *out) { block(out, 0); }",
        CL3, 32, 32);

    for (int level = 0, expected = 32; level < 5; level++, expected *= 4) {
        assert_int_equal(run->out[level], expected);
    }
    assert_int_equal(run->out[10], 0);
    run_finish(run);
}

/* What waits for its parent's end starts though the parent's last work-group is smaller than the others. */
static void ends_with_a_smaller_work_group(void **state)
{
    struct run *run = run_done(
        state,
        "void block(global int *out, int level) {\n"
        "    atomic_inc(&out[level]);\n"
        "    if (level < 3 && get_global_id(0) == 2 &&\n"
        "        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(level * 10 + 11, 7),\n"
        "                       ^{ block(out, level + 1); }) != 0) atomic_inc(&out[10]);\n"
        "}\n"
        "kernel void k(global int *out) { block(out, 0); }",
        CL3, 20, 8);

    assert_int_equal(run->out[0], 20);
    assert_int_equal(run->out[1], 11);
    assert_int_equal(run->out[2], 21);
    assert_int_equal(run->out[3], 31);
    assert_int_equal(run->out[10], 0);
    run_finish(run);
}

/* Blocks that no record has room for, waiting and not, some of them parked; their memory comes back. */
static void large_blocks_run(void **state)
{
    struct run *run = run_prepare(*state,
                                  "typedef struct { int word[500]; } large;\n"
                                  "kernel void k(global int *out) {\n"
                                  "    clk_event_t start = create_user_event();\n"
                                  "    int base = get_global_id(0) * 10;\n"
                                  "    large x;\n"
                                  "    for (int i = 0; i < 500; i++) x.word[i] = base + i;\n"
                                  "    out[100] |= enqueue_kernel(get_default_queue(), " NO_WAIT
                                  ", ndrange_1D(40), 1, &start, NULL,\n"
                                  "        ^{ atomic_add(&out[base / 10], x.word[get_global_id(0) * 10]); });\n"
                                  "    set_user_event_status(start, CL_COMPLETE);\n"
                                  "    release_event(start);\n"
                                  "}",
                                  CL3);

    for (int round = 1; round <= CL_ROUNDS(40, 8); round++) {
        assert_int_equal(run_launch(run, 50, 50), CL_COMPLETE);
        for (int i = 0; i < 50; i++) {
            assert_int_equal(run->out[i], round * (40 * 10 * i + 10 * 39 * 40 / 2));
        }
    }
    assert_int_equal(run->out[100], 0);
    run_finish(run);
}

/* ---- what children have ---- */

static void children_have_everything(void **state)
{
    struct run *run = run_done(
        state,
        "constant int table[4] = { 11, 22, 33, 44 };\n"
        "global int counter = 100;\n"
        "typedef struct { int a[20]; double b; } big;\n"
        "kernel void k(global int *out) {\n"
        "    big x; x.a[7] = 77; x.b = 2.5;\n"
        "    for (int i = 0; i < 20; i++) x.a[i] = i;\n"
        "    out[50] = enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(128, 64), ^{\n"
        "        int own[16], g = get_global_id(0);\n"
        "        for (int i = 0; i < 16; i++) own[i] = g * i + out[60];\n"
        "        int at = (g + out[61]) % 16;\n"
        "        out[100 + g] = own[at] + table[g % 4] + x.a[7] + (int)(2 * x.b);\n"
        "        atomic_inc(&counter);\n"
        "    });\n"
        "    out[51] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ out[52] = 1; });\n"
        "}",
        CL3, 1, 1);
    const int table[4] = { 11, 22, 33, 44 };

    assert_int_equal(run->out[50], 0);
    assert_int_equal(run->out[52], 1);
    for (int g = 0; g < 128; g++) {
        assert_int_equal(run->out[100 + g], g * (g % 16) + table[g % 4] + 7 + 5);
    }
    run_finish(run);
}

static void a_queue_is_an_argument(void **state)
{
    struct fixture *f = *state;
    const cl_queue_properties other[] = { CL_QUEUE_PROPERTIES,
                                          CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE |
                                              CL_QUEUE_PROFILING_ENABLE,
                                          CL_QUEUE_SIZE, 16384, 0 };
    struct run *run =
        run_prepare(f,
                    "kernel void k(global int *out, queue_t q) {\n"
                    "    queue_t queues[2] = { q, get_default_queue() };\n"
                    "    for (int i = 0; i < 2; i++)\n"
                    "        enqueue_kernel(queues[i], " NO_WAIT ", ndrange_1D(4), ^{\n"
                    "            enqueue_kernel(q, " NO_WAIT ", ndrange_1D(4), ^{ atomic_inc(&out[i]); }); });\n"
                    "}",
                    CL3);
    cl_int error = CL_SUCCESS;

    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, other, &error);
    check(error);
    assert_int_equal(clSetKernelArg(run->kernel, 1, sizeof(f->queue), &f->queue), CL_INVALID_DEVICE_QUEUE);
    assert_int_equal(clSetKernelArg(run->kernel, 1, 4, &queue), CL_INVALID_ARG_SIZE);
    assert_int_equal(clSetKernelArg(run->kernel, 1, sizeof(queue), NULL), CL_INVALID_DEVICE_QUEUE);
    check(clSetKernelArg(run->kernel, 1, sizeof(queue), &queue));
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 16);
    assert_int_equal(run->out[1], 16);
    check(clReleaseCommandQueue(queue));
    run_finish(run);
}

/* ---- streams and waiting: cl_ppu_nested_streams ---- */

/* Twenty blocks in each of three streams: each multiplies what the one before it left. */
static void streams_keep_order(void **state)
{
    struct run *run = run_done(state,
                               "#ifndef cl_ppu_nested_streams\n"
                               "#error the extension is not there\n"
                               "#endif\n"
                               "kernel void k(global int *out) {\n"
                               "    queue_t stream[3];\n"
                               "    for (int s = 0; s < 3; s++) stream[s] = ppu_create_stream();\n"
                               "    for (int i = 0; i < 20; i++)\n"
                               "        for (int s = 0; s < 3; s++)\n"
                               "            enqueue_kernel(stream[s], " NO_WAIT
                               ", ndrange_1D(1), ^{ out[s] = out[s] * 5 + i + s; });\n"
                               "    for (int s = 0; s < 3; s++) out[10 + s] = ppu_destroy_stream(stream[s]);\n"
                               "    out[13] = ppu_destroy_stream(get_default_queue());\n"
                               "}",
                               CL3, 1, 1);

    for (cl_uint s = 0; s < 3; s++) {
        cl_uint expected = 0;
        for (cl_uint i = 0; i < 20; i++) {
            expected = expected * 5 + i + s;
        }
        assert_int_equal((cl_uint)run->out[s], expected);
        assert_int_equal(run->out[10 + s], 0);
    }
    assert_int_equal(run->out[13], -102);
    run_finish(run);
}

/* Fibonacci's numbers: each task waits for two below it and adds up what they left. */
static void parents_wait(void **state)
{
    struct run *run = run_done(
        state,
        "kernel void fib(global int *out, int at, int n) {\n"
        "    if (n < 2) { out[at] = n; return; }\n"
        "    enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), ^{ fib(out, 2 * at, n - 1); });\n"
        "    enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), ^{ fib(out, 2 * at + 1, n - 2); });\n"
        "    ppu_wait_children();\n"
        "    out[at] = out[2 * at] + out[2 * at + 1];\n"
        "}\n"
        "kernel void k(global int *out) { fib(out, 1, 9); }",
        CL3, 1, 1);

    assert_int_equal(run->out[1], 34);
    run_finish(run);
}

/* A context and a queue of their own, with these properties. */
static struct fixture waiting_fixture(const struct fixture *f, const cl_context_properties *properties)
{
    struct fixture own = *f;
    cl_int error = CL_SUCCESS;

    own.context = clCreateContext(properties, 1, &f->device, NULL, NULL, &error);
    check(error);
    own.queue = clCreateCommandQueueWithProperties(own.context, f->device, NULL, &error);
    check(error);
    return own;
}

static void waiting_fixture_end(struct fixture *own)
{
    check(clReleaseCommandQueue(own->queue));
    check(clReleaseContext(own->context));
}

#define GROUPS 200

/* None of the first `beside` groups goes on before all of them have begun. Each then waits for its child. */
static void wait_beside(struct fixture *f, uint32_t beside)
{
    static const char source[] =
        "kernel void k(global int *out) {\n"
        "    int group = get_group_id(0);\n"
        "    volatile global atomic_int *begun = (volatile global atomic_int *)out;\n"
        "    if (get_local_id(0) == 0) {\n"
        "        atomic_fetch_add(begun, 1);\n"
        "        for (int looks = 0; atomic_load(begun) < BESIDE; looks++) {\n"
        "            if (looks == LOOKS) { atomic_store(begun + 2, 1); return; }\n"
        "        }\n"
        "        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1),\n"
        "                       ^{ out[16 + group] = group; });\n"
        "    }\n"
        "    ppu_wait_children();\n"
        "    if (get_local_id(0) == 0 && out[16 + group] == group) atomic_fetch_add(begun + 1, 1);\n"
        "}";
    char options[60];

    snprintf(options, sizeof(options), CL3 " -D BESIDE=%u -D LOOKS=200000", beside);
    struct run *run = run_prepare(f, source, options);
    assert_int_equal(run_launch(run, GROUPS * 8, 8), CL_COMPLETE);
    assert_int_equal(run->out[2], 0); /* none has given up */
    assert_int_equal(run->out[0], GROUPS);
    assert_int_equal(run->out[1], GROUPS);
    run_finish(run);
}

static void groups_wait_beside_each_other(void **state)
{
    wait_beside(*state, 16);
}

static void as_many_groups_as_asked_for(void **state)
{
    const cl_context_properties many[] = { CL_CONTEXT_WAITING_GROUPS_PPU, 64, CL_CONTEXT_WAITING_BYTES_PPU, 32768, 0 };
    struct fixture own = waiting_fixture(*state, many);

    wait_beside(&own, 64);
    waiting_fixture_end(&own);
    setenv("PPU_WAITING_GROUPS", "32", 1);
    own = waiting_fixture(*state, NULL);
    unsetenv("PPU_WAITING_GROUPS");
    wait_beside(&own, 32);
    waiting_fixture_end(&own);
}

static void CL_CALLBACK keep_text(const char *text, const void *data, size_t bytes, void *user)
{
    (void)data, (void)bytes;
    snprintf(user, 200, "%s", text);
}

static void refuse_context(const struct fixture *f, const cl_context_properties *properties, const char *why)
{
    char text[200] = "";
    cl_int error = CL_SUCCESS;

    assert_null(clCreateContext(properties, 1, &f->device, keep_text, text, &error));
    assert_int_equal(error, CL_INVALID_PROPERTY);
    assert_string_equal(text, why);
}

static void wrong_settings_of_waiting(void **state)
{
    const struct fixture *f = *state;
    const cl_context_properties many[] = { CL_CONTEXT_WAITING_GROUPS_PPU, 65, 0 };
    const cl_context_properties none[] = { CL_CONTEXT_WAITING_BYTES_PPU, 0, 0 };
    const cl_context_properties twice[] = { CL_CONTEXT_WAITING_GROUPS_PPU, 1, CL_CONTEXT_WAITING_GROUPS_PPU, 1, 0 };

    refuse_context(f, many, "create a context: property 0x4f53 is 65: a number from 1 to 64");
    refuse_context(f, none, "create a context: property 0x4f54 is 0: a number from 1 to 16777216");
    refuse_context(f, twice, "");
    setenv("PPU_WAITING_BYTES", "64k", 1);
    refuse_context(f, NULL,
                   "create a context: PPU_WAITING_BYTES=64k: a number from 1 to 16777216, or 0 for the default");
    unsetenv("PPU_WAITING_BYTES");
}

/* More contexts than four enqueue and wait, all of them open, where there is memory for them. */
static void contexts_with_queues(void **state)
{
    enum { CONTEXTS = 5, A_CONTEXT = 24u << 20 };
    const struct fixture *f = *state;
    struct fixture own[CONTEXTS];
    struct run *run[CONTEXTS];
    cl_ulong memory = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(memory), &memory, NULL));
    const uint32_t contexts = (uint32_t)PPU_MIN(memory / A_CONTEXT, CONTEXTS);
    assert_true(contexts > 1);
    for (uint32_t i = 0; i < contexts; i++) {
        own[i] = waiting_fixture(*state, NULL);
        run[i] = run_prepare(&own[i],
                             "kernel void k(global int *out) {\n"
                             "    enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), ^{ out[1] = 5; });\n"
                             "    ppu_wait_children();\n"
                             "    out[0] = out[1] + 1;\n"
                             "}",
                             CL3);
    }
    for (uint32_t i = 0; i < contexts; i++) {
        assert_int_equal(run_launch(run[i], 1, 1), CL_COMPLETE);
        assert_int_equal(run[i]->out[0], 6);
        run_finish(run[i]);
        waiting_fixture_end(&own[i]);
    }
}

static cl_command_queue queue_of_size(const struct fixture *f, cl_uint bytes, cl_int *error)
{
    const cl_queue_properties sized[] = { CL_QUEUE_PROPERTIES,
                                          CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_SIZE,
                                          bytes, 0 };

    return clCreateCommandQueueWithProperties(f->context, f->device, sized, error);
}

/* The second context beside others has less memory for what is enqueued, unless it asks for it first. */
static void sizes_of_queues_beside_others(void **state)
{
    struct fixture *f = *state;
    struct fixture small = waiting_fixture(f, NULL), large = waiting_fixture(f, NULL);
    cl_command_queue queue = run_default_queue(f), left_open = run_default_queue(&small);
    cl_uint most = 0, size = 0;
    cl_int error = CL_SUCCESS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, sizeof(most), &most, NULL));
    check(clGetCommandQueueInfo(left_open, CL_QUEUE_SIZE, sizeof(size), &size, NULL));
    assert_in_range(size, 1u << 20, most / 2);
    assert_null(queue_of_size(&small, most, &error));
    assert_int_equal(error, CL_OUT_OF_RESOURCES);
    cl_command_queue sized = queue_of_size(&large, most, &error);
    check(error);
    check(clGetCommandQueueInfo(sized, CL_QUEUE_SIZE, sizeof(size), &size, NULL));
    assert_int_equal(size, most);
    check(clReleaseCommandQueue(sized));
    check(clReleaseCommandQueue(left_open));
    check(clReleaseCommandQueue(queue));
    waiting_fixture_end(&large);
    waiting_fixture_end(&small);
}

/* The command fails; the queue and what needs less go on. */
static void state_larger_than_its_place(void **state)
{
    const cl_context_properties small[] = { CL_CONTEXT_WAITING_BYTES_PPU, 4096, 0 };
    struct fixture own = waiting_fixture(*state, small);
    struct run *run = run_prepare(&own,
                                  "kernel void k(global int *out, int wait) {\n"
                                  "    local int sum[2048];\n"
                                  "    sum[get_local_id(0)] = 5;\n"
                                  "    if (wait) ppu_wait_children();\n"
                                  "    out[get_global_id(0)] = sum[get_local_id(0)];\n"
                                  "}\n"
                                  "kernel void small(global int *out) { out[0] = 7; }",
                                  CL3);
    const cl_int wait = 1;
    cl_int error = CL_SUCCESS;

    check(clSetKernelArg(run->kernel, 1, sizeof(wait), &wait));
    assert_int_equal(run_launch(run, 8, 8), CL_OUT_OF_RESOURCES);
    check(clReleaseKernel(run->kernel));
    run->kernel = clCreateKernel(run->program, "small", &error);
    check(error);
    check(clSetKernelArg(run->kernel, 0, sizeof(run->buffer), &run->buffer));
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 7);
    run_finish(run);
    waiting_fixture_end(&own);
}

/* Group 0 waits for its own child. Its sisters' children wait for group 0 to go on. */
static void sisters_wait_for_their_own(void **state)
{
    struct run *run = run_done(state,
                               "kernel void k(global int *out) {\n"
                               "    volatile global atomic_int *flag = (volatile global atomic_int *)out;\n"
                               "    int group = get_group_id(0);\n"
                               "    enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), ^{\n"
                               "        while (group != 0 && atomic_load(flag) == 0);\n"
                               "        atomic_fetch_add(flag + 1, 1);\n"
                               "    });\n"
                               "    ppu_wait_children();\n"
                               "    if (group == 0) atomic_store(flag, 1);\n"
                               "    atomic_fetch_add(flag + 2, 1);\n"
                               "}",
                               CL3, 4, 1);

    assert_int_equal(run->out[1], 4);
    assert_int_equal(run->out[2], 4);
    run_finish(run);
}

/* A child uses memory that its parent has taken. All of the heap can be taken, and is there again. */
static void kernels_take_memory(void **state)
{
    struct run *run =
        run_done(state,
                 "int take_all(global int *out) {\n"
                 "    global ulong *list = 0, *piece;\n"
                 "    int count = 0;\n"
                 "    while ((piece = ppu_heap_take(65536)) != 0) {\n"
                 "        piece[0] = (ulong)list; piece[8191] = count++; list = piece;\n"
                 "    }\n"
                 "    for (int i = count; list != 0; list = piece) {\n"
                 "        piece = (global ulong *)list[0];\n"
                 "        out[8] += list[8191] != --i || ppu_heap_give(list) != 0;\n"
                 "    }\n"
                 "    return count;\n"
                 "}\n"
                 "kernel void k(global int *out) {\n"
                 "    global int *piece = ppu_heap_take(100);\n"
                 "    piece[0] = 41;\n"
                 "    enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), ^{ out[0] = ++piece[0]; });\n"
                 "    ppu_wait_children();\n"
                 "    out[1] = piece[0];\n"
                 "    out[2] = ppu_heap_give(piece);\n"
                 "    out[3] = ppu_heap_give(0);\n"
                 "    out[4] = ppu_heap_give(out);\n"
                 "    out[5] = ppu_heap_give((global char *)piece + 8);\n"
                 "    out[6] = take_all(out);\n"
                 "    out[7] = take_all(out);\n"
                 "    piece = ppu_heap_take(40000);\n" /* room for one of these may never have been in a piece */
                 "    global int *second = ppu_heap_take(40000);\n"
                 "    out[10] = piece != 0 && second != 0 && ppu_heap_give(piece) == 0 && ppu_heap_give(second) == 0;\n"
                 "    out[11] = out[7] - take_all(out);\n"
                 "    out[9] = ppu_heap_take((1u << 30) + 1) == 0;\n"
                 "}",
                 CL3, 1, 1);

    assert_int_equal(run->out[0], 42);
    assert_int_equal(run->out[1], 42);
    assert_int_equal(run->out[2], 0);
    assert_int_equal(run->out[3], 0);
    assert_int_equal(run->out[4], -30);
    assert_int_equal(run->out[5], -30);
    assert_true(run->out[6] > 8);
    assert_int_equal(run->out[7], run->out[6]);
    assert_int_equal(run->out[8], 0);
    assert_int_equal(run->out[9], 1);
    assert_int_equal(run->out[10], 1);
    assert_int_equal(run->out[11], 1);
    run_finish(run);
}

/* What one has taken no other has. */
static void pieces_are_disjoint(void **state)
{
    struct run *run = run_done(state,
                               "kernel void k(global int *out) {\n"
                               "    int id = get_global_id(0);\n"
                               "    for (int turn = 0; turn < 10; turn++) {\n"
                               "        int words = 1 + (id * 7 + turn) % 40;\n"
                               "        global int *piece = ppu_heap_take(4 * words);\n"
                               "        if (piece == 0) { out[id] = -1; return; }\n"
                               "        for (int i = 0; i < words; i++) piece[i] = id + i;\n"
                               "        barrier(CLK_GLOBAL_MEM_FENCE);\n"
                               "        for (int i = 0; i < words; i++) out[id] += piece[i] == id + i ? 0 : 1000;\n"
                               "        out[id] += ppu_heap_give(piece) == 0;\n"
                               "    }\n"
                               "}",
                               CL3, 512, 64);

    for (uint32_t i = 0; i < 512; i++) {
        assert_int_equal(run->out[i], 10);
    }
    run_finish(run);
}

/*
 * One block that is enqueued last, at the head, starts before many that wait for a slot. They end when the parent says
 * so; by then the firmware has the last one in nearly all runs. In order it would be the 151st of all to start, and at
 * most 64 can have a slot.
 */
static void blocks_at_the_head(void **state)
{
    static const char source[] =
        "kernel void k(global int *out) {\n"
        "    volatile global atomic_int *word = (volatile global atomic_int *)out;\n"
        "    atomic_store(word, 0);\n"
        "    atomic_store(word + 1, 0);\n"
        "    for (int i = 0; i < 150; i++)\n"
        "        enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1),\n"
        "                       ^{ atomic_fetch_add(word, 1); while (atomic_load(word + 1) == 0); });\n"
        "    out[3] = enqueue_kernel(get_default_queue(), " NO_WAIT " | PPU_ENQUEUE_FLAGS_HEAD, ndrange_1D(1),\n"
        "                            ^{ out[2] = atomic_fetch_add(word, 1); });\n"
        "    for (int i = 0; i < 20000; i++) atomic_load(word + 1);\n"
        "    atomic_store(word + 1, 1);\n"
        "}";
    struct run *run = run_prepare(*state, source, CL3);
    bool early = false;

    for (uint32_t tries = 0; tries < 20 && !early; tries++) {
        assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
        assert_int_equal(run->out[0], 151);
        assert_int_equal(run->out[3], 0);
        early = run->out[2] < 100;
    }
    assert_true(early);
    run_finish(run);
}

/* ---- errors ---- */

#define ERRORS                                                                               \
    "kernel void k(global int *out) {\n"                                                     \
    "    queue_t q = get_default_queue();\n"                                                 \
    "    clk_event_t event = create_user_event(), null = CLK_NULL_EVENT;\n"                  \
    "    void (^block)(void) = ^{ out[20] = 1; };\n"                                         \
    "    ndrange_t range = ndrange_1D(8);\n"                                                 \
    "    range.workDimension = 4;\n"                                                         \
    "    out[0] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(10, 1025), block);\n"            \
    "    out[1] = enqueue_kernel(q, " NO_WAIT ", range, block);\n"                           \
    "    out[2] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(4096, 2048), block);\n"          \
    "    out[3] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(8), 1, NULL, &null, block);\n"   \
    "    out[4] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(8), 0, &event, &null, block);\n" \
    "    out[5] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(8), 1, &null, NULL, block);\n"   \
    "    out[6] = enqueue_kernel(q, " NO_WAIT                                                \
    ", ndrange_1D(8), ^(local void *a) { out[20] = *(local int *)a; }, 0u);\n"               \
    "    out[7] = enqueue_kernel(q, " NO_WAIT                                                \
    ", ndrange_1D(8), ^(local void *a) { out[20] = *(local int *)a; }, 1u << 20);\n"         \
    "    out[8] = enqueue_marker(q, 0, NULL, NULL);\n"                                       \
    "    out[9] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(0), block);\n"                   \
    "    release_event(event);\n"                                                            \
    "}"

static void errors_are_told(void **state)
{
    const cl_int expected[] = { -160, -160, -160, -57, -57, -57, -51, -51, -57, -160 };
    struct run *run = run_done(state, ERRORS, CL3 " -g", 1, 1);

    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        if (run->out[i] != expected[i]) {
            fail_msg("error %zu is %d instead of %d", i, run->out[i], expected[i]);
        }
    }
    assert_int_equal(run->out[20], 0);
    run_finish(run);
    run = run_done(state, ERRORS, CL3, 1, 1);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        assert_int_equal(run->out[i], -101);
    }
    run_finish(run);
}

static void no_queue_is_told(void **state)
{
    struct run *run = run_prepare(*state,
                                  "kernel void k(global int *out) {\n"
                                  "    queue_t q = get_default_queue();\n"
                                  "    out[0] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1), ^{ out[1] = 1; });\n"
                                  "}",
                                  CL3 " -g");

    check(clReleaseCommandQueue(run->device_queue));
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], -102);
    assert_int_equal(run->out[1], 0);
    run->device_queue = run_default_queue(run->f);
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 0);
    assert_int_equal(run->out[1], 1);
    run_finish(run);
}

/* More than there is room for: some are told so, all others run; and afterwards there is room again. */
static void a_full_queue_is_told(void **state)
{
    struct run *run =
        run_prepare(*state,
                    "kernel void k(global int *out) {\n"
                    "    clk_event_t start = create_user_event();\n"
                    "    for (int full = 0; full < 100;) {\n"
                    "        int error = enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), 1, &start,\n"
                    "            NULL, ^{ atomic_inc(&out[0]); });\n"
                    "        if (error == 0) out[1]++;\n"
                    "        else full++;\n"
                    "        if (error == CLK_DEVICE_QUEUE_FULL) out[2]++;\n"
                    "        else if (error != 0) out[3] = error;\n"
                    "    }\n"
                    "    set_user_event_status(start, CL_COMPLETE);\n"
                    "    release_event(start);\n"
                    "}",
                    CL3 " -g");

    for (int round = 0; round < CL_ROUNDS(2, 1); round++) {
        const cl_int before = run->out[0], accepted = run->out[1];
        assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
        assert_int_equal(run->out[3], 0);
        assert_true(run->out[2] > 0);
        assert_true(run->out[1] - accepted > 200);
        assert_int_equal(run->out[0] - before, run->out[1] - accepted);
    }
    run_finish(run);
}

/* What small blocks had in one command serves large ones in the next. */
static void memory_of_small_blocks_is_joined(void **state)
{
    struct run *run = run_prepare(
        *state,
        "void large(global int *out) {\n"
        "    int x[256];\n"
        "    for (int i = 0; i < 256; i++) x[(i * 7 + out[3]) % 256] = i;\n"
        "    atomic_add(&out[4], x[out[3]] == 0);\n"
        "}\n"
        "kernel void k(global int *out) {\n"
        "    queue_t q = get_default_queue();\n"
        "    while (out[0] == 0 && enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1),\n"
        "                                         ^{ atomic_inc(&out[1]); }) == 0);\n"
        "    if (out[0] == 1) out[2] = enqueue_kernel(q, " NO_WAIT ", ndrange_1D(1024), ^{ large(out); });\n"
        "    out[0]++;\n"
        "}",
        CL3 " -g");

    for (int round = 0; round < 2; round++) {
        assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    }
    assert_true(run->out[1] > 200);
    assert_int_equal(run->out[2], 0);
    assert_int_equal(run->out[4], 1024);
    run_finish(run);
}

/* A child that faults ends the whole tree; the queue goes on. */
static void a_child_that_faults_is_told(void **state)
{
    struct run *run =
        run_prepare(*state,
                    "kernel void k(global int *out) {\n"
                    "    int bad = out[0];\n"
                    "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(32), ^{\n"
                    "        if (bad == 0) *(volatile global int *)0x123450 = 1;\n"
                    "        out[1 + get_global_id(0)] = 5; });\n"
                    "    out[0] = 1;\n"
                    "}",
                    CL3);

    assert_int_equal(run_launch(run, 1, 1), CL_OUT_OF_RESOURCES);
    assert_int_equal(run->out[0], 1);
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[32], 5);
    run_finish(run);
}

/* ---- the host's side ---- */

/* As many queues as the device reports can be made beside the default one, and given to one kernel. */
static void all_queues_are_there(void **state)
{
    struct fixture *f = *state;
    const cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES,
                                           CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
    cl_command_queue queues[1024];
    char source[32768] = "kernel void k(global int *out";
    size_t at = strlen(source);
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_ON_DEVICE_QUEUES, sizeof(count), &count, NULL));
    assert_in_range(count, 2, 1024);
    for (cl_uint i = 0; i < count; i++) {
        queues[i] = clCreateCommandQueueWithProperties(f->context, f->device, wanted, &error);
        check(error);
        at += (size_t)sprintf(source + at, ", queue_t q%u", i);
    }
    sprintf(source + at, ") { out[1] = enqueue_kernel(q%u, " NO_WAIT ", ndrange_1D(1), ^{ out[0] = 7; }); }",
            count - 1);
    struct run *run = run_prepare(f, source, CL3);
    assert_null(clCreateCommandQueueWithProperties(f->context, f->device, wanted, &error));
    assert_int_equal(error, CL_OUT_OF_RESOURCES);
    for (cl_uint i = 0; i < count; i++) {
        check(clSetKernelArg(run->kernel, 1 + i, sizeof(queues[i]), &queues[i]));
    }
    assert_int_equal(run_launch(run, 1, 1), CL_COMPLETE);
    assert_int_equal(run->out[0], 7);
    assert_int_equal(run->out[1], 0);
    for (cl_uint i = 0; i < count; i++) {
        check(clReleaseCommandQueue(queues[i]));
    }
    run_finish(run);
}

static void queues_on_the_device_are_checked(void **state)
{
    struct fixture *f = *state;
    const cl_command_queue_properties device = CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    const struct {
        cl_queue_properties properties[5];
        cl_int error;
    } cases[] = {
        { { CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE, 0 }, CL_INVALID_VALUE },
        { { CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE_DEFAULT, 0 },
          CL_INVALID_VALUE },
        { { CL_QUEUE_SIZE, 1024, 0 }, CL_INVALID_VALUE },
        { { CL_QUEUE_PROPERTIES, device, CL_QUEUE_SIZE, 1u << 31, 0 }, CL_INVALID_QUEUE_PROPERTIES },
    };
    const cl_queue_properties sized[] = { CL_QUEUE_PROPERTIES, device, CL_QUEUE_SIZE, 4096, 0 };
    cl_int error = CL_SUCCESS;
    cl_uint size = 0, most = 0;
    cl_command_queue told = NULL;
    cl_device_device_enqueue_capabilities can = 0;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        assert_null(clCreateCommandQueueWithProperties(f->context, f->device, cases[i].properties, &error));
        assert_int_equal(error, cases[i].error);
    }
    assert_null(clCreateCommandQueue(f->context, f->device, device, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    check(clGetCommandQueueInfo(f->queue, CL_QUEUE_DEVICE_DEFAULT, sizeof(told), &told, NULL));
    assert_null(told);

    cl_command_queue first = run_default_queue(f), again = run_default_queue(f);
    assert_ptr_equal(first, again);
    check(clReleaseCommandQueue(again));
    cl_command_queue other = clCreateCommandQueueWithProperties(f->context, f->device, sized, &error);
    check(error);
    check(clGetCommandQueueInfo(other, CL_QUEUE_SIZE, sizeof(size), &size, NULL));
    assert_int_equal(size, 4096);
    check(clGetDeviceInfo(f->device, CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, sizeof(most), &most, NULL));
    check(clGetCommandQueueInfo(first, CL_QUEUE_SIZE, sizeof(size), &size, NULL));
    assert_int_equal(size, most);
    check(clGetCommandQueueInfo(f->queue, CL_QUEUE_DEVICE_DEFAULT, sizeof(told), &told, NULL));
    assert_ptr_equal(told, first);
    check(clSetDefaultDeviceCommandQueue(f->context, f->device, other));
    check(clGetCommandQueueInfo(f->queue, CL_QUEUE_DEVICE_DEFAULT, sizeof(told), &told, NULL));
    assert_ptr_equal(told, other);
    assert_int_equal(clSetDefaultDeviceCommandQueue(f->context, f->device, f->queue), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clSetDefaultDeviceCommandQueue(f->context, f->device, NULL), CL_INVALID_COMMAND_QUEUE);

    const cl_int zero = 0;
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);
    assert_int_equal(clFinish(first), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clFlush(first), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueFillBuffer(first, buffer, &zero, 4, 0, 64, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueMarkerWithWaitList(first, 0, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    check(clReleaseMemObject(buffer));
    check(clGetDeviceInfo(f->device, CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, sizeof(can), &can, NULL));
    assert_int_equal(can, CL_DEVICE_QUEUE_SUPPORTED | CL_DEVICE_QUEUE_REPLACEABLE_DEFAULT);
    check(clReleaseCommandQueue(other));
    check(clReleaseCommandQueue(first));
}

/* What is enqueued is nobody else's: a program's kernels are those it names. */
static void blocks_are_no_kernels(void **state)
{
    struct run *run =
        run_prepare(*state,
                    "kernel void k(global int *out) {\n"
                    "    enqueue_kernel(get_default_queue(), " NO_WAIT ", ndrange_1D(1), ^{ out[0] = 1; });\n"
                    "}",
                    CL3);
    char names[100] = "";
    size_t kernels = 0;

    check(clGetProgramInfo(run->program, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL));
    assert_string_equal(names, "k");
    check(clGetProgramInfo(run->program, CL_PROGRAM_NUM_KERNELS, sizeof(kernels), &kernels, NULL));
    assert_int_equal(kernels, 1);
    run_finish(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("a block that a kernel enqueues runs before the kernel's command ends [B1 B8]", block_runs),
        cl_test("every form of enqueue_kernel runs [B1 B14]", every_form_runs),
        cl_test("index spaces of blocks are as ndrange_1D to 3D made them [B1]", ranges_are_seen),
        cl_test("the sizes of groups of a block are told [B1]", groups_are_told),
        cl_test("a chain of events is kept in order [B2]", events_order),
        cl_test("one event for many, many events for one, and a marker [B2]", events_join),
        cl_test("a child waits for all work-items of its parent when it is told to [B1]", parents_are_waited_for),
        cl_test("user events release, and fail what waits for them [B2]", user_events_release_and_fail),
        cl_test("the times of a block are captured [B1]", times_are_captured),
        cl_test("a command ends when all that was enqueued under it has ended [B8]", trees_end_with_their_root),
        cl_test("a chain of kernels has no end [B3]", chains_have_no_end),
        cl_test("a chain of kernels with private memory has no end [B3 B14]", chains_take_private_memory),
        cl_test("a kernel that is too deep is told so [B3]", depth_has_an_end),
        cl_test("all work-items enqueue, and all that they enqueued [B1 B3]", all_work_items_enqueue),
        cl_test("what waits for its parent starts behind a smaller last work-group too [B1]",
                ends_with_a_smaller_work_group),
        cl_test("blocks are as large as memory allows [B14]", large_blocks_run),
        cl_test("a block has private memory, constants and variables [B14]", children_have_everything),
        cl_test("a queue is an argument, and is captured [B1 F6]", a_queue_is_an_argument),
        cl_test("what is launched into a stream keeps its order [B2 B3]", streams_keep_order),
        cl_test("a thread waits for what it launched [B7]", parents_wait),
        cl_test("sixteen of 200 work-groups wait beside each other [B7]", groups_wait_beside_each_other),
        cl_test("as many work-groups wait beside each other as was asked for [B3 B7]", as_many_groups_as_asked_for),
        cl_test("settings of waiting that cannot be are refused, with the reason [B3]", wrong_settings_of_waiting),
        cl_test("kernels take memory of the heap and give it back [B14]", kernels_take_memory),
        cl_test("work-items that take memory have it alone [B14]", pieces_are_disjoint),
        cl_test("a block that is enqueued at the head starts before those that wait [A4]", blocks_at_the_head),
        cl_test("kernels of several contexts enqueue and wait [B3]", contexts_with_queues),
        cl_test("queues have the size that was asked for, or are refused [F6]", sizes_of_queues_beside_others),
        cl_test("a work-group with more state than a place fails its command alone [B3]", state_larger_than_its_place),
        cl_test("a work-group waits for its own children, not for its sisters' [B3 B7]", sisters_wait_for_their_own),
        cl_test("errors of enqueue_kernel are told apart with -g [B1]", errors_are_told),
        cl_test("without a queue nothing is enqueued [B1]", no_queue_is_told),
        cl_test("a full queue is told, and is empty again afterwards [B3]", a_full_queue_is_told),
        cl_test("memory of small blocks serves large ones", memory_of_small_blocks_is_joined),
        cl_test("a child that faults ends the tree, and the queue goes on [A2 B8]", a_child_that_faults_is_told),
        cl_test("all the queues that are reported can be made and given to a kernel [F6]", all_queues_are_there),
        cl_test("queues on the device are made and asked as they should [F6]", queues_on_the_device_are_checked),
        cl_test("blocks are no kernels of the program [F6]", blocks_are_no_kernels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
