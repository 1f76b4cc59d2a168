/* SPDX-License-Identifier: MIT */
/* Variants for the shape of launches: sizes of groups, and values that no work-item's id reaches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define WIDTH 1100u
#define HEIGHT 6u
#define ROOM (WIDTH * HEIGHT)

static const char *const source =
    "kernel void line(global const uint *in, global uint *out, int n)\n"
    "{\n"
    "    int i = get_global_id(0);\n"
    "    if (i < n) { out[i] = in[i] * 3 + i; }\n"
    "}\n"
    "kernel void alone(global uint *out, uint n)\n"
    "{\n"
    "    uint i = get_global_id(0);\n"
    "    if (i >= n) { return; }\n"
    "    out[i] = i * 5;\n"
    "}\n"
    "kernel void wide(global uint *out, long n)\n"
    "{\n"
    "    size_t i = get_global_id(0);\n"
    "    if (i < (size_t)n) { out[i] = 7; }\n"
    "    if ((long)i < n) { out[i] += (uint)i; }\n"
    "}\n"
    "kernel void far(global const uint *in, global uint *out)\n"
    "{\n"
    "    size_t x = get_global_id(0), y = get_global_id(1), at = x - get_global_offset(0);\n"
    "    ulong sum = 0;\n"
    "    for (size_t k = x - 1; k <= x + 1; k++) { sum += k * 5 + y + in[k - x + at + 1]; }\n"
    "    out[at] = (uint)sum ^ (uint)(sum >> 32);\n"
    "}\n"
    "kernel void plane(global const uint *in, global uint *out, int width, int height)\n"
    "{\n"
    "    int x = get_global_id(0), y = get_global_id(1);\n"
    "    if (x >= width || y >= height) { return; }\n"
    "    uint sum = 0;\n"
    "    for (int k = 0; k < 5; k++) { sum = sum * 3 + in[y * 1100 + k] + in[y * 1100 + x]; }\n"
    "    out[y * 1100 + x] = sum;\n"
    "}\n"
    "kernel void groups(global const uint *in, global uint *out)\n"
    "{\n"
    "    uint x = get_global_id(0), y = get_global_id(1), sum = 0;\n"
    "    for (uint k = get_local_size(0) * get_local_size(1); k > 0; k /= 2) { sum = sum * 3 + k; }\n"
    "    out[y * 1100 + x] = sum + get_local_id(0) * 1000 + get_local_id(1) + in[y * 1100];\n"
    "}\n";

struct shapes {
    struct fixture *f;
    cl_program program;
    cl_kernel kernel;
    cl_mem in, out;
    uint32_t values[ROOM], expected[ROOM];
    char name[128]; /* of the variant that ran last */
};

struct launch {
    size_t offset[2], size[2], local[2]; /* local 0: whoever enqueues does not say */
};

static void begin(struct shapes *s, void **state, const char *kernel)
{
    cl_int error = CL_SUCCESS;
    const char *text = source;

    setenv("PPU_ALIAS", "all", 1);
    setenv("PPU_ALIAS_WAIT", "1", 1);
    memset(s, 0, sizeof(*s));
    s->f = *state;
    s->program = clCreateProgramWithSource(s->f->context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(s->program, 1, &s->f->device, "-cl-std=CL3.0", NULL, NULL));
    s->kernel = clCreateKernel(s->program, kernel, &error);
    check(error);
    for (uint32_t i = 0; i < ROOM; i++) {
        s->values[i] = i * 2654435761u;
    }
    s->in = fixture_buffer(s->f, CL_MEM_COPY_HOST_PTR, sizeof(s->values), s->values);
    s->out = fixture_buffer(s->f, CL_MEM_COPY_HOST_PTR, sizeof(s->values), s->values);
}

static void end(struct shapes *s)
{
    check(clReleaseMemObject(s->in));
    check(clReleaseMemObject(s->out));
    check(clReleaseKernel(s->kernel));
    check(clReleaseProgram(s->program));
}

/* The output as it was, here and there. */
static void restore(struct shapes *s)
{
    memcpy(s->expected, s->values, sizeof(s->values));
    check(clEnqueueWriteBuffer(s->f->queue, s->out, CL_TRUE, 0, sizeof(s->values), s->values, 0, NULL, NULL));
}

static void note_variant(struct shapes *s, cl_event event)
{
    check(clWaitForEvents(1, &event));
    check(clGetEventInfo(event, CL_EVENT_VARIANT_PPU, sizeof(s->name), s->name, NULL));
    check(clReleaseEvent(event));
}

static void run(struct shapes *s, const struct launch *launch)
{
    cl_event event = NULL;

    check(clEnqueueNDRangeKernel(s->f->queue, s->kernel, 2, launch->offset, launch->size,
                                 launch->local[0] != 0 ? launch->local : NULL, 0, NULL, &event));
    note_variant(s, event);
}

static void expect(struct shapes *s)
{
    static uint32_t got[ROOM];

    check(clEnqueueReadBuffer(s->f->queue, s->out, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (uint32_t i = 0; i < ROOM; i++) {
        if (got[i] != s->expected[i]) {
            fail_msg("variant %s: element %u is %u, not %u", s->name, i, got[i], s->expected[i]);
        }
    }
}

/* ---- values above ids ---- */

static const struct {
    uint32_t offset, size;
    int64_t n;
} lines[] = {
    { 0, 256, 256 },      { 0, 256, 255 },         { 0, 256, 257 },        { 0, 1, 1 },    { 0, 1, 0 },
    { 5, 256, 256 },      { 5, 256, 260 },         { 5, 256, 261 },        { 5, 256, 5 },  { 0, 1031, 1031 },
    { 0, 1031, 1027 },    { 3, 1031, 1034 },       { 3, 1031, 1033 },      { 0, 256, -1 }, { 0, 64, INT32_MAX },
    { 0, 64, INT32_MIN }, { 700, 300, INT32_MAX }, { 0, 256, UINT32_MAX }, { 0, 64, 256 },
};

#define LINES PPU_ARRAY_SIZE(lines)

static bool is_above(size_t i, int64_t n)
{
    return n >= (int64_t)lines[i].offset + (int64_t)lines[i].size;
}

static void run_line(struct shapes *s, size_t i)
{
    const struct launch launch = { { lines[i].offset, 0 }, { lines[i].size, 1 }, { 0, 0 } };

    run(s, &launch);
    expect(s);
}

static void one_line(void **state)
{
    struct shapes s;

    begin(&s, state, "line");
    check(clSetKernelArg(s.kernel, 0, sizeof(cl_mem), &s.in));
    check(clSetKernelArg(s.kernel, 1, sizeof(cl_mem), &s.out));
    for (size_t i = 0; i < LINES; i++) {
        const cl_int n = (cl_int)lines[i].n;
        restore(&s);
        for (uint32_t x = lines[i].offset; x < lines[i].offset + lines[i].size; x++) {
            s.expected[x] = (cl_int)x < n ? s.values[x] * 3 + x : s.values[x];
        }
        check(clSetKernelArg(s.kernel, 2, sizeof(n), &n));
        run_line(&s, i);
        assert_int_equal(!!strstr(s.name, " i2:x"), is_above(i, n));
    }
    end(&s);
}

/* Without a pair of references; a number above all signed ones is not above ids. */
static void one_reference(void **state)
{
    struct shapes s;

    begin(&s, state, "alone");
    check(clSetKernelArg(s.kernel, 0, sizeof(cl_mem), &s.out));
    for (size_t i = 0; i < LINES; i++) {
        const cl_uint n = (cl_uint)lines[i].n;
        restore(&s);
        for (uint32_t x = lines[i].offset; x < lines[i].offset + lines[i].size; x++) {
            s.expected[x] = x < n ? x * 5 : s.values[x];
        }
        check(clSetKernelArg(s.kernel, 1, sizeof(n), &n));
        run_line(&s, i);
        assert_int_equal(!!strstr(s.name, " i1:x"), is_above(i, (cl_int)n));
        assert_int_equal(strcmp(s.name, "base") == 0, !is_above(i, (cl_int)n));
    }
    end(&s);
}

static void long_values(void **state)
{
    static const int64_t more[] = { INT64_MAX, INT64_MIN, (int64_t)1 << 32, ((int64_t)1 << 32) + 3, -5 };
    struct shapes s;

    begin(&s, state, "wide");
    check(clSetKernelArg(s.kernel, 0, sizeof(cl_mem), &s.out));
    for (size_t i = 0; i < LINES * 5; i++) {
        const cl_long n = i % 5 == 0 ? lines[i / 5].n : more[i % 5];
        size_t l = i / 5;
        restore(&s);
        for (uint32_t x = lines[l].offset; x < lines[l].offset + lines[l].size; x++) {
            s.expected[x] = x < (uint64_t)n ? 7 : s.values[x];
            s.expected[x] += (int64_t)x < n ? x : 0;
        }
        check(clSetKernelArg(s.kernel, 1, sizeof(n), &n));
        run_line(&s, l);
        assert_int_equal(!!strstr(s.name, " i1:x"), is_above(l, n));
    }
    end(&s);
}

/* ---- ids of 32 bits ---- */

#define FAR_ITEMS 1000u

static const struct {
    size_t offset[2];
    bool small;
} fars[] = {
    { { 1, 0 }, true },
    { { (1ull << 31) - FAR_ITEMS, 0 }, true },
    { { (1ull << 31) - FAR_ITEMS + 1, 0 }, false },
    { { (1ull << 32) - FAR_ITEMS / 2, 7 }, false },
    { { (1ull << 47) + 3, 0 }, false },
    { { 9, (1ull << 31) - 1 }, true },
    { { 9, 1ull << 31 }, false },
    { { 9, 1ull << 46 }, false },
};

/* Ids that need more than 32 bits are computed with as many as there are. */
static void small_ids(void **state)
{
    struct shapes s;

    begin(&s, state, "far");
    check(clSetKernelArg(s.kernel, 0, sizeof(cl_mem), &s.in));
    check(clSetKernelArg(s.kernel, 1, sizeof(cl_mem), &s.out));
    for (size_t i = 0; i < 2 * PPU_ARRAY_SIZE(fars); i++) {
        const size_t *const offset = fars[i / 2].offset;
        const struct launch launch = { { offset[0], offset[1] }, { FAR_ITEMS, 1 }, { 0, 0 } };

        restore(&s);
        for (uint32_t at = 0; at < FAR_ITEMS; at++) {
            uint64_t sum = 3 * offset[1];
            for (uint32_t k = 0; k < 3; k++) {
                sum += (offset[0] + at - 1 + k) * 5 + s.values[at + k];
            }
            s.expected[at] = (uint32_t)sum ^ (uint32_t)(sum >> 32);
        }
        run(&s, &launch);
        expect(&s);
        assert_int_equal(!!strstr(s.name, " n"), fars[i / 2].small);
    }
    end(&s);
}

/* ---- groups ---- */

static const struct launch planes[] = {
    { { 0, 0 }, { 256, 4 }, { 256, 1 } }, { { 0, 0 }, { 256, 4 }, { 256, 1 } }, /* the second is of the same shape */
    { { 0, 0 }, { 256, 4 }, { 16, 4 } },  { { 0, 0 }, { 256, 4 }, { 16, 4 } },  { { 0, 0 }, { 256, 4 }, { 1, 4 } },
    { { 3, 1 }, { 256, 4 }, { 1, 4 } },   { { 3, 1 }, { 256, 4 }, { 128, 2 } }, { { 0, 2 }, { 256, 4 }, { 128, 2 } },
    { { 0, 2 }, { 256, 4 }, { 256, 1 } }, { { 0, 0 }, { 512, 4 }, { 128, 2 } }, { { 0, 0 }, { 1031, 2 }, { 0, 0 } },
    { { 1, 1 }, { 1031, 2 }, { 0, 0 } }, /* groups of its own for the rest */
    { { 0, 0 }, { 256, 6 }, { 0, 0 } },   { { 0, 0 }, { 256, 6 }, { 0, 0 } },   { { 0, 0 }, { 1, 1 }, { 1, 1 } },
    { { 0, 0 }, { 1, 1 }, { 1, 1 } },
};

#define PLANES PPU_ARRAY_SIZE(planes)

static void expect_plane(struct shapes *s, const struct launch *launch, cl_int width, cl_int height)
{
    for (uint32_t y = (uint32_t)launch->offset[1]; y < launch->offset[1] + launch->size[1]; y++) {
        for (uint32_t x = (uint32_t)launch->offset[0]; x < launch->offset[0] + launch->size[0]; x++) {
            uint32_t sum = 0, at = y * WIDTH;
            for (uint32_t k = 0; k < 5; k++) {
                sum = sum * 3 + s->values[at + k] + s->values[at + x];
            }
            s->expected[at + x] = (cl_int)x < width && (cl_int)y < height ? sum : s->expected[at + x];
        }
    }
    expect(s);
}

/* What of the shape the variant of a launch is for, when the one before had the same groups. */
static void expect_shape(const struct shapes *s, size_t i, cl_int width, cl_int height)
{
    const struct launch *launch = &planes[i];
    char group[32] = "";

    if (i != 0 && launch->local[0] != 0 && memcmp(launch->local, planes[i - 1].local, sizeof(launch->local)) == 0) {
        snprintf(group, sizeof(group), " g%zux%zux1", launch->local[0], launch->local[1]);
    } else if (launch->size[0] == 1031) {
        snprintf(group, sizeof(group), "%s", planes[i - 1].size[0] == 1031 ? " g0x2x1" : "");
    }
    assert_int_equal(!!strstr(s->name, " i2:x"), (size_t)width >= launch->offset[0] + launch->size[0]);
    assert_int_equal(!!strstr(s->name, " i3:y"), (size_t)height >= launch->offset[1] + launch->size[1]);
    if (launch->local[0] != 0 || group[0] != '\0') {
        assert_true(group[0] != '\0' ? !!strstr(s->name, group) : !strstr(s->name, " g"));
    }
}

static void rows(void **state)
{
    static const cl_int sizes[][2] = { { WIDTH, HEIGHT }, { 256, 4 }, { 200, 4 }, { 256, 3 } };
    struct shapes s;

    for (size_t k = 0; k < PPU_ARRAY_SIZE(sizes); k++) {
        begin(&s, state, "plane");
        check(clSetKernelArg(s.kernel, 0, sizeof(cl_mem), &s.in));
        check(clSetKernelArg(s.kernel, 1, sizeof(cl_mem), &s.out));
        check(clSetKernelArg(s.kernel, 2, sizeof(cl_int), &sizes[k][0]));
        check(clSetKernelArg(s.kernel, 3, sizeof(cl_int), &sizes[k][1]));
        for (size_t i = 0; i < PLANES; i++) {
            restore(&s);
            run(&s, &planes[i]);
            expect_plane(&s, &planes[i], sizes[k][0], sizes[k][1]);
            expect_shape(&s, i, sizes[k][0], sizes[k][1]);
        }
        end(&s);
    }
}

/* Sizes and numbers within groups are what they are, also when the launch before had others. */
static void sizes_of_groups(void **state)
{
    struct shapes s;

    begin(&s, state, "groups");
    check(clSetKernelArg(s.kernel, 0, sizeof(cl_mem), &s.in));
    check(clSetKernelArg(s.kernel, 1, sizeof(cl_mem), &s.out));
    for (size_t i = 0; i < PLANES; i++) {
        const struct launch *launch = &planes[i];
        uint32_t sum = 0;
        if (launch->local[0] == 0) {
            continue;
        }
        restore(&s);
        run(&s, launch);
        for (size_t k = launch->local[0] * launch->local[1]; k > 0; k /= 2) {
            sum = sum * 3 + (uint32_t)k;
        }
        for (size_t y = 0; y < launch->size[1]; y++) {
            for (size_t x = 0; x < launch->size[0]; x++) {
                size_t row = (y + launch->offset[1]) * WIDTH;
                s.expected[row + x + launch->offset[0]] =
                    sum + (uint32_t)(x % launch->local[0] * 1000 + y % launch->local[1]) + s.values[row];
            }
        }
        expect(&s);
        assert_int_equal(!!strstr(s.name, " g"),
                         i != 0 && memcmp(launch->local, planes[i - 1].local, sizeof(launch->local)) == 0);
    }
    end(&s);
}

/* A task is one work-item. */
static void tasks(void **state)
{
    struct shapes s;
    cl_event event = NULL;

    begin(&s, state, "line");
    check(clSetKernelArg(s.kernel, 0, sizeof(cl_mem), &s.in));
    check(clSetKernelArg(s.kernel, 1, sizeof(cl_mem), &s.out));
    for (cl_int n = -1; n < 4; n++) {
        restore(&s);
        s.expected[0] = n > 0 ? s.values[0] * 3 : s.values[0];
        check(clSetKernelArg(s.kernel, 2, sizeof(n), &n));
        check(clEnqueueTask(s.f->queue, s.kernel, 0, NULL, &event));
        note_variant(&s, event);
        expect(&s);
        assert_int_equal(!!strstr(s.name, " i2:x"), n >= 1);
    }
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("values above ids: smaller, equal, larger, negative; offsets, smaller groups [F4][F5]", one_line),
        cl_test("a kernel with one reference gets a variant for such values only [F4]", one_reference),
        cl_test("values of 64 bits [F4]", long_values),
        cl_test("ids of 64 bits that are small, and that are not [F4]", small_ids),
        cl_test("a task [F4]", tasks),
        cl_test("launches of alternating shapes, with guards in two dimensions [F4][F5]", rows),
        cl_test("sizes of groups and numbers in them [F4]", sizes_of_groups),
    };

    setenv("PPU_WORK_GROUPS", "asked", 1); /* when the context is made: facts tell of these */
    return cmocka_run_group_tests_name("opencl: variants for shapes", tests, NULL, NULL);
}
