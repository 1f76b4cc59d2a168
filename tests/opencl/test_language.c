/* SPDX-License-Identifier: MIT */
/* Tests what programs from elsewhere have found missing or wrong in the language. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define N 64u

/* Runs kernel k of the text on N work-items in one group; it fills N longs. */
static void run(struct fixture *f, const char *text, const char *options, cl_long out[N])
{
    cl_int error = CL_SUCCESS;
    const size_t size = N;
    char log[1000] = "";

    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    error = clBuildProgram(program, 0, NULL, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("%d: %s", error, log);
    }
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    cl_mem buffer = fixture_buffer(f, 0, N * sizeof(out[0]), NULL);
    const cl_long zero = 0;
    check(clEnqueueFillBuffer(f->queue, buffer, &zero, sizeof(zero), 0, N * sizeof(out[0]), 0, NULL, NULL));
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, N * sizeof(out[0]), out, 0, NULL, NULL));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
}

/* A function that is called changes its copy, not the caller's. */
static void structures_are_passed_by_value(void **state)
{
    cl_long out[N];

    run(*state,
        "struct s { char c; int a[4]; };\n"
        "__attribute__((noinline)) int sum(struct s s)\n"
        "{ s.a[0] += 100; s.c++; int r = s.c; for (int i = 0; i < 4; i++) r += s.a[i]; return r; }\n"
        "kernel void k(global long *o) {\n"
        "  int i = get_global_id(0);\n"
        "  struct s s = { 1, { i, 2, 3, 4 } };\n"
        "  int first = sum(s), second = sum(s);\n"
        "  o[i] = first == second ? first + 1000 * s.a[0] + 100000 * s.c : -1; }\n",
        "", out);
    for (cl_long i = 0; i < N; i++) {
        assert_int_equal(out[i], i + 111 + 1000 * i + 100000);
    }
}

/* Arguments and constants are the warp's, also behind a yield of the kernel itself or of what it calls first. */
static void kernels_begin_with_a_yield(void **state)
{
    static const char *const sources[] = {
        "kernel void k(global long *o) {\n"
        "  ppu_yield();\n"
        "  o[get_global_id(0)] = get_global_id(0) + 1; }\n",
        "__attribute__((noinline)) int end_of(global long *o, int i)\n"
        "{ while (o[i] < i % 7) o[i]++; return o[i]; }\n"
        "kernel void k(global long *o) {\n"
        "  int i = get_global_id(0), end = end_of(o, i);\n"
        "  o[i] = end == i % 7 ? i + 1 : -1; }\n",
    };
    cl_long out[N];

    for (size_t s = 0; s < PPU_ARRAY_SIZE(sources); s++) {
        run(*state, sources[s], "", out);
        for (cl_long i = 0; i < N; i++) {
            assert_int_equal(out[i], i + 1);
        }
    }
}

/* Those of double whose value at a zero is that zero; the sign of 1/y tells its sign. Scalars, vectors, by pointers. */
static void zeros_keep_their_signs(void **state)
{
    cl_long out[N];

    run(*state,
        "#define SIGNS(y) (1 / (y) < 0)\n"
        "#define ONE(f) { wrong |= SIGNS(f(x)) != minus; double4 v = f((double4)x); "
        "wrong |= any(signbit(v) != (long4)-minus) || any(v != 0); }\n"
        "kernel void k(global long *o) {\n"
        "  int minus = get_global_id(0) % 2, wrong = 0;\n"
        "  double x = minus ? -0.0 : 0.0, c; double2 c2;\n"
        "  ONE(sin) ONE(tan) ONE(asin) ONE(atan) ONE(sinh) ONE(tanh) ONE(asinh) ONE(atanh) ONE(sinpi) ONE(tanpi)\n"
        "  ONE(expm1) ONE(log1p) ONE(erf) ONE(cbrt) ONE(sqrt) ONE(asinpi) ONE(atanpi)\n"
        "  wrong |= SIGNS(sincos(x, &c)) != minus || c != 1;\n"
        "  wrong |= any(signbit(sincos((double2)x, &c2)) != (long2)-minus) || any(c2 != 1);\n"
        "  o[get_global_id(0)] = wrong; }\n",
        "-cl-std=CL3.0", out);
    for (cl_long i = 0; i < N; i++) {
        assert_int_equal(out[i], 0);
    }
}

static void old_atomics_have_64_bits(void **state)
{
    cl_long out[N];

    run(*state,
        "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
        "#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable\n"
        "kernel void k(global long *o) {\n"
        "  local long l[4]; local ulong u[4];\n"
        "  long i = get_local_id(0);\n"
        "  if (i == 0) { l[0] = l[1] = 0; l[2] = 100; l[3] = -1; u[0] = u[1] = u[2] = 0; u[3] = ~0ul; }\n"
        "  barrier(CLK_LOCAL_MEM_FENCE);\n"
        "  atom_add(&o[0], i << 32); atom_sub(&o[1], i); atom_inc(&o[2]); atom_dec(&o[3]);\n"
        "  atom_max(&o[4], i << 40); atom_min(&o[5], -i); atom_or(&o[6], 1l << i); atom_xor(&o[7], i << 33);\n"
        "  atom_add(&l[0], i << 32); atom_min(&l[2], -i << 32); atom_and(&l[3], ~(1l << i));\n"
        "  atom_max(&u[0], (ulong)i << 50); atom_inc(&u[1]); atom_cmpxchg(&u[2], 0ul, (ulong)i + 5); \n"
        "  atom_min(&u[3], (ulong)i + 7); if (i == 3) atom_xchg(&o[8], 77l); atom_cmpxchg(&o[9], 0l, 9l);\n"
        "  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
        "  if (i == 0) { o[10] = l[0]; o[11] = l[2]; o[12] = l[3]; o[13] = u[0]; o[14] = u[1]; o[15] = u[2] >= 5;\n"
        "    o[16] = u[3]; } }\n",
        "", out);
    const cl_long sum = N * (N - 1) / 2;
    const cl_long expected[] = { sum << 32, -sum,          N, -(cl_long)N, 63ll << 40, -63, -1, 0, 77, 9,
                                 sum << 32, -(63ll << 32), 0, 63ll << 50,  N,          1,   7 };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        assert_int_equal(out[i], expected[i]);
    }
}

static void halves_come_from_constant_memory(void **state)
{
    cl_long out[N];

    run(*state,
        "constant ushort halves[20] = { 0x3c00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800, 0x4880,\n"
        "  0x4900, 0x4980, 0x4a00, 0x4a80, 0x4b00, 0x4b80, 0x4c00, 0x4c40, 0x4c80, 0x4cc0, 0x4d00 };\n"
        "kernel void k(global long *o) {\n"
        "  int i = get_global_id(0); constant half *h = (constant half *)halves;\n"
        "  float3 three = vload_half3(2, h), room = vloada_half3(2, h); float16 all = vload_half16(0, h);\n"
        "  o[i] = i == 0 ? vload_half(3, h) : i == 1 ? three.x : i == 2 ? three.z : i == 3 ? room.x :\n"
        "         i == 4 ? room.z : i == 5 ? all.sf : i == 6 ? vload_half2(4, h).y : i == 7 ? vloada_half4(1, h).w : 0; }\n",
        "", out);
    const cl_long expected[] = { 4, 7, 9, 9, 11, 16, 10, 8 };
    for (size_t i = 0; i < PPU_ARRAY_SIZE(expected); i++) {
        assert_int_equal(out[i], expected[i]);
    }
}

/* Arguments narrower than a word, the last ones of their kernel. */
static void narrow_arguments_are_read(void **state)
{
    static const char *const text = "kernel void c(global int *o, char a, uchar b) { o[0] = a * 1000 + b; }\n"
                                    "kernel void s(global int *o, char a, short b) { o[0] = a * 1000 + b; }\n"
                                    "kernel void v(global int *o, char a, char2 b) { o[0] = a * 1000 + b.y; }\n";
    static const struct {
        const char *name;
        size_t bytes;
        cl_short value;
        int expected;
    } cases[] = { { "c", 1, 200, -4800 }, { "s", 2, -300, -5300 }, { "v", 2, 0x7f01, -4873 } };
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    const cl_char a = -5;
    const size_t one = 1;
    int out = 0;

    cl_program program = clCreateProgramWithSource(f->context, 1, (const char **)(uintptr_t)&text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 0, NULL, NULL, NULL, NULL));
    cl_mem buffer = fixture_buffer(f, 0, sizeof(out), NULL);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_kernel kernel = clCreateKernel(program, cases[i].name, &error);
        check(error);
        check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
        check(clSetKernelArg(kernel, 1, sizeof(a), &a));
        check(clSetKernelArg(kernel, 2, cases[i].bytes, &cases[i].value));
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
        check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), &out, 0, NULL, NULL));
        assert_int_equal(out, cases[i].expected);
        check(clReleaseKernel(kernel));
    }
    check(clReleaseMemObject(buffer));
    check(clReleaseProgram(program));
}

/* ---- ranges that no group divides ---- */

struct range {
    cl_uint dim;
    size_t offset[3], global[3];
};

/* Runs kernel k without a local size; it fills a long for each work-item. */
static void run_range(struct fixture *f, cl_kernel kernel, const struct range *range, size_t count, cl_long *out)
{
    cl_mem buffer = fixture_buffer(f, 0, count * sizeof(out[0]), NULL);
    const cl_long none = -1;

    check(clEnqueueFillBuffer(f->queue, buffer, &none, sizeof(none), 0, count * sizeof(out[0]), 0, NULL, NULL));
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, range->dim, range->offset, range->global, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, count * sizeof(out[0]), out, 0, NULL, NULL));
    check(clReleaseMemObject(buffer));
}

static size_t items(const struct range *range)
{
    size_t count = 1;

    for (cl_uint i = 0; i < range->dim; i++) {
        count *= range->global[i];
    }
    return count;
}

static const struct range odd_ranges[] = {
    { 1, { 0 }, { 1031 } },           { 1, { 7 }, { 2 * 1031 } },         { 1, { 0 }, { 67 } },
    { 2, { 0, 0 }, { 1031, 3 } },     { 2, { 3, 1000 }, { 7, 1021 } },    { 2, { 5, 0 }, { 1, 1049 } },
    { 3, { 1, 2, 3 }, { 5, 7, 61 } }, { 3, { 0, 9, 0 }, { 2, 307, 11 } }, { 3, { 0 }, { 7, 7, 7 } },
};

/* Each work-item adds what it knows to its place: one that runs twice, or not at all, shows. */
static void every_item_of_a_cut_range_runs_once(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel =
        fixture_kernel(f,
                       "kernel void k(global long *o, int ox, int oy, int oz, int nx, int ny, int dim) {\n"
                       "  long x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);\n"
                       "  o[((z - oz) * ny + y - oy) * nx + x - ox] += 1 + x + y * 10000 + z * 100000000\n"
                       "    + (get_work_dim() == dim ? 0 : 1l << 60); }\n",
                       "k");

    for (size_t r = 0; r < PPU_ARRAY_SIZE(odd_ranges); r++) {
        const struct range *range = &odd_ranges[r];
        const size_t *o = range->offset, *n = range->global, ny = range->dim > 1 ? n[1] : 1;
        const cl_int values[] = {
            (cl_int)o[0], (cl_int)o[1], (cl_int)o[2], (cl_int)n[0], (cl_int)ny, (cl_int)range->dim
        };
        size_t count = items(range);
        cl_long *out = calloc(count, sizeof(out[0]));

        assert_non_null(out);
        for (cl_uint i = 0; i < 6; i++) {
            check(clSetKernelArg(kernel, 1 + i, sizeof(values[i]), &values[i]));
        }
        run_range(f, kernel, range, count, out);
        for (size_t i = 0; i < count; i++) {
            cl_long x = (cl_long)(o[0] + i % n[0]), y = (cl_long)(o[1] + i / n[0] % ny);
            cl_long z = (cl_long)(o[2] + i / (n[0] * ny));
            assert_int_equal(out[i], x + y * 10000 + z * 100000000);
        }
        free(out);
    }
    check(clReleaseKernel(kernel));
}

/* Who asks about groups is told of equal ones that divide the range, whichever function asks. */
static void groups_that_are_seen_are_equal(void **state)
{
    static const char *const asks[] = {
        "get_local_size(0)",  "get_enqueued_local_size(0)", "get_num_groups(0)",
        "get_global_size(0)", "get_global_offset(0)",       "helper()",
    };
    const struct range range = { 1, { 5 }, { 2 * 1031 } };
    const cl_long answers[] = { 2, 2, 1031, 2 * 1031, 5, 2 };
    cl_long out[2 * 1031];
    char text[500];

    for (size_t a = 0; a < PPU_ARRAY_SIZE(asks); a++) {
        snprintf(text, sizeof(text),
                 "long helper(void) { return get_local_size(0); }\n"
                 "kernel void k(global long *o) { o[get_global_id(0) - 5] = %s; }\n",
                 asks[a]);
        cl_kernel kernel = fixture_kernel_with(*state, text, "k", "-cl-std=CL3.0 -cl-uniform-work-group-size");
        run_range(*state, kernel, &range, 2 * 1031, out);
        for (size_t i = 0; i < 2 * 1031; i++) {
            assert_int_equal(out[i], answers[a]);
        }
        check(clReleaseKernel(kernel));
    }
}

/* Vectors of 16 longs are the widest. The code before them has another size with each option. */
static void variables_are_aligned_as_their_types(void **state)
{
    static const char *const options[] = { "-cl-std=CL3.0", "-cl-std=CL3.0 -cl-opt-disable",
                                           "-cl-std=CL3.0 -fsanitize=address", "-cl-std=CL3.0 -fsanitize=uninit" };
    cl_long out[N];

    for (size_t i = 0; i < PPU_ARRAY_SIZE(options); i++) {
        run(*state,
            "constant char first = 1; constant ulong2 c2 = 2; constant ulong8 c8[3] = {0}; constant ulong16 c16[3] = {0};\n"
            "global char one = 1; global ulong8 g8[3]; global ulong16 g16 = 3; global ulong16 z16[2];\n"
            "kernel void k(global long *o) {\n"
            "  local char l; local ulong16 l16[2]; private ulong16 p16[2];\n"
            "  if (get_global_id(0) != 0) return;\n"
            "  o[0] = (long)&c2 % 16; o[1] = (long)c8 % 64; o[2] = (long)c16 % 128; o[3] = (long)g8 % 64;\n"
            "  o[4] = (long)&g16 % 128; o[5] = (long)z16 % 128; o[6] = (long)l16 % 128; o[7] = (long)p16 % 128;\n"
            "  o[8] = (long)&first == 0 || (long)&one == 0 || (long)&l == -1;\n"
            "  o[9] = (long)c8 / 64 * 64 != (long)c8; o[10] = (long)c16 / 128 * 128 != (long)c16; }\n",
            options[i], out);
        for (size_t n = 0; n < N; n++) {
            assert_int_equal(out[n], 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("structures are passed by value to functions that are called", structures_are_passed_by_value),
        cl_test("kernels may begin with a yield, or a call of what yields [E8]", kernels_begin_with_a_yield),
        cl_test("zeros keep their signs in functions of double", zeros_keep_their_signs),
        cl_test("atomics of the extensions have 64 bits", old_atomics_have_64_bits),
        cl_test("arguments narrower than a word are read", narrow_arguments_are_read),
        cl_test("halves are loaded from constant memory", halves_come_from_constant_memory),
        cl_test("every work-item of a range that no group divides runs once [F6]", every_item_of_a_cut_range_runs_once),
        cl_test("variables are aligned as their types in all address spaces", variables_are_aligned_as_their_types),
        cl_test("groups that a work-item can see are equal and divide the range [F6]", groups_that_are_seen_are_equal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
