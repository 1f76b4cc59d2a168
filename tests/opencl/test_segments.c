/* SPDX-License-Identifier: MIT */
/* Tests how programs choose the parts of waves: segments by options and by the device, modes, rates, policies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/opencl/fixture.h"

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"

#define ITEMS 640u
#define PAIR 2u

/* Ninety values of a work-item live at once. */
static const char pressing[] =
    "#define N 90\n"
    "kernel void press(global const uint *in, global uint *out)\n"
    "{\n"
    "    uint v[N];\n"
    "    size_t i = get_global_id(0);\n"
    "    #pragma unroll\n"
    "    for (int n = 0; n < N; n++) v[n] = in[(i * 7 + n * 13) % 640];\n"
    "    #pragma unroll\n"
    "    for (int round = 0; round < 3; round++)\n"
    "        #pragma unroll\n"
    "        for (int n = 0; n < N; n++) v[n] += rotate(v[(n * 37 + 11) % N], 5u) ^ v[N - 1 - n];\n"
    "    uint sum = 0;\n"
    "    #pragma unroll\n"
    "    for (int n = 0; n < N; n++) sum = sum * 31 + v[n];\n"
    "    out[i] = sum;\n"
    "}\n";

/* Tickets are drawn twice: the parts of a wave together, or one after the other. */
static const char tickets[] = "kernel void draw(global volatile uint *next, global uint2 *out)\n"
                              "{\n"
                              "    uint2 drawn;\n"
                              "    drawn.x = atomic_inc(next);\n"
                              "    drawn.y = atomic_inc(next);\n"
                              "    out[get_global_id(0)] = drawn;\n"
                              "}\n";

static cl_int build(struct fixture *f, const char *text, const char *options, cl_program *program)
{
    cl_int error = CL_SUCCESS;

    *program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    return clBuildProgram(*program, 1, &f->device, options, NULL, NULL);
}

static cl_uint sum_of(const cl_uint *in, size_t i)
{
    cl_uint v[90], sum = 0;

    for (size_t n = 0; n < PPU_ARRAY_SIZE(v); n++) {
        v[n] = in[(i * 7 + n * 13) % ITEMS];
    }
    for (int round = 0; round < 3; round++) {
        for (size_t n = 0; n < PPU_ARRAY_SIZE(v); n++) {
            cl_uint other = v[(n * 37 + 11) % 90];
            v[n] += (other << 5 | other >> 27) ^ v[89 - n];
        }
    }
    for (size_t n = 0; n < PPU_ARRAY_SIZE(v); n++) {
        sum = sum * 31 + v[n];
    }
    return sum;
}

/* Runs the kernel, compares with the host, and returns how many work-items a work-group may have. */
static size_t press(struct fixture *f, const char *options)
{
    cl_kernel kernel = fixture_kernel_with(f, pressing, "press", options);
    const size_t global = ITEMS;
    cl_uint in[ITEMS], out[ITEMS];
    uint64_t seed = 5;
    size_t most = 0;

    for (uint32_t i = 0; i < ITEMS; i++) {
        in[i] = fixture_random(&seed);
    }
    cl_mem from = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(in), in), to = fixture_buffer(f, 0, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(from), &from));
    check(clSetKernelArg(kernel, 1, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, to, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL));
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (out[i] != sum_of(in, i)) {
            fail_msg("'%s': work-item %u", options, i);
        }
    }
    check(clGetKernelWorkGroupInfo(kernel, f->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most, NULL));
    check(clReleaseMemObject(from));
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
    return most;
}

static clSetDevicePolicyPPU_fn set_policy(const struct fixture *f)
{
    void *found = clGetExtensionFunctionAddressForPlatform(f->platform, "clSetDevicePolicyPPU");

    assert_non_null(found);
    return (clSetDevicePolicyPPU_fn)found;
}

static void forms_agree(void **state)
{
    static const char *const options[] = {
        "-cl-ppu-segments=duplicate -cl-ppu-segment-threshold=20",
        "-cl-ppu-segments=loop -cl-ppu-segment-threshold=20",
        "-cl-ppu-segments=may -cl-ppu-segment-threshold=10%",
        "-cl-ppu-segments=enter -cl-ppu-segment-threshold=occupancy",
        "-cl-ppu-segments=enter -cl-ppu-default-mode=inverted",
        "-cl-ppu-segments=enter -cl-ppu-segment-threshold=20 -cl-ppu-sub-group-size=64",
        "-cl-ppu-segments=loop -cl-ppu-segment-threshold=20 -cl-ppu-sub-group-size=64",
        "-cl-ppu-segments=enter -cl-ppu-sub-group-size=32",
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(options); i++) {
        press(*state, options[i]);
    }
}

/* More work-items find room where the parts share registers. */
static void the_device_says_when(void **state)
{
    struct fixture *f = *state;
    size_t plain = press(f, "-cl-ppu-segments=off"), shared = press(f, "");
    cl_uint threshold = 0;

    assert_true(shared * 10 >= plain * 13);
    check(clGetDeviceInfo(f->device, CL_DEVICE_POLICY_PPU(CL_POLICY_MODE_VREGS_PPU), sizeof(threshold), &threshold,
                          NULL));
    assert_int_equal(threshold, 64);
    check(set_policy(f)(f->device, CL_POLICY_MODE_VREGS_PPU, 200));
    assert_int_equal(press(f, ""), plain);
    assert_int_equal(press(f, "-cl-ppu-segment-threshold=occupancy"), shared);
    check(set_policy(f)(f->device, CL_POLICY_MODE_VREGS_PPU, threshold));
    assert_int_equal(press(f, "-cl-ppu-segment-threshold=device"), shared);
}

static size_t room_for(const struct fixture *f, cl_kernel kernel, size_t local)
{
    size_t groups = 0;

    check(clGetKernelSubGroupInfo(kernel, f->device, CL_KERNEL_RESIDENT_WORK_GROUPS_PPU, sizeof(local), &local,
                                  sizeof(groups), &groups, NULL));
    return groups;
}

/* More work-groups find room where parts share registers, or a launch says that they shall; of large ones fewer do. */
static void room_is_told(void **state)
{
    static const char with_local[] = "kernel void k(global int *out, local int *a, local int *b)\n"
                                     "{ a[0] = 1; b[0] = 2; out[0] = a[0] + b[0]; }\n";
    struct fixture *f = *state;
    cl_kernel plain = fixture_kernel_with(f, pressing, "press", "-cl-ppu-segments=off");
    cl_kernel shared = fixture_kernel_with(f, pressing, "press", "");
    cl_kernel may = fixture_kernel_with(f, pressing, "press", "-cl-ppu-segments=may");
    const cl_uint subvector = CL_MODE_SUBVECTOR_PPU;
    const size_t own = room_for(f, plain, 128);

    assert_true(room_for(f, shared, 128) * 10 >= own * 13);
    assert_true(room_for(f, may, 128) <= own + own / 10);
    check(clSetKernelExecInfo(may, CL_KERNEL_EXEC_INFO_MODE_PPU, sizeof(subvector), &subvector));
    assert_true(room_for(f, may, 128) * 10 >= own * 13);
    assert_true(room_for(f, shared, 256) * 2 <= room_for(f, shared, 128));
    cl_kernel local = fixture_kernel(f, with_local, "k");
    size_t few[2];
    for (size_t i = 0; i < 2; i++) {
        check(clSetKernelArg(local, 1, 10000 * (i + 1), NULL));
        check(clSetKernelArg(local, 2, 4000, NULL));
        few[i] = room_for(f, local, 32);
    }
    assert_true(few[0] > few[1] && few[1] > 0);
    check(clReleaseKernel(plain));
    check(clReleaseKernel(shared));
    check(clReleaseKernel(may));
    check(clReleaseKernel(local));
}

static void bad_questions_for_room(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = fixture_kernel(f, tickets, "draw");
    const size_t local[4] = { 32, 1, 1, 1 }, none = 0, large = 1025, far[2] = { 32, 33 };
    const cl_kernel_sub_group_info query = CL_KERNEL_RESIDENT_WORK_GROUPS_PPU;
    size_t groups = 0, bytes = 0;

    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, query, 0, NULL, 8, &groups, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, query, 4, local, 8, &groups, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, query, 32, local, 8, &groups, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, query, 8, &none, 8, &groups, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, query, 8, &large, 8, &groups, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, query, 16, far, 8, &groups, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetKernelSubGroupInfo(kernel, f->device, query, 8, local, 4, &groups, NULL), CL_INVALID_VALUE);
    check(clGetKernelSubGroupInfo(kernel, NULL, query, 24, local, 0, NULL, &bytes));
    assert_int_equal(bytes, sizeof(size_t));
    check(clReleaseKernel(kernel));
}

/* Returns true when the parts of a wave have drawn their tickets one after the other. */
static bool in_turn(struct fixture *f, cl_kernel kernel)
{
    const size_t global = 128;
    const cl_uint zero = 0;
    cl_uint drawn[128][PAIR];
    cl_mem next = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(zero), (void *)(uintptr_t)&zero);
    cl_mem out = fixture_buffer(f, 0, sizeof(drawn), NULL);

    check(clSetKernelArg(kernel, 0, sizeof(next), &next));
    check(clSetKernelArg(kernel, 1, sizeof(out), &out));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &global, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof(drawn), drawn, 0, NULL, NULL));
    check(clReleaseMemObject(next));
    check(clReleaseMemObject(out));
    return drawn[0][1] < drawn[127][0];
}

static void say(cl_kernel kernel, cl_kernel_exec_info name, cl_uint value)
{
    check(clSetKernelExecInfo(kernel, name, sizeof(value), &value));
}

static void launches_choose(void **state)
{
    static const char may[] = "-cl-std=CL3.0 -cl-ppu-segments=may -cl-ppu-segment-threshold=0";
    struct fixture *f = *state;
    cl_kernel kernel = fixture_kernel_with(f, tickets, "draw", may);

    assert_false(in_turn(f, kernel));
    say(kernel, CL_KERNEL_EXEC_INFO_MODE_PPU, CL_MODE_SUBVECTOR_PPU);
    assert_true(in_turn(f, kernel));
    cl_int error = CL_SUCCESS;
    cl_kernel copy = clCloneKernel(kernel, &error);
    check(error);
    assert_true(in_turn(f, copy));
    check(clReleaseKernel(copy));
    say(kernel, CL_KERNEL_EXEC_INFO_MODE_PPU, CL_MODE_NORMAL_PPU);
    assert_false(in_turn(f, kernel));
    say(kernel, CL_KERNEL_EXEC_INFO_MODE_PPU, CL_MODE_AUTO_PPU);
    say(kernel, CL_KERNEL_EXEC_INFO_MISS_RATE_PPU, CL_MISS_ABOVE_PPU);
    assert_true(in_turn(f, kernel));
    say(kernel, CL_KERNEL_EXEC_INFO_MISS_RATE_PPU, CL_MISS_BELOW_PPU);
    assert_false(in_turn(f, kernel));
    say(kernel, CL_KERNEL_EXEC_INFO_MISS_RATE_PPU, CL_MISS_RATE_PPU(300));
    assert_false(in_turn(f, kernel));
    check(set_policy(f)(f->device, CL_POLICY_MODE_THRESHOLD_PPU, 300));
    assert_true(in_turn(f, kernel));
    check(set_policy(f)(f->device, CL_POLICY_MODE_THRESHOLD_PPU, 512));
    check(clReleaseKernel(kernel));
    kernel = fixture_kernel_with(f, tickets, "draw", "-cl-std=CL3.0 -cl-ppu-segments=loop -cl-ppu-segment-threshold=0");
    say(kernel, CL_KERNEL_EXEC_INFO_MODE_PPU, CL_MODE_NORMAL_PPU);
    assert_true(in_turn(f, kernel)); /* the program has chosen */
    check(clReleaseKernel(kernel));
}

static void bad_words_are_refused(void **state)
{
    static const struct {
        const char *options, *says;
    } cases[] = {
        { "-cl-ppu-segments=some", "'some' is not auto, off, enter, duplicate, loop or may" },
        { "-cl-ppu-segments=", "'' is not auto, off, enter, duplicate, loop or may" },
        { "-cl-ppu-segment-threshold=257", "'257' is not a number up to 256, N%, occupancy or device" },
        { "-cl-ppu-segment-threshold=101%", "'101%' is not a number" },
        { "-cl-ppu-segment-threshold=12x", "'12x' is not a number" },
        { "-cl-ppu-default-mode=upside", "'upside' is not normal or inverted" },
        { "-cl-ppu-segments=loop -cl-ppu-default-mode=inverted", "need segments of the form 'enter'" },
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_program program;
        char log[2048] = "";
        assert_int_equal(build(f, tickets, cases[i].options, &program), CL_INVALID_BUILD_OPTIONS);
        check(clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL));
        if (!strstr(log, cases[i].says)) {
            fail_msg("'%s': the log does not say \"%s\": %s", cases[i].options, cases[i].says, log);
        }
        check(clReleaseProgram(program));
    }
}

static void bad_values_are_refused(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = fixture_kernel(f, tickets, "draw");
    const cl_uint bad_mode = 3, bad_rate = 1026, beyond = 0x10000, good = 1;
    cl_uint answer = 0;

    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_MODE_PPU, 4, &bad_mode), CL_INVALID_VALUE);
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_MODE_PPU, 8, &good), CL_INVALID_VALUE);
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_MODE_PPU, 4, NULL), CL_INVALID_VALUE);
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_MISS_RATE_PPU, 4, &bad_rate), CL_INVALID_VALUE);
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_MISS_RATE_PPU, 4, &beyond), CL_INVALID_VALUE);
    assert_int_equal(set_policy(f)(f->device, CL_POLICY_MODE_THRESHOLD_PPU, 1026), CL_INVALID_VALUE);
    assert_int_equal(set_policy(f)(f->device, 1000, 1), CL_INVALID_VALUE);
    assert_int_equal(set_policy(f)(NULL, CL_POLICY_MODE_THRESHOLD_PPU, 1), CL_INVALID_DEVICE);
    assert_int_equal(clGetDeviceInfo(f->device, CL_DEVICE_POLICY_PPU(100), sizeof(answer), &answer, NULL),
                     CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceInfo(f->device, CL_DEVICE_POLICY_PPU(CL_POLICY_MODE_THRESHOLD_PPU), 2, &answer, NULL),
                     CL_INVALID_VALUE);
    check(clReleaseKernel(kernel));
}

/* What is linked is made for the machine by the options of the link. */
static void links_choose(void **state)
{
    static const struct {
        const char *options;
        bool parts;
        cl_int error;
    } cases[] = {
        { "", false, CL_SUCCESS },
        { "-cl-ppu-segments=loop -cl-ppu-segment-threshold=0", true, CL_SUCCESS },
        { "-cl-ppu-segments=never", false, CL_INVALID_LINKER_OPTIONS },
        { "-cl-ppu-nothing", false, CL_INVALID_LINKER_OPTIONS },
    };
    struct fixture *f = *state;
    const char *text = tickets;
    cl_int error = CL_SUCCESS;
    cl_program object = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    check(clCompileProgram(object, 0, NULL, "-cl-std=CL3.0", 0, NULL, NULL, NULL, NULL));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_program linked = clLinkProgram(f->context, 0, NULL, cases[i].options, 1, &object, NULL, NULL, &error);
        assert_int_equal(error, cases[i].error);
        if (error == CL_SUCCESS) {
            cl_kernel kernel = clCreateKernel(linked, "draw", &error);
            check(error);
            assert_int_equal(in_turn(f, kernel), cases[i].parts);
            check(clReleaseKernel(kernel));
        }
        if (linked) {
            check(clReleaseProgram(linked));
        }
    }
    check(clReleaseProgram(object));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cl_test("segments of every form and threshold give the host's results [D1][D5][D7]", forms_agree),
        cl_test("a kernel has segments where the device's threshold says so [D4][D9]", the_device_says_when),
        cl_test("a launch, its rate or the threshold choose the mode; the program goes first [D6][D8]",
                launches_choose),
        cl_test("a program is told how many work-groups find room [D4]", room_is_told),
        cl_test("wrong questions for it are refused [D4]", bad_questions_for_room),
        cl_test("options that do not exist are refused", bad_words_are_refused),
        cl_test("modes, rates and policies that do not exist are refused", bad_values_are_refused),
        cl_test("options of a link choose the segments of what is linked [D7]", links_choose),
    };

    return cmocka_run_group_tests_name("segments", tests, NULL, NULL);
}
