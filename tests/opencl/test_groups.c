/* SPDX-License-Identifier: MIT */
/* Tests collective functions of work-groups, and work-groups of several sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define MOST 1000u

static cl_kernel kernel_of(struct fixture *f, const char *text, const char *options, const char *name)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    error = clBuildProgram(program, 1, &f->device, options, NULL, NULL);
    if (error != CL_SUCCESS) {
        char log[4096] = "";
        clGetProgramBuildInfo(program, f->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fail_msg("%d: %s", error, log);
    }
    cl_kernel kernel = clCreateKernel(program, name, &error);
    check(error);
    check(clReleaseProgram(program));
    return kernel;
}

static void read_all(struct fixture *f, cl_mem buffer, size_t bytes, void *to)
{
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL));
}

/* ---- collective functions ---- */

/* Each function of one type, one after the other, so that each finds what the one before it has left. */
static const char *const collective = "#define PUT(n, what) out[(n) * size + id] = what\n"
                                      "kernel void all(global const T *in, global T *out, uint size)\n"
                                      "{\n"
                                      "    uint id = get_global_id(0);\n"
                                      "    T x = in[id];\n"
                                      "    PUT(0, work_group_reduce_add(x));\n"
                                      "    PUT(1, work_group_reduce_min(x));\n"
                                      "    PUT(2, work_group_reduce_max(x));\n"
                                      "    PUT(3, work_group_scan_inclusive_add(x));\n"
                                      "    PUT(4, work_group_scan_inclusive_min(x));\n"
                                      "    PUT(5, work_group_scan_inclusive_max(x));\n"
                                      "    PUT(6, work_group_scan_exclusive_add(x));\n"
                                      "    PUT(7, work_group_scan_exclusive_min(x));\n"
                                      "    PUT(8, work_group_scan_exclusive_max(x));\n"
                                      "    PUT(9, work_group_broadcast(x, get_local_size(0) / 2));\n"
                                      "    PUT(10, work_group_all(x != (T)4));\n"
                                      "    PUT(11, work_group_any(x == (T)4));\n"
                                      "}\n";
#define FUNCTIONS 12u

struct collective_type {
    const char *name;
    size_t bytes;
    double least, most; /* identities of max and min */
};

static double load_value(const struct collective_type *type, const void *values, size_t i)
{
    switch (type->name[0]) {
    case 'i':
        return ((const cl_int *)values)[i];
    case 'u':
        return type->bytes == 4 ? ((const cl_uint *)values)[i] : (double)((const cl_ulong *)values)[i];
    case 'l':
        return (double)((const cl_long *)values)[i];
    case 'f':
        return ((const cl_float *)values)[i];
    default:
        return ((const cl_double *)values)[i];
    }
}

static void store_value(const struct collective_type *type, void *values, size_t i, int value)
{
    switch (type->name[0]) {
    case 'i':
        ((cl_int *)values)[i] = value;
        break;
    case 'u':
        if (type->bytes == 4) {
            ((cl_uint *)values)[i] = (cl_uint)value;
        } else {
            ((cl_ulong *)values)[i] = (cl_ulong)value;
        }
        break;
    case 'l':
        ((cl_long *)values)[i] = value;
        break;
    case 'f':
        ((cl_float *)values)[i] = (cl_float)value;
        break;
    default:
        ((cl_double *)values)[i] = value;
        break;
    }
}

struct sums {
    double add, least, most;
};

static void sums_take(struct sums *sums, double x)
{
    sums->add += x;
    sums->least = x < sums->least ? x : sums->least;
    sums->most = x > sums->most ? x : sums->most;
}

/* What the work-item at `id` of the work-group from `begin` to `end` must get. */
static void expect(const struct collective_type *type, const int *in, size_t begin, size_t end, size_t id,
                   double expected[FUNCTIONS])
{
    struct sums all = { 0, type->most, type->least }, before = all;
    bool four = false;

    for (size_t i = begin; i < end; i++) {
        sums_take(&all, in[i]);
        four |= in[i] == 4;
        if (i < id) {
            sums_take(&before, in[i]);
        }
    }
    struct sums with = before;
    sums_take(&with, in[id]);
    const size_t middle = begin + (end - begin) / 2;
    const double values[FUNCTIONS] = {
        all.add,    all.least,    all.most,    with.add,   with.least, with.most,
        before.add, before.least, before.most, in[middle], !four,      four,
    };
    memcpy(expected, values, sizeof(values));
}

static void check_collective(struct fixture *f, const struct collective_type *type, cl_kernel kernel, size_t local)
{
    const size_t size = MOST;
    int in[MOST];
    uint64_t random = fixture_seed();
    void *values = calloc(size * FUNCTIONS, type->bytes);

    for (size_t i = 0; i < size; i++) {
        in[i] = (int)(fixture_random(&random) % 500);
        store_value(type, values, i, in[i]);
    }
    cl_mem from = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, size * type->bytes, values);
    cl_mem to = fixture_buffer(f, 0, size * FUNCTIONS * type->bytes, NULL);
    cl_uint count = (cl_uint)size;
    check(clSetKernelArg(kernel, 0, sizeof(from), &from));
    check(clSetKernelArg(kernel, 1, sizeof(to), &to));
    check(clSetKernelArg(kernel, 2, sizeof(count), &count));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &size, &local, 0, NULL, NULL));
    read_all(f, to, size * FUNCTIONS * type->bytes, values);
    for (size_t i = 0; i < size; i++) {
        size_t begin = i / local * local;
        double expected[FUNCTIONS];
        expect(type, in, begin, PPU_MIN(begin + local, size), i, expected);
        for (size_t n = 0; n < FUNCTIONS; n++) {
            double value = load_value(type, values, n * size + i);
            if (value != expected[n]) {
                fail_msg("%s, work-groups of %zu: function %zu gives work-item %zu %g, not %g", type->name, local, n, i,
                         value, expected[n]);
            }
        }
    }
    check(clReleaseMemObject(from));
    check(clReleaseMemObject(to));
    free(values);
}

/* Warps that are whole and ones that are not, work-groups that divide the range and ones that do not. */
static void work_groups_collect(void **state)
{
    static const struct collective_type types[] = {
        { "int", 4, CL_INT_MIN, CL_INT_MAX },
        { "uint", 4, 0, CL_UINT_MAX },
        { "long", 8, (double)CL_LONG_MIN, (double)CL_LONG_MAX },
        { "ulong", 8, 0, (double)CL_ULONG_MAX },
        { "float", 4, -CL_INFINITY, CL_INFINITY },
        { "double", 8, -CL_INFINITY, CL_INFINITY },
    };
    static const size_t sizes[] = { 1, 31, 32, 100, 250, 1000 };
    static const char *const waves[] = { "", " -cl-ppu-sub-group-size=64", " -cl-ppu-sub-group-size=128" };
    struct fixture *f = *state;

    for (size_t t = 0; t < PPU_ARRAY_SIZE(types); t++) {
        char options[96];
        snprintf(options, sizeof(options), "-cl-std=CL3.0 -DT=%s%s", types[t].name, waves[t % 3]);
        cl_kernel kernel = kernel_of(f, collective, options, "all");
        for (size_t i = 0; i < PPU_ARRAY_SIZE(sizes); i++) {
            check_collective(f, &types[t], kernel, sizes[i]);
        }
        check(clReleaseKernel(kernel));
    }
}

static const char *const of_halves = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
                                     "kernel void halves(global int *out)\n"
                                     "{\n"
                                     "    uint id = get_global_id(0);\n"
                                     "    half x = (half)(int)(id * 7 % 32 + 1);\n"
                                     "    out[id * 3] = (int)work_group_reduce_max(x);\n"
                                     "    out[id * 3 + 1] = (int)work_group_reduce_min(x);\n"
                                     "    out[id * 3 + 2] = (int)work_group_scan_inclusive_max(x);\n"
                                     "}\n";
#define HALVES 100

/* Their smaller and their larger of two come from another part of the library than the functions themselves. */
static void halves_collect(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, of_halves, "-cl-std=CL3.0", "halves");
    int out[HALVES * 3], most = 0;
    cl_int error;
    cl_mem buffer = clCreateBuffer(f->context, CL_MEM_READ_WRITE, sizeof(out), NULL, &error);
    const size_t size = HALVES;

    check(error);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL));
    read_all(f, buffer, sizeof(out), out);
    for (int i = 0; i < HALVES; i++) {
        most = PPU_MAX(most, i * 7 % 32 + 1);
        assert_int_equal(out[i * 3], 32);
        assert_int_equal(out[i * 3 + 1], 1);
        assert_int_equal(out[i * 3 + 2], most);
    }
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(kernel));
}

/* ---- work-groups of several sizes ---- */

static const char *const shape_text = "kernel void shape(global uint *out)\n"
                                      "{\n"
                                      "    local uint here;\n"
                                      "    size_t i = get_global_linear_id() * 12;\n"
                                      "    if (get_local_linear_id() == 0) { here = 0; }\n"
                                      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                      "    atomic_inc(&here);\n"
                                      "    barrier(CLK_LOCAL_MEM_FENCE);\n"
                                      "    out[i] = here;\n"
                                      "    out[i + 1] = get_local_linear_id();\n"
                                      "    for (uint d = 0; d < 2; d++) {\n"
                                      "        out[i + 2 + d] = get_local_size(d);\n"
                                      "        out[i + 4 + d] = get_enqueued_local_size(d);\n"
                                      "        out[i + 6 + d] = get_num_groups(d);\n"
                                      "        out[i + 8 + d] = get_global_size(d);\n"
                                      "        out[i + 10 + d] = get_global_id(d);\n"
                                      "    }\n"
                                      "}\n";
#define SHAPE_WORDS 12u

struct ragged {
    size_t offset[2], global[2], local[2];
};

static void check_shape(struct fixture *f, cl_kernel kernel, const struct ragged *r)
{
    const size_t items = r->global[0] * r->global[1];
    cl_uint *out = calloc(items * SHAPE_WORDS, sizeof(*out));
    cl_mem to = fixture_buffer(f, 0, items * SHAPE_WORDS * sizeof(*out), NULL);

    check(clSetKernelArg(kernel, 0, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 2, r->offset, r->global, r->local, 0, NULL, NULL));
    read_all(f, to, items * SHAPE_WORDS * sizeof(*out), out);
    for (size_t i = 0; i < items; i++) {
        const size_t at[2] = { i % r->global[0], i / r->global[0] };
        size_t size[2], groups[2], id[2];
        for (int d = 0; d < 2; d++) {
            id[d] = at[d] % r->local[d];
            size[d] = PPU_MIN(r->local[d], r->global[d] - (at[d] - id[d]));
            groups[d] = (r->global[d] + r->local[d] - 1) / r->local[d];
        }
        const cl_uint expected[SHAPE_WORDS] = {
            (cl_uint)(size[0] * size[1]),
            (cl_uint)(id[1] * size[0] + id[0]),
            (cl_uint)size[0],
            (cl_uint)size[1],
            (cl_uint)r->local[0],
            (cl_uint)r->local[1],
            (cl_uint)groups[0],
            (cl_uint)groups[1],
            (cl_uint)r->global[0],
            (cl_uint)r->global[1],
            (cl_uint)(at[0] + r->offset[0]),
            (cl_uint)(at[1] + r->offset[1]),
        };
        for (size_t n = 0; n < SHAPE_WORDS; n++) {
            if (out[i * SHAPE_WORDS + n] != expected[n]) {
                fail_msg("%zu x %zu of %zu x %zu: word %zu of work-item %zu is %u, not %u", r->local[0], r->local[1],
                         r->global[0], r->global[1], n, i, out[i * SHAPE_WORDS + n], expected[n]);
            }
        }
    }
    check(clReleaseMemObject(to));
    free(out);
}

static void ranges_need_not_be_divided(void **state)
{
    static const struct ragged cases[] = {
        { { 0, 0 }, { 100, 1 }, { 64, 1 } },  { { 7, 3 }, { 33, 17 }, { 16, 4 } }, { { 0, 0 }, { 5, 5 }, { 8, 8 } },
        { { 0, 1 }, { 64, 31 }, { 32, 30 } }, { { 0, 0 }, { 97, 3 }, { 1, 2 } },   { { 0, 0 }, { 32, 8 }, { 16, 4 } },
    };
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, shape_text, "-cl-std=CL3.0", "shape");
    cl_bool has = CL_FALSE;

    check(clGetDeviceInfo(f->device, CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, sizeof(has), &has, NULL));
    assert_true(has);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        check_shape(f, kernel, &cases[i]);
        check_shape(f, kernel, &cases[i]); /* and with what is known of launches by then */
    }
    check(clReleaseKernel(kernel));
}

/* A program of before 2.0, or one that promises work-groups of one size, does not get others. */
static void promises_are_kept(void **state)
{
    static const char *const text = "kernel void k(global uint *out) { out[get_global_id(0)] = get_local_size(0); }\n"
                                    "kernel __attribute__((reqd_work_group_size(16, 1, 1))) void r(global uint *out)\n"
                                    "{ out[get_global_id(0)] = get_local_size(0); }\n";
    static const struct {
        const char *options, *kernel;
        cl_int error;
    } cases[] = {
        { "-cl-std=CL3.0", "k", CL_SUCCESS },
        { "-cl-std=CL2.0", "r", CL_SUCCESS },
        { "-cl-std=CL1.2", "k", CL_INVALID_WORK_GROUP_SIZE },
        { "", "r", CL_INVALID_WORK_GROUP_SIZE },
        { "-cl-std=CL3.0 -cl-uniform-work-group-size", "k", CL_INVALID_WORK_GROUP_SIZE },
    };
    struct fixture *f = *state;
    const size_t global = 40, local = 16, more = 17;
    cl_uint out[40];

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_kernel kernel = kernel_of(f, text, cases[i].options, cases[i].kernel);
        cl_mem to = fixture_buffer(f, 0, sizeof(out), NULL);
        check(clSetKernelArg(kernel, 0, sizeof(to), &to));
        assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
                         cases[i].error);
        if (cases[i].error == CL_SUCCESS) {
            read_all(f, to, sizeof(out), out);
            assert_true(out[0] == 16 && out[31] == 16 && out[32] == 8 && out[39] == 8);
        }
        if (cases[i].kernel[0] == 'r') {
            assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &more, 0, NULL, NULL),
                             CL_INVALID_WORK_GROUP_SIZE);
        }
        check(clReleaseMemObject(to));
        check(clReleaseKernel(kernel));
    }
}

/* Whatever the range, the local size and the language: each work-item runs once, and no other. */
static void each_item_runs_once(void **state)
{
    static const char text[] =
        "kernel void k(global uint *out, uint w, uint h)\n"
        "{ uint i = get_global_id(0), j = get_global_id(1), l = get_global_id(2);\n"
        "  atomic_add(&out[(l * h + j) * w + i], 1 + i * 3 + j * 5 + l * 7); }\n"
        "kernel void loops(global uint *out, uint w, uint h)\n"
        "{ uint i = get_global_id(0), j = get_global_id(1), l = get_global_id(2), sum = 1;\n"
        "  for (uint n = 0; n < h; n++) { sum += n; }\n"
        "  atomic_add(&out[(l * h + j) * w + i], sum - h * (h - 1) / 2 + i * 3 + j * 5 + l * 7); }\n";
    static const struct {
        cl_uint range[3], local[3]; /* local 0: none */
    } cases[] = {
        { { 100003, 1, 1 }, { 0 } },        { { 100003, 1, 1 }, { 64, 1, 1 } }, { { 263, 257, 1 }, { 0 } },
        { { 263, 257, 1 }, { 16, 16, 1 } }, { { 130, 61, 3 }, { 0 } },          { { 4099, 7, 1 }, { 1, 7, 1 } },
        { { 300, 40, 5 }, { 100, 2, 1 } },  { { 127, 129, 2 }, { 0 } },         { { 1, 1009, 1 }, { 0 } },
    };
    static const char *const options[] = { "-cl-std=CL1.2", "-cl-std=CL3.0" };
    struct fixture *f = *state;

    for (size_t i = 0; i < 4 * PPU_ARRAY_SIZE(cases); i++) {
        const cl_uint *const range = cases[i / 4].range, *const local = cases[i / 4].local;
        const size_t global[3] = { range[0], range[1], range[2] }, asked[3] = { local[0], local[1], local[2] };
        const size_t items = global[0] * global[1] * global[2];
        const bool refused = i % 2 == 0 && local[0] != 0 &&
                             (range[0] % local[0] != 0 || range[1] % local[1] != 0 || range[2] % local[2] != 0);
        cl_kernel kernel = kernel_of(f, text, options[i % 2], i / 2 % 2 == 0 ? "k" : "loops");
        cl_uint *out = calloc(items, sizeof(*out));

        assert_non_null(out);
        cl_mem to = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, items * sizeof(*out), out);
        check(clSetKernelArg(kernel, 0, sizeof(to), &to));
        check(clSetKernelArg(kernel, 1, sizeof(cl_uint), &range[0]));
        check(clSetKernelArg(kernel, 2, sizeof(cl_uint), &range[1]));
        assert_int_equal(
            clEnqueueNDRangeKernel(f->queue, kernel, 3, NULL, global, local[0] != 0 ? asked : NULL, 0, NULL, NULL),
            refused ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS);
        read_all(f, to, items * sizeof(*out), out);
        for (cl_uint n = 0; n < items; n++) {
            const cl_uint x = n % range[0], y = n / range[0] % range[1], z = n / range[0] / range[1];
            assert_int_equal(out[n], refused ? 0 : 1 + x * 3 + y * 5 + z * 7);
        }
        free(out);
        check(clReleaseMemObject(to));
        check(clReleaseKernel(kernel));
    }
}

/* A prime number of work-items no longer makes work-groups of one, also where the kernel sees them. */
static void primes_have_large_groups(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, shape_text, "-cl-std=CL3.0", "shape");
    const size_t global[2] = { 997, 1 };
    cl_uint out[SHAPE_WORDS];
    cl_mem to = fixture_buffer(f, 0, global[0] * SHAPE_WORDS * sizeof(*out), NULL);

    check(clSetKernelArg(kernel, 0, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL));
    read_all(f, to, sizeof(out), out);
    assert_true(out[2] >= 64 && out[8] == 997);
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
}

/* ---- work-groups that no work-item sees ---- */

#define NUMBERS 4096u

/* Warp instructions of a launch in a context that has them as asked for, or not. Each id comes once. */
static cl_ulong insns_of(struct fixture *f, const char *groups, const char *text, cl_uint dim, const size_t *global,
                         const size_t *local)
{
    static const size_t offset[3] = { 3, 5, 7 };
    static cl_uint out[NUMBERS];
    const cl_uint none = 0;
    struct fixture own = { .device = f->device };
    cl_int error = CL_SUCCESS;
    cl_ulong insns = 0;

    setenv("PPU_WORK_GROUPS", groups, 1);
    own.context = clCreateContext(NULL, 1, &own.device, NULL, NULL, &error);
    check(error);
    unsetenv("PPU_WORK_GROUPS");
    own.queue = clCreateCommandQueueWithProperties(own.context, own.device, NULL, &error);
    check(error);
    cl_kernel kernel = kernel_of(&own, text, "-cl-std=CL3.0", "k");
    cl_mem to = clCreateBuffer(own.context, CL_MEM_READ_WRITE, sizeof(out), NULL, &error);
    check(error);
    check(clEnqueueFillBuffer(own.queue, to, &none, sizeof(none), 0, sizeof(out), 0, NULL, NULL));
    check(clSetKernelArg(kernel, 0, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(own.queue, kernel, dim, offset, global, local, 0, NULL, NULL));
    read_all(&own, to, sizeof(out), out);
    for (uint32_t i = 0; i < NUMBERS; i++) {
        assert_int_equal(out[i], 1);
    }
    check(clGetCommandQueueInfo(own.queue, CL_QUEUE_COUNTER_PPU(0), sizeof(insns), &insns, NULL));
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
    check(clReleaseCommandQueue(own.queue));
    check(clReleaseContext(own.context));
    return insns;
}

#define LINE "kernel void k(global uint *out) { uint id = get_global_id(0) - 3; "

#define COLLATZ "uint n = id; while (n > 1) n = n % 2 != 0 ? n * 3 + 1 : n / 2; out[id] += n <= 1; }"

/* Fewer warps execute the same where work-groups are not seen, and as many as asked for where they are. */
static void unseen_groups_are_reshaped(void **state)
{
    static const struct {
        const char *text;
        cl_uint dim;
        size_t global[3], local[3];
        bool fewer;
    } cases[] = {
        { LINE "out[id] += 1; }", 1, { NUMBERS }, { 16 }, true },
        { "kernel void k(global uint *out) { out[(get_global_id(1) - 5) * 64 + get_global_id(0) - 3] += 1; }",
          2,
          { 64, 64 },
          { 8, 2 },
          true },
        { "kernel void k(global uint *out)\n"
          "{ out[((get_global_id(2) - 7) * 16 + get_global_id(1) - 5) * 16 + get_global_id(0) - 3] += 1; }",
          3,
          { 16, 16, 16 },
          { 4, 1, 2 },
          true },
        { LINE "volatile global uint *to = out; for (uint k = 0; k < 200; k++) to[id] = k / 199; }",
          1,
          { NUMBERS },
          { 4 },
          true },
        { LINE COLLATZ, 1, { NUMBERS }, { 16 }, true },   /* lanes would have no work-item, */
        { LINE COLLATZ, 1, { NUMBERS }, { 128 }, false }, /* else they would wait for more others */
        { LINE "out[id] += get_global_size(0) == 4096 && get_global_offset(0) == 3; }", 1, { NUMBERS }, { 16 }, true },
        { LINE "barrier(CLK_GLOBAL_MEM_FENCE); out[id] += 1; }", 1, { NUMBERS }, { 16 }, false },
        { LINE "out[id] += get_local_size(0) == 16; }", 1, { NUMBERS }, { 16 }, false },
        { "kernel void k(global uint *out) { out[get_group_id(0) * 16 + get_local_id(0)] += 1; }",
          1,
          { NUMBERS },
          { 16 },
          false },
        { "__attribute__((reqd_work_group_size(16, 1, 1))) " LINE "out[id] += 1; }", 1, { NUMBERS }, { 16 }, false },
        { LINE "out[id] += 1; }", 1, { NUMBERS }, { 128 }, false }, /* each SM has some */
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        const cl_ulong asked = insns_of(f, "asked", cases[i].text, cases[i].dim, cases[i].global, cases[i].local);
        const cl_ulong insns = insns_of(f, "auto", cases[i].text, cases[i].dim, cases[i].global, cases[i].local);

        printf("# %zu: %llu warp instructions, %llu as asked for\n", i, (unsigned long long)insns,
               (unsigned long long)asked);
        assert_true(cases[i].fewer ? insns * 3 < asked : insns == asked);
    }
}

/* What is not accepted stays so. */
static void unseen_groups_are_checked(void **state)
{
    struct fixture *f = *state;
    cl_kernel kernel = kernel_of(f, LINE "out[id] = 1; }", "-cl-std=CL1.2", "k");
    cl_mem to = fixture_buffer(f, 0, 4096 * sizeof(cl_uint), NULL);
    const size_t global = 4096, odd = 48, none = 0, much = 1 << 20;

    check(clSetKernelArg(kernel, 0, sizeof(to), &to));
    assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &odd, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &global, &none, 0, NULL, NULL),
                     CL_INVALID_WORK_GROUP_SIZE);
    assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &much, &much, 0, NULL, NULL),
                     CL_INVALID_WORK_ITEM_SIZE);
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
}

/* ---- blocks ---- */

/* What kernels enqueue has such work-groups, too, and is asked about its sub-groups. */
static void blocks_need_not_divide(void **state)
{
    static const char *const text =
        "kernel void k(global uint *out)\n"
        "{\n"
        "    size_t size[2] = { 9, 5 }, part[2] = { 4, 2 };\n"
        "    ndrange_t line = ndrange_1D(100, 64), plane = ndrange_2D(size, part);\n"
        "    out[0] = get_kernel_sub_group_count_for_ndrange(line, ^{ out[9] = 1; });\n"
        "    out[1] = get_kernel_max_sub_group_size_for_ndrange(plane, ^{ out[9] = 1; });\n"
        "    out[2] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, line,\n"
        "                            ^{ out[10 + get_global_id(0)] = get_local_size(0); });\n"
        "    out[3] = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, plane, ^{\n"
        "        out[110 + get_global_linear_id()] = get_local_size(0) * 10 + get_local_size(1); });\n"
        "}\n";
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    const cl_queue_properties device[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };
    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, device, &error);
    const size_t one[2] = { 1, 1 };
    cl_uint out[155];

    check(error);
    cl_kernel kernel = kernel_of(f, text, "-cl-std=CL3.0", "k");
    cl_mem to = fixture_buffer(f, 0, sizeof(out), NULL);
    check(clSetKernelArg(kernel, 0, sizeof(to), &to));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, one, NULL, 0, NULL, NULL));
    read_all(f, to, sizeof(out), out);
    if (out[0] != 1 || out[1] != 8 || out[2] != 0 || out[3] != 0) {
        fail_msg("%u sub-groups of %u; enqueued: %d, %d", out[0], out[1], (int)out[2], (int)out[3]);
    }
    for (cl_uint i = 0; i < 100; i++) {
        assert_int_equal(out[10 + i], i < 64 ? 64 : 36);
    }
    for (cl_uint i = 0; i < 45; i++) {
        assert_int_equal(out[110 + i], (i % 9 < 8 ? 4 : 1) * 10 + (i / 9 < 4 ? 2 : 1));
    }
    check(clReleaseMemObject(to));
    check(clReleaseKernel(kernel));
    check(clReleaseCommandQueue(queue));
}

/*
 * One of 256 yields parts lanes that are together, by chance. Each work-item counts its wrong results, and how often it
 * was not with all of its sub-group.
 */
static void parted_lanes_meet(void **state)
{
    enum { TURNS = CL_ROUNDS(1200, 300), ITEMS = 512 };
    static const char *const text =
        "kernel void k(global uint2 *out, global const uint *turns)\n"
        "{\n"
        "    uint id = get_local_id(0), n = get_local_size(0), wrong = 0, parted = 0, i = 0;\n"
        "    while (i < turns[0]) {\n"
        "        ppu_yield();\n"
        "        parted += sub_group_non_uniform_reduce_add(1u) != get_sub_group_size();\n"
        "        wrong += work_group_reduce_add(i + id) != n * i + n * (n - 1) / 2;\n"
        "        ppu_yield();\n"
        "        wrong += work_group_scan_exclusive_max(id + 1) != id;\n"
        "        ppu_yield();\n"
        "        wrong += !work_group_any(id == i % n) || work_group_all(id != i % n);\n"
        "        ppu_yield();\n"
        "        wrong += work_group_broadcast(i * 3 + id, i % n) != i * 3 + i % n;\n"
        "        ppu_yield();\n"
        "        wrong += sub_group_reduce_add(i) != get_sub_group_size() * i;\n"
        "        i++;\n"
        "    }\n"
        "    out[get_global_id(0)] = (uint2)(wrong, parted);\n"
        "}\n";
    static const size_t sizes[] = { 64, 128, 256 };
    struct fixture *f = *state;
    const cl_uint turns = TURNS;
    const size_t items = ITEMS;
    cl_kernel kernel = kernel_of(f, text, "-cl-std=CL3.0", "k");
    cl_mem out = fixture_buffer(f, 0, ITEMS * sizeof(cl_uint2), NULL);
    cl_mem in = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(turns), (void *)(uintptr_t)&turns);

    check(clSetKernelArg(kernel, 0, sizeof(out), &out));
    check(clSetKernelArg(kernel, 1, sizeof(in), &in));
    for (size_t s = 0; s < PPU_ARRAY_SIZE(sizes); s++) {
        cl_uint2 got[ITEMS];
        cl_ulong parted = 0;
        check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, &sizes[s], 0, NULL, NULL));
        read_all(f, out, sizeof(got), got);
        for (size_t i = 0; i < ITEMS; i++) {
            assert_int_equal(got[i].s[0], 0);
            parted += got[i].s[1];
        }
        assert_true(parted > 0);
    }
    check(clReleaseMemObject(out));
    check(clReleaseMemObject(in));
    check(clReleaseKernel(kernel));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cl_test("collective functions of work-groups, of every type and size", work_groups_collect),
        cl_test("collective functions of half", halves_collect),
        cl_test("lanes that chance has parted meet in collective functions [E11]", parted_lanes_meet),
        cl_test("work-groups need not divide the range", ranges_need_not_be_divided),
        cl_test("a program that promises work-groups of one size has them", promises_are_kept),
        cl_test("blocks need not divide their range [B1]", blocks_need_not_divide),
        cl_test("each work-item of any range runs once, in groups of any size", each_item_runs_once),
        cl_test("a prime number of work-items has large work-groups", primes_have_large_groups),
        cl_test("work-groups that no work-item sees have another shape", unseen_groups_are_reshaped),
        cl_test("a wrong local size is refused where nobody sees it", unseen_groups_are_checked),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
