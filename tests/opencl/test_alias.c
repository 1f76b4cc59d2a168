/* SPDX-License-Identifier: MIT */
/* Tests variants of kernels: which one a launch gets, when, and that it computes the same. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/image.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"
#include "tests/opencl/store.h"

#define ITEMS 4u
#define TURNS 21u
#define COUNT (ITEMS * TURNS)
#define ROOM 512u /* elements of a buffer */

#define ADD_AND_SCAN                                                                       \
    "kernel void add(global const uint *a, global const uint *b, global uint *c, int n)\n" \
    "{\n"                                                                                  \
    "    int first = get_global_id(0) * n;\n"                                              \
    "    for (int i = first; i < first + n; i++) { c[i] = a[i] + 3 * b[i]; }\n"            \
    "}\n"                                                                                  \
    "kernel void scan(global const uint *a, global uint *b, int n)\n"                      \
    "{\n"                                                                                  \
    "    for (int i = 0; i < n; i++) { b[i] = a[i] * 3 + 1; }\n"                           \
    "}\n"

static const char *const source = ADD_AND_SCAN;

/* Each with the kernel of one test beside them: what a test does not use takes long to compile in the guest. */
static const char *const alone_source =
    "kernel void alone(global uint *a, int n) { for (int i = 0; i < n; i++) { a[i] += i; } }\n" ADD_AND_SCAN;
static const char *const halves_source = "kernel void halves(global const uint *in, global uint *out)\n"
                                         "{\n"
                                         "    size_t i = get_global_id(0);\n"
                                         "    out[2 * i] = in[4 * i] + in[4 * i + 1];\n"
                                         "    out[2 * i + 1] = in[4 * i + 2] + in[4 * i + 3];\n"
                                         "}\n" ADD_AND_SCAN;
static const char *const fields_source = "kernel void fields(global const uint *x, global uint *y)\n"
                                         "{\n"
                                         "    size_t i = 8 * get_global_id(0);\n"
                                         "    y[i] = 3 * x[i];\n"
                                         "    y[i + 1] = 3 * x[i + 1];\n"
                                         "    y[i + 2] = 3 * x[i + 2];\n"
                                         "    y[i + 3] = 3 * x[i + 3];\n"
                                         "}\n" ADD_AND_SCAN;
static const char *const through_source =
    "kernel void through(global const ulong *table, global uint *a, global uint *b, int n)\n"
    "{\n"
    "    global uint *p = (global uint *)table[0];\n"
    "    for (int i = 0; i < n; i++) { b[i] = a[i]; p[i + 1] = a[i] * 3 + 1; }\n"
    "}\n" ADD_AND_SCAN;
static const char *const taps_source = "kernel void taps(global const uint *a, global uint *b, int n, int m)\n"
                                       "{\n"
                                       "    for (int i = 0; i < n; i++) {\n"
                                       "        uint sum = 0;\n"
                                       "        for (int j = 0; j < m; j++) { sum += a[j] * (j + 3u); }\n"
                                       "        b[i] += sum;\n"
                                       "    }\n"
                                       "}\n" ADD_AND_SCAN;
static const char *const told_source = "kernel void told(global const uint *a, global uint *b, int n)\n"
                                       "{\n"
                                       "    for (int i = 0; i < n; i++) { b[i] = a[i] * 3 + 1; }\n"
                                       "    printf(\"%s %d of %u\\n\", n > 9 ? \"many\" : \"few\", n, b[0]);\n"
                                       "}\n" ADD_AND_SCAN;
static const char *const both_source =
    "kernel void both(global const uint *a, global uint *b, int n)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) { b[i] = a[i] * 3 + 1; }\n"
    "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{\n"
    "        for (int i = 0; i < n; i++) { b[i] += a[i]; }\n"
    "    });\n"
    "}\n" ADD_AND_SCAN;
static const char *const parent_source =
    "kernel void parent(global const uint *a, global uint *b, int n)\n"
    "{\n"
    "    enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{\n"
    "        for (int i = 0; i < n; i++) { b[i] = a[i] * 3 + 1; }\n"
    "    });\n"
    "}\n" ADD_AND_SCAN;

struct alias {
    struct fixture *f;
    cl_program program;
    cl_kernel add, scan;
    cl_mem a, b, c;
    uint32_t values[ROOM];
    char name[128]; /* of the variant that ran last */
};

static cl_kernel kernel_of(cl_program program, const char *name)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    check(error);
    return kernel;
}

static cl_program program_of(struct fixture *f, const char *text)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    check(clBuildProgram(program, 1, &f->device, "-cl-std=CL3.0", NULL, NULL));
    return program;
}

static void make_of(struct alias *t, struct fixture *f, const char *text)
{
    memset(t, 0, sizeof(*t));
    t->f = f;
    t->program = program_of(f, text);
    t->add = kernel_of(t->program, "add");
    t->scan = kernel_of(t->program, "scan");
    for (uint32_t i = 0; i < ROOM; i++) {
        t->values[i] = i * 2654435761u;
    }
    t->a = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(t->values), t->values);
    t->b = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(t->values), t->values);
    t->c = fixture_buffer(f, CL_MEM_COPY_HOST_PTR, sizeof(t->values), t->values);
}

/* The environment decides for what is built after it. */
static void begin_with(struct alias *t, struct fixture *f, const char *text, const char *level, const char *waits)
{
    setenv("PPU_ALIAS", level, 1);
    setenv("PPU_ALIAS_WAIT", waits, 1);
    make_of(t, f, text);
}

static void begin(struct alias *t, struct fixture *f, const char *level, const char *waits)
{
    begin_with(t, f, source, level, waits);
}

static void end(struct alias *t)
{
    check(clReleaseMemObject(t->a));
    check(clReleaseMemObject(t->b));
    check(clReleaseMemObject(t->c));
    check(clReleaseKernel(t->add));
    check(clReleaseKernel(t->scan));
    check(clReleaseProgram(t->program));
}

static void launch(struct alias *t, cl_kernel kernel, size_t items)
{
    cl_event event = NULL;

    check(clEnqueueNDRangeKernel(t->f->queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event));
    check(clWaitForEvents(1, &event));
    check(clGetEventInfo(event, CL_EVENT_VARIANT_PPU, sizeof(t->name), t->name, NULL));
    check(clReleaseEvent(event));
}

static void set_add(struct alias *t, cl_mem a, cl_mem b, cl_mem c, cl_int n)
{
    check(clSetKernelArg(t->add, 0, sizeof(cl_mem), &a));
    check(clSetKernelArg(t->add, 1, sizeof(cl_mem), &b));
    check(clSetKernelArg(t->add, 2, sizeof(cl_mem), &c));
    check(clSetKernelArg(t->add, 3, sizeof(n), &n));
}

static void expect_sum(struct alias *t)
{
    uint32_t got[ROOM];

    check(clEnqueueReadBuffer(t->f->queue, t->c, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (uint32_t i = 0; i < ROOM; i++) {
        assert_int_equal(got[i], i < COUNT ? 4 * t->values[i] : t->values[i]);
    }
}

static void restore(struct alias *t)
{
    check(clEnqueueWriteBuffer(t->f->queue, t->c, CL_TRUE, 0, sizeof(t->values), t->values, 0, NULL, NULL));
}

static void relations(void **state)
{
    struct alias t;

    begin(&t, *state, "all", "1");
    set_add(&t, t.a, t.b, t.c, TURNS);
    launch(&t, t.add, ITEMS);
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    expect_sum(&t);
    restore(&t);
    set_add(&t, t.a, t.a, t.c, TURNS); /* what is only read may be the same */
    launch(&t, t.add, ITEMS);
    expect_sum(&t);
    restore(&t);
    set_add(&t, t.c, t.c, t.c, TURNS); /* nothing to gain */
    launch(&t, t.add, ITEMS);
    assert_string_equal(t.name, "base");
    expect_sum(&t);
    restore(&t);
    set_add(&t, t.c, t.b, t.c, TURNS);
    launch(&t, t.add, ITEMS);
    assert_non_null(strstr(t.name, " 0=2"));
    expect_sum(&t);
    end(&t);
}

static void parts(void **state)
{
    struct alias t;
    cl_uint bits = 0;
    cl_int error = CL_SUCCESS;
    cl_mem part[2];

    begin(&t, *state, "all", "1");
    check(clGetDeviceInfo(t.f->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(bits), &bits, NULL));
    for (uint32_t overlap = 0; overlap < 2; overlap++) {
        for (uint32_t i = 0; i < 2; i++) {
            const cl_buffer_region region = { i * (overlap != 0 ? bits / 8 : ROOM * 2), ROOM * 2 };
            part[i] = clCreateSubBuffer(t.c, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
            check(error);
        }
        set_add(&t, t.a, part[0], part[1], TURNS);
        launch(&t, t.add, ITEMS);
        assert_int_equal(!!strstr(t.name, "2-1=16*4"), overlap); /* 16 and more */
        check(clReleaseMemObject(part[0]));
        check(clReleaseMemObject(part[1]));
    }
    end(&t);
}

static cl_mem part_of(cl_mem whole, size_t origin, size_t bytes)
{
    const cl_buffer_region region = { origin, bytes };
    cl_int error = CL_SUCCESS;
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);

    check(error);
    return part;
}

/* Where the overlap begins and ends is told when it was the same twice; what it computes is the same. */
static void common_bytes(void **state)
{
    static const struct {
        uint32_t units; /* from the begin of the one to that of the other */
        bool known;
    } launches[] = { { 1, false }, { 1, true }, { 2, false }, { 2, true }, { 1, false } };
    const cl_int turns = 16, taken = 20;
    struct alias t;
    cl_uint bits = 0;
    char wanted[64];
    uint32_t got[ROOM], model[ROOM];

    begin_with(&t, *state, taps_source, "all", "always");
    cl_kernel taps = kernel_of(t.program, "taps");
    check(clGetDeviceInfo(t.f->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof(bits), &bits, NULL));
    for (size_t k = 0; k < PPU_ARRAY_SIZE(launches); k++) {
        size_t origin = launches[k].units * bits / 8, bytes = sizeof(got) - origin;
        cl_mem part = part_of(t.c, origin, bytes);
        restore(&t);
        memcpy(model, t.values, sizeof(model));
        for (int32_t i = 0; i < turns; i++) {
            for (uint32_t j = 0; j < (uint32_t)taken; j++) {
                model[origin / 4 + (size_t)i] += model[j] * (j + 3);
            }
        }
        check(clSetKernelArg(taps, 0, sizeof(cl_mem), &t.c));
        check(clSetKernelArg(taps, 1, sizeof(cl_mem), &part));
        check(clSetKernelArg(taps, 2, sizeof(turns), &turns));
        check(clSetKernelArg(taps, 3, sizeof(taken), &taken));
        launch(&t, taps, 1);
        snprintf(wanted, sizeof(wanted), " 1-0=16*4@%zu,0:%zu", origin, bytes);
        assert_non_null(strstr(t.name, " 1-0=16*4"));
        assert_int_equal(!!strstr(t.name, wanted), launches[k].known);
        assert_int_equal(!!strchr(t.name, '@'), launches[k].known);
        check(clEnqueueReadBuffer(t.f->queue, t.c, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
        assert_memory_equal(got, model, sizeof(got));
        check(clReleaseMemObject(part));
    }
    check(clReleaseKernel(taps));
    end(&t);
}

/* b = a + distance, in one piece of memory that host and device share; a kernel that computes as scan does. */
static void check_scan_of(struct alias *t, cl_kernel kernel, uint32_t *shared, int32_t distance)
{
    uint32_t expected[ROOM];
    const cl_int turns = 40;
    uint32_t *a = shared + ROOM / 2, *b = a + distance;

    check(clEnqueueSVMMap(t->f->queue, CL_TRUE, CL_MAP_WRITE, shared, sizeof(expected), 0, NULL, NULL));
    memcpy(shared, t->values, sizeof(expected));
    memcpy(expected, t->values, sizeof(expected));
    check(clEnqueueSVMUnmap(t->f->queue, shared, 0, NULL, NULL));
    for (int32_t i = 0; i < turns; i++) {
        expected[(int32_t)ROOM / 2 + distance + i] = expected[ROOM / 2 + (uint32_t)i] * 3 + 1;
    }
    check(clSetKernelArgSVMPointer(kernel, 0, a));
    check(clSetKernelArgSVMPointer(kernel, 1, b));
    check(clSetKernelArg(kernel, 2, sizeof(turns), &turns));
    launch(t, kernel, 1);
    check(clEnqueueSVMMap(t->f->queue, CL_TRUE, CL_MAP_READ, shared, sizeof(expected), 0, NULL, NULL));
    assert_memory_equal(shared, expected, sizeof(expected));
    check(clEnqueueSVMUnmap(t->f->queue, shared, 0, NULL, NULL));
}

static void check_scan(struct alias *t, uint32_t *shared, int32_t distance)
{
    check_scan_of(t, t->scan, shared, distance);
}

/* There is none where the host's addresses of VRAM are not the device's. */
static void skip_without_svm(const struct fixture *f)
{
    cl_device_svm_capabilities has = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_SVM_CAPABILITIES, sizeof(has), &has, NULL));
    if (has == 0) {
        skip();
    }
}

static uint32_t *shared_memory(struct alias *t)
{
    uint32_t *shared = clSVMAlloc(t->f->context, CL_MEM_READ_WRITE, ROOM * sizeof(uint32_t), 0);

    assert_non_null(shared);
    return shared;
}

/* tests/compiler/test_alias.c has all of them. */
static void distances(void **state)
{
    static const int32_t some[] = { -20, -16, -5, -4, -3, -1, 0, 1, 2, 3, 4, 7, 15, 16, 20 };
    struct alias t;
    char wanted[32];

    skip_without_svm(*state);
    begin(&t, *state, "all", "1");
    uint32_t *shared = shared_memory(&t);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(some); i++) {
        const int32_t distance = some[i];
        check_scan(&t, shared, distance);
        int32_t near = distance > 16 ? 16 : distance < -16 ? -16 : distance;
        snprintf(wanted, sizeof(wanted), " 1-0=%d*4", near);
        assert_true(distance == 0 ? strcmp(t.name, "base") == 0 : !!strstr(t.name, wanted));
    }
    clSVMFree(t.f->context, shared);
    end(&t);
}

/* ---- what is printed ---- */

struct printed {
    FILE *file;
    int kept; /* where standard error went */
    char text[8192];
};

static void printf_begin(struct printed *printed)
{
    printed->file = tmpfile();
    assert_non_null(printed->file);
    fflush(stderr);
    printed->kept = dup(STDERR_FILENO);
    assert_true(dup2(fileno(printed->file), STDERR_FILENO) >= 0);
}

static void printf_end(struct printed *printed)
{
    dup2(printed->kept, STDERR_FILENO);
    close(printed->kept);
    rewind(printed->file);
    printed->text[fread(printed->text, 1, sizeof(printed->text) - 1, printed->file)] = '\0';
    fclose(printed->file);
}

static void expect_printed(const struct printed *printed, const char *words)
{
    if (!strstr(printed->text, words)) {
        fail_msg("'%s' is not in\n%s", words, printed->text);
    }
}

/* Eight stay; the ninth drives the first out, which is compiled again when it is wanted, counted and told. */
static void eviction(void **state)
{
    struct alias t;
    struct printed printed;
    char wanted[64];

    skip_without_svm(*state);
    setenv("PPU_ALIAS_PRINT", "1", 1);
    begin(&t, *state, "all", "1");
    unsetenv("PPU_ALIAS_PRINT");
    uint32_t *shared = shared_memory(&t);
    check_scan(&t, shared, -1); /* from the next on the number of turns is known */
    for (uint32_t n = 0; n < 18; n++) {
        snprintf(wanted, sizeof(wanted), "; %u compiled, %u of them again", n + 2, n < 9 ? 0 : n - 8);
        printf_begin(&printed);
        check_scan(&t, shared, 1 + (int32_t)(n % 9));
        printf_end(&printed);
        expect_printed(&printed, wanted);
        assert_int_equal(strtoul(t.name, NULL, 10), n + 2);
    }
    for (int32_t distance = 9; distance >= 2; distance--) { /* eight are still there */
        printf_begin(&printed);
        check_scan(&t, shared, distance);
        printf_end(&printed);
        expect_printed(&printed, wanted);
        assert_int_equal(strtoul(t.name, NULL, 10), 10 + distance);
    }
    clSVMFree(t.f->context, shared);
    end(&t);
}

/* ---- what work-items reach ---- */

static void launch_two(struct alias *t, cl_kernel kernel, uint32_t *in, uint32_t *out, uint32_t *shared)
{
    check(clEnqueueSVMMap(t->f->queue, CL_TRUE, CL_MAP_WRITE, shared, sizeof(t->values), 0, NULL, NULL));
    memcpy(shared, t->values, sizeof(t->values));
    check(clEnqueueSVMUnmap(t->f->queue, shared, 0, NULL, NULL));
    check(clSetKernelArgSVMPointer(kernel, 0, in));
    check(clSetKernelArgSVMPointer(kernel, 1, out));
    launch(t, kernel, ITEMS);
    check(clEnqueueSVMMap(t->f->queue, CL_TRUE, CL_MAP_READ, shared, sizeof(t->values), 0, NULL, NULL));
}

/* Arguments lead into one piece of memory; what the launch's work-items reach there does not meet. */
static void reached(void **state)
{
    struct alias t;

    skip_without_svm(*state);
    begin_with(&t, *state, halves_source, "all", "1");
    cl_kernel halves = kernel_of(t.program, "halves");
    uint32_t *shared = shared_memory(&t), *out = shared + ROOM / 2;
    launch_two(&t, halves, shared, out, shared);
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 n");
    for (uint32_t i = 0; i < 2 * ITEMS; i++) {
        assert_int_equal(out[i], t.values[2 * i] + t.values[2 * i + 1]);
    }
    check(clEnqueueSVMUnmap(t.f->queue, shared, 0, NULL, NULL));
    launch_two(&t, halves, shared, shared + 4 * ITEMS - 1, shared); /* one element meets */
    assert_non_null(strstr(t.name, " 1-0=15*4"));
    check(clEnqueueSVMUnmap(t.f->queue, shared, 0, NULL, NULL));
    clSVMFree(t.f->context, shared);
    check(clReleaseKernel(halves));
    end(&t);
}

/* Parts of the same records: what one work-item writes no other reads, nor does it itself. */
static void records(void **state)
{
    struct alias t;
    struct printed printed;

    skip_without_svm(*state);
    setenv("PPU_ALIAS_PRINT", "1", 1);
    begin_with(&t, *state, fields_source, "all", "1");
    unsetenv("PPU_ALIAS_PRINT");
    cl_kernel fields = kernel_of(t.program, "fields");
    uint32_t *shared = shared_memory(&t);
    printf_begin(&printed);
    launch_two(&t, fields, shared, shared + 4, shared);
    printf_end(&printed);
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 n");
    expect_printed(&printed, "1 pairs of references, 0 overlap, 0 of them identical, 1 disjoint in each work-item");
    expect_printed(&printed, ", written; each work-item 0 to 16, step 32");
    for (uint32_t i = 0; i < 4 * ITEMS; i++) {
        assert_int_equal(shared[i / 4 * 8 + 4 + i % 4], 3 * t.values[i / 4 * 8 + i % 4]);
    }
    check(clEnqueueSVMUnmap(t.f->queue, shared, 0, NULL, NULL));
    launch_two(&t, fields, shared, shared + 2, shared);
    assert_non_null(strstr(t.name, " 1-0=2*4"));
    for (uint32_t i = 0; i < 8 * ITEMS; i += 8) {
        for (uint32_t k = 0; k < 2; k++) {
            assert_int_equal(shared[i + 2 + k], 3 * t.values[i + k]);
            assert_int_equal(shared[i + 4 + k], 9 * t.values[i + k]);
        }
    }
    check(clEnqueueSVMUnmap(t.f->queue, shared, 0, NULL, NULL));
    clSVMFree(t.f->context, shared);
    check(clReleaseKernel(fields));
    end(&t);
}

/* ---- programs of every kind ---- */

static void keep(const char *path)
{
    (void)path;
}

/* A program of which `add` is taken; it is ours. */
static void check_program(struct alias *t, cl_program program, const char *name)
{
    check(clReleaseKernel(t->add));
    t->add = kernel_of(program, "add");
    restore(t);
    set_add(t, t->a, t->b, t->c, TURNS);
    launch(t, t->add, ITEMS);
    assert_string_equal(t->name, name);
    expect_sum(t);
    check(clReleaseProgram(program));
}

static cl_program object_of(struct fixture *f, const char *text)
{
    cl_int error = CL_SUCCESS;
    cl_program object = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    check(clCompileProgram(object, 0, NULL, "-cl-std=CL3.0", 0, NULL, NULL, NULL, NULL));
    return object;
}

static void linked(void **state)
{
    struct alias t;
    cl_int error = CL_SUCCESS;

    begin(&t, *state, "alignment", "always");
    const cl_program objects[] = { object_of(t.f, source), object_of(t.f, "kernel void other(void) { }\n") };
    for (cl_uint count = 1; count <= PPU_ARRAY_SIZE(objects); count++) {
        cl_program program = clLinkProgram(t.f->context, 0, NULL, "", count, objects, NULL, NULL, &error);
        check(error);
        check_program(&t, program, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    }
    check(clReleaseProgram(objects[0]));
    check(clReleaseProgram(objects[1]));
    end(&t);
}

/* A variant has the sub-groups of the base variant, which a build option has chosen. */
static void of_other_waves(void **state)
{
    const char *text = "kernel void add(global const uint *a, global const uint *b, global uint *c, int n)\n"
                       "{\n"
                       "    for (int i = 0; i < n; i++) {\n"
                       "        size_t at = i * get_global_size(0) + get_global_id(0);\n"
                       "        c[at] = a[at] - b[at] + get_max_sub_group_size();\n"
                       "    }\n"
                       "}\n";
    const cl_int turns = 3;
    const size_t items = 128;
    cl_uint got[384];
    struct alias t;
    cl_int error = CL_SUCCESS;

    begin(&t, *state, "alignment", "always");
    cl_program program = clCreateProgramWithSource(t.f->context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 1, &t.f->device, "-cl-std=CL3.0 -cl-ppu-sub-group-size=64", NULL, NULL));
    check(clReleaseKernel(t.add));
    t.add = kernel_of(program, "add");
    set_add(&t, t.a, t.b, t.c, turns);
    launch(&t, t.add, items);
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    check(clEnqueueReadBuffer(t.f->queue, t.c, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(got); i++) {
        assert_int_equal(got[i], 64);
    }
    check(clReleaseProgram(program));
    end(&t);
}

#define TAG_AT 32u /* of the header of a compiled object, and of what an executable was made of */

static unsigned char *saved(cl_program program, size_t *bytes)
{
    check(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(*bytes), bytes, NULL));
    unsigned char *binary = malloc(*bytes);
    assert_non_null(binary);
    check(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(binary), &binary, NULL));
    return binary;
}

static cl_program load(struct fixture *f, const unsigned char *binary, size_t bytes)
{
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithBinary(f->context, 1, &f->device, &bytes, &binary, NULL, &error);

    check(error);
    return program;
}

/* Where what an executable was made of begins. */
static size_t image_bytes(const unsigned char *binary)
{
    struct ppu_program_header header;

    memcpy(&header, binary, sizeof(header));
    return header.image_bytes;
}

/* Compiled objects that are loaded: this user's, and another's. */
static void loaded_objects(void **state)
{
    struct alias t;
    size_t bytes = 0;

    begin(&t, *state, "alignment", "always");
    for (uint32_t foreign = 0; foreign < 2; foreign++) {
        cl_program from = object_of(t.f, source);
        unsigned char *binary = saved(from, &bytes);
        binary[TAG_AT] ^= foreign;
        cl_program program = load(t.f, binary, bytes);
        free(binary);
        check(clBuildProgram(program, 0, NULL, "", NULL, NULL));
        check(clBuildProgram(program, 0, NULL, "", NULL, NULL)); /* of the executable that it has become */
        check_program(&t, program, "1: s0 a0:16 s1 a1:16 s2 a2:16");
        check(clReleaseProgram(from));
    }
    end(&t);
}

/* A program from source, one that was linked, and one that was loaded itself. */
static cl_program executable_of(struct alias *t, uint32_t kind)
{
    cl_int error = CL_SUCCESS;
    size_t bytes = 0;

    if (kind == 1) {
        cl_program object = object_of(t->f, source);
        cl_program program = clLinkProgram(t->f->context, 0, NULL, "", 1, &object, NULL, NULL, &error);
        check(error);
        check(clReleaseProgram(object));
        return program;
    }
    cl_program program = program_of(t->f, source);
    if (kind == 2) {
        unsigned char *binary = saved(program, &bytes);
        check(clReleaseProgram(program));
        program = load(t->f, binary, bytes);
        free(binary);
    }
    return program;
}

/* Executables hold the bitcode they were made of: built anew or not, they have the variants of the program saved. */
static void loaded_executables(void **state)
{
    struct alias t;
    size_t bytes = 0, again = 0;

    begin(&t, *state, "alignment", "always");
    for (uint32_t kind = 0; kind < 3; kind++) {
        cl_program from = executable_of(&t, kind);
        unsigned char *binary = saved(from, &bytes), *second = saved(from, &again);
        assert_true(bytes > image_bytes(binary) && bytes == again);
        assert_memory_equal(binary, second, bytes);
        free(second);
        check(clReleaseProgram(from));
        cl_program program = load(t.f, binary, bytes);
        free(binary);
        if (kind != 1) {
            check(clBuildProgram(program, 0, NULL, "-cl-opt-disable", NULL, NULL));
        }
        check_program(&t, program, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    }
    end(&t);
}

/* The image alone runs as compiled. What is damaged is refused. */
static void executables_without_bitcode(void **state)
{
    struct alias t;
    size_t bytes = 0;

    begin(&t, *state, "alignment", "always");
    unsigned char *binary = saved(t.program, &bytes);
    const size_t image = image_bytes(binary);
    check_program(&t, load(t.f, binary, image), "base");
    for (size_t at = image; at < bytes; at += at < image + 2 * TAG_AT ? 1 : (bytes - image) / 16) {
        cl_int error = CL_SUCCESS;
        const unsigned char *given = binary;
        bool in_tag = at >= image + TAG_AT && at < image + 2 * TAG_AT, in_threshold = at - image - 8 < 4;
        binary[at] ^= 4;
        cl_program program = clCreateProgramWithBinary(t.f->context, 1, &t.f->device, &bytes, &given, NULL, &error);
        binary[at] ^= 4;
        assert_int_equal(error, in_tag || in_threshold ? CL_SUCCESS : CL_INVALID_BINARY);
        if (program) {
            check(clReleaseProgram(program));
        }
    }
    for (size_t less = image + 1; less < bytes; less += (bytes - image) / 16) {
        cl_int error = CL_SUCCESS;
        const unsigned char *given = binary;
        assert_null(clCreateProgramWithBinary(t.f->context, 1, &t.f->device, &less, &given, NULL, &error));
        assert_int_equal(error, CL_INVALID_BINARY);
    }
    free(binary);
    end(&t);
}

/* Its options are those that it was built with: sub-groups of 64, of which the base variant's code knows. */
static void executables_keep_options(void **state)
{
    const char *text = "kernel void add(global const uint *a, global const uint *b, global uint *c, int n)\n"
                       "{\n"
                       "    for (int i = 0; i < n; i++) { c[i] = a[i] - b[i] + VALUE; }\n"
                       "}\n";
    struct alias t;
    cl_int error = CL_SUCCESS;
    const cl_int turns = TURNS;
    cl_uint got[TURNS];
    size_t bytes = 0;

    begin(&t, *state, "alignment", "always");
    cl_program from = clCreateProgramWithSource(t.f->context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(from, 1, &t.f->device, "-cl-ppu-sub-group-size=64 -DVALUE=7", NULL, NULL));
    unsigned char *binary = saved(from, &bytes);
    check(clReleaseProgram(from));
    cl_program program = load(t.f, binary, bytes);
    free(binary);
    check(clReleaseKernel(t.add));
    t.add = kernel_of(program, "add");
    set_add(&t, t.a, t.b, t.c, turns);
    launch(&t, t.add, 1);
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    check(clEnqueueReadBuffer(t.f->queue, t.c, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
    for (size_t i = 0; i < PPU_ARRAY_SIZE(got); i++) {
        assert_int_equal(got[i], 7);
    }
    check(clReleaseProgram(program));
    end(&t);
}

/* Bitcode of another program is behind the image: its kernel has other parameters, and takes no launch's place. */
static void executables_with_other_bitcode(void **state)
{
    const char *text = "kernel void add(global const uint *a, ulong n, global const uint *b, global uint *c, ulong m)\n"
                       "{ for (ulong i = 0; i < n + m; i++) { c[i] = a[i] + b[i]; } }\n";
    struct alias t;
    cl_int error = CL_SUCCESS;
    size_t bytes = 0, other_bytes = 0;

    begin(&t, *state, "alignment", "always");
    cl_program other = clCreateProgramWithSource(t.f->context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(other, 0, NULL, "", NULL, NULL));
    unsigned char *binary = saved(t.program, &bytes), *from = saved(other, &other_bytes);
    const size_t image = image_bytes(binary), behind = other_bytes - image_bytes(from);
    unsigned char *mixed = malloc(image + behind);
    assert_non_null(mixed);
    memcpy(mixed, binary, image);
    memcpy(mixed + image, from + image_bytes(from), behind);
    check_program(&t, load(t.f, mixed, image + behind), "base");
    free(mixed);
    free(from);
    free(binary);
    check(clReleaseProgram(other));
    end(&t);
}

/* The variant of an executable is found in the cache again; of another's executable nothing is kept. */
static void executables_and_cache(void **state)
{
    struct store store;
    struct alias t;
    size_t bytes = 0;

    store_open(&store);
    begin(&t, *state, "alignment", "always");
    unsigned char *binary = saved(t.program, &bytes);
    binary[image_bytes(binary) + TAG_AT] ^= 1;
    check_program(&t, load(t.f, binary, bytes), "1: s0 a0:16 s1 a1:16 s2 a2:16");
    assert_int_equal(store_each(&store, keep), 1); /* the program */
    binary[image_bytes(binary) + TAG_AT] ^= 1;
    for (uint32_t i = 0; i < 2; i++) {
        check_program(&t, load(t.f, binary, bytes), "1: s0 a0:16 s1 a1:16 s2 a2:16");
        assert_int_equal(store_each(&store, keep), 2);
        setenv("PPU_ALIAS_WAIT", "never", 1);
    }
    free(binary);
    end(&t);
    store_close(&store);
}

/* Another image would have other variables: launches of different buffers add to the same one. */
static void writing_variables(void **state)
{
    const char *text = "global uint total;\n"
                       "kernel void totals(global const uint *a, global uint *b, int n)\n"
                       "{ for (int i = 0; i < n; i++) { b[i] = a[i] * 3 + 1; } total += n; b[n] = total; }\n";
    struct alias t;
    cl_int error = CL_SUCCESS;
    cl_uint got[TURNS + 1];
    const cl_int turns = TURNS;

    begin(&t, *state, "alignment", "always");
    cl_program program = clCreateProgramWithSource(t.f->context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 1, &t.f->device, "-cl-std=CL3.0", NULL, NULL));
    cl_kernel kernel = kernel_of(program, "totals");
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &t.a));
    check(clSetKernelArg(kernel, 2, sizeof(turns), &turns));
    for (cl_uint launches = 1; launches <= 4; launches++) {
        cl_mem out = launches % 2 == 0 ? t.b : t.c;
        check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &out));
        launch(&t, kernel, 1);
        assert_string_equal(t.name, "base");
        check(clEnqueueReadBuffer(t.f->queue, out, CL_TRUE, 0, sizeof(got), got, 0, NULL, NULL));
        assert_int_equal(got[0], t.values[0] * 3 + 1);
        assert_int_equal(got[TURNS], launches * TURNS);
    }
    check(clReleaseKernel(kernel));
    check(clReleaseProgram(program));
    end(&t);
}

/* What is linked is found in the cache again; of another's objects nothing is kept. */
static void linked_and_cached(void **state)
{
    struct store store;
    struct alias t;
    cl_int error = CL_SUCCESS;

    store_open(&store);
    begin(&t, *state, "alignment", "always");
    cl_program object = object_of(t.f, source);
    for (uint32_t i = 0; i < 2; i++) {
        cl_program program = clLinkProgram(t.f->context, 0, NULL, "", 1, &object, NULL, NULL, &error);
        check(error);
        check_program(&t, program, "1: s0 a0:16 s1 a1:16 s2 a2:16");
        assert_int_equal(store_each(&store, keep), 2); /* the first program, and the variant */
        setenv("PPU_ALIAS_WAIT", "never", 1);
    }
    check(clReleaseProgram(object));
    end(&t);
    store_close(&store);
}

/* What a variant prints is described by its own image: it has other formats than the program. */
static void printing(void **state)
{
    struct alias t;
    char text[64] = "";
    int ends[2];

    skip_without_svm(*state);
    begin_with(&t, *state, told_source, "all", "always");
    cl_kernel told = kernel_of(t.program, "told");
    uint32_t *shared = shared_memory(&t);
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], STDOUT_FILENO) >= 0);
    check_scan_of(&t, told, shared, 3);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(ends[1]);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    close(ends[0]);
    assert_non_null(strstr(t.name, " 1-0=3*4"));
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "many 40 of %u\n", t.values[ROOM / 2] * 3 + 1);
    assert_string_equal(text, wanted);
    clSVMFree(t.f->context, shared);
    check(clReleaseKernel(told));
    end(&t);
}

static cl_command_queue device_queue(struct alias *t)
{
    cl_int error = CL_SUCCESS;
    const cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0
    };
    cl_command_queue own = clCreateCommandQueueWithProperties(t->f->context, t->f->device, properties, &error);

    check(error);
    return own;
}

/* The kernel runs as a variant, what its thread launches as first compiled: right at each distance. */
static void enqueuing(void **state)
{
    static const int32_t some[] = { 64, 1, 3, -2 };
    const cl_int turns = 40;
    struct alias t;

    skip_without_svm(*state);
    begin_with(&t, *state, both_source, "alignment", "always");
    cl_command_queue own = device_queue(&t);
    cl_kernel both = kernel_of(t.program, "both");
    uint32_t *shared = shared_memory(&t), expected[ROOM];
    for (size_t i = 0; i < PPU_ARRAY_SIZE(some); i++) {
        uint32_t *a = shared + ROOM / 2, *b = a + some[i], *model = expected + ROOM / 2;
        check(clEnqueueSVMMap(t.f->queue, CL_TRUE, CL_MAP_WRITE, shared, sizeof(expected), 0, NULL, NULL));
        memcpy(shared, t.values, sizeof(expected));
        check(clEnqueueSVMUnmap(t.f->queue, shared, 0, NULL, NULL));
        memcpy(expected, t.values, sizeof(expected));
        for (int32_t k = 0; k < turns; k++) {
            model[some[i] + k] = model[k] * 3 + 1;
        }
        for (int32_t k = 0; k < turns; k++) {
            model[some[i] + k] += model[k];
        }
        check(clSetKernelArgSVMPointer(both, 0, a));
        check(clSetKernelArgSVMPointer(both, 1, b));
        check(clSetKernelArg(both, 2, sizeof(turns), &turns));
        launch(&t, both, 1);
        assert_string_not_equal(t.name, "base");
        check(clEnqueueSVMMap(t.f->queue, CL_TRUE, CL_MAP_READ, shared, sizeof(expected), 0, NULL, NULL));
        assert_memory_equal(shared, expected, sizeof(expected));
        check(clEnqueueSVMUnmap(t.f->queue, shared, 0, NULL, NULL));
    }
    clSVMFree(t.f->context, shared);
    check(clReleaseKernel(both));
    check(clReleaseCommandQueue(own));
    end(&t);
}

/* ---- what is not known ---- */

/* Nobody looks at what a thread gives its children: they run as compiled for any launch, and so right. */
static void launched_by_threads(void **state)
{
    static const int32_t some[] = { 64, 1, 3, -2 };
    struct alias t;

    skip_without_svm(*state);
    begin_with(&t, *state, parent_source, "all", "1");
    cl_command_queue own = device_queue(&t);
    cl_kernel parent = kernel_of(t.program, "parent");
    uint32_t *shared = shared_memory(&t);
    for (size_t i = 0; i < PPU_ARRAY_SIZE(some); i++) {
        check_scan_of(&t, parent, shared, some[i]); /* a variant, for all that it does not access anything */
    }
    clSVMFree(t.f->context, shared);
    check(clReleaseKernel(parent));
    check(clReleaseCommandQueue(own));
    end(&t);
}

/* Arguments are separate; a pointer from memory leads where one of them does, and is never taken for separate. */
static void pointers_from_memory(void **state)
{
    struct alias t;
    const cl_int turns = 40;
    uint32_t b[ROOM];

    skip_without_svm(*state);
    begin_with(&t, *state, through_source, "all", "1");
    cl_kernel through = kernel_of(t.program, "through");
    uint32_t *shared = shared_memory(&t);
    cl_ulong address = (cl_ulong)(uintptr_t)shared;
    cl_mem table = fixture_buffer(t.f, CL_MEM_COPY_HOST_PTR, sizeof(address), &address);
    check(clEnqueueSVMMap(t.f->queue, CL_TRUE, CL_MAP_WRITE, shared, sizeof(t.values), 0, NULL, NULL));
    memcpy(shared, t.values, sizeof(t.values));
    check(clEnqueueSVMUnmap(t.f->queue, shared, 0, NULL, NULL));
    check(clSetKernelArg(through, 0, sizeof(cl_mem), &table));
    check(clSetKernelArgSVMPointer(through, 1, shared));
    check(clSetKernelArg(through, 2, sizeof(cl_mem), &t.b));
    check(clSetKernelArg(through, 3, sizeof(turns), &turns));
    launch(&t, through, 1);
    assert_non_null(strstr(t.name, "1: s0 "));
    check(clEnqueueReadBuffer(t.f->queue, t.b, CL_TRUE, 0, sizeof(b), b, 0, NULL, NULL));
    uint32_t value = t.values[0];
    for (int32_t i = 0; i < turns; i++, value = value * 3 + 1) {
        assert_int_equal(b[i], value);
    }
    check(clReleaseMemObject(table));
    clSVMFree(t.f->context, shared);
    check(clReleaseKernel(through));
    end(&t);
}

/* ---- when ---- */

static void background(void **state)
{
    const struct timespec moment = { 0, 20000000 };
    struct alias t;
    uint32_t launches = 0;

    begin(&t, *state, "alignment", "0");
    set_add(&t, t.a, t.b, t.c, TURNS);
    launch(&t, t.add, ITEMS);
    assert_string_equal(t.name, "base");
    expect_sum(&t);
    while (strcmp(t.name, "base") == 0 && launches++ < 1500) {
        nanosleep(&moment, NULL);
        restore(&t);
        launch(&t, t.add, ITEMS);
        expect_sum(&t);
    }
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    end(&t);
}

static void constants(void **state)
{
    struct alias t;

    begin(&t, *state, "all", "1");
    set_add(&t, t.a, t.b, t.c, TURNS);
    launch(&t, t.add, ITEMS);
    assert_null(strchr(t.name, 'c'));
    launch(&t, t.add, ITEMS);
    assert_non_null(strstr(t.name, " c3:15"));
    expect_sum(&t);
    set_add(&t, t.a, t.b, t.c, 1);
    launch(&t, t.add, ITEMS);
    assert_null(strchr(t.name, 'c'));
    expect_sum(&t);
    end(&t);
}

static void levels(void **state)
{
    static const struct {
        const char *level, *name;
    } wanted[] = {
        { "off", "base" },
        { "separation", "1: s0 s1 s2" },
        { "alignment", "1: s0 a0:16 s1 a1:16 s2 a2:16" },
        { "all", "1: s0 a0:16 s1 a1:16 s2 a2:16" },
    };
    struct alias t;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(wanted); i++) {
        begin(&t, *state, wanted[i].level, "1");
        set_add(&t, t.a, t.b, t.c, TURNS);
        launch(&t, t.add, ITEMS);
        assert_string_equal(t.name, wanted[i].name);
        expect_sum(&t);
        restore(&t);
        set_add(&t, t.b, t.a, t.c, TURNS + 1); /* the same relation of other addresses, and another value */
        launch(&t, t.add, 1);
        assert_string_equal(t.name, wanted[i].name);
        end(&t);
    }
}

/* ---- how long a launch waits ---- */

/* Builds with a compiler that then never ends by itself. */
static void begin_held(struct alias *t, struct store *store, struct fixture *f, const char *waits)
{
    store_open(store);
    begin(t, f, "alignment", waits); /* one variant */
    store_hold(store, true);
}

/* Launches until the variant is there; nobody compiles any more then. */
static void await_variant(struct alias *t, cl_kernel kernel)
{
    const struct timespec moment = { 0, 20000000 };

    for (uint32_t launches = 0; strcmp(t->name, "base") == 0 && launches < 12000; launches++) {
        if (launches % 8 == 0) {
            nanosleep(&moment, NULL);
        }
        launch(t, kernel, 1);
    }
    assert_string_not_equal(t->name, "base");
}

static void end_held(struct alias *t, cl_kernel kernel, struct store *store)
{
    store_hold(store, false);
    await_variant(t, kernel);
    end(t);
    store_close(store);
}

/* The compiler does not end: the launch does, with the base; and takes the variant when there is one. */
static void waits_for_a_time(void **state)
{
    static const char *const waits[] = { "never", "0", "30ms", "auto", "", "nonsense" };
    struct store store;
    struct alias t;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(waits); i++) {
        begin_held(&t, &store, *state, waits[i]);
        set_add(&t, t.a, t.b, t.c, TURNS);
        launch(&t, t.add, ITEMS);
        assert_string_equal(t.name, "base");
        expect_sum(&t);
        end_held(&t, t.add, &store);
    }
    begin(&t, *state, "all", "600s");
    set_add(&t, t.a, t.b, t.c, TURNS);
    launch(&t, t.add, ITEMS);
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    expect_sum(&t);
    end(&t);
}

/*
 * A work-item of the first launch takes at least what a launch takes: half a million of them are expected to take long,
 * one is not. What is computed by all of them is the same.
 */
static void waits_for_a_gain(void **state)
{
    static const struct {
        size_t items;
        bool waits;
    } cases[] = { { 1, false }, { 1u << 19, true } };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        struct store store;
        struct alias t;
        uint32_t got = 0;
        const cl_int turns = 1;
        store_open(&store);
        begin(&t, *state, "alignment", "auto");
        if (!cases[i].waits) {
            store_hold(&store, true);
        }
        check(clSetKernelArg(t.scan, 0, sizeof(cl_mem), &t.a));
        check(clSetKernelArg(t.scan, 1, sizeof(cl_mem), &t.a)); /* nothing to gain, and measured */
        check(clSetKernelArg(t.scan, 2, sizeof(turns), &turns));
        launch(&t, t.scan, 1);
        assert_string_equal(t.name, "base");
        check(clSetKernelArg(t.scan, 1, sizeof(cl_mem), &t.b));
        launch(&t, t.scan, cases[i].items);
        assert_int_equal(strcmp(t.name, "base") != 0, cases[i].waits);
        check(clEnqueueReadBuffer(t.f->queue, t.b, CL_TRUE, 0, sizeof(got), &got, 0, NULL, NULL));
        assert_int_equal(got, (t.values[0] * 3 + 1) * 3 + 1);
        if (!cases[i].waits) {
            store_hold(&store, false);
        }
        await_variant(&t, t.scan);
        end(&t);
        store_close(&store);
    }
}

/* A machine that does other work makes short launches long now and then. */
static void expect_no_variant(struct fixture *f, struct store *store)
{
    struct alias t;
    bool compiled = true;

    for (uint32_t tries = 0; compiled && tries < 20; tries++) {
        long before = store_compilations(store);
        begin(&t, f, "alignment", "auto");
        set_add(&t, t.a, t.b, t.c, TURNS);
        launch(&t, t.add, ITEMS);
        launch(&t, t.add, ITEMS);
        assert_string_equal(t.name, "base");
        compiled = store_compilations(store) > before + 1; /* the program */
        if (compiled) {
            await_variant(&t, t.add);
        }
        end(&t);
    }
    assert_false(compiled);
}

/* Short launches make nobody compile. Long ones do, most of them the first, when it has ended. */
static void waits_for_long_launches(void **state)
{
    const struct timespec moment = { 0, 20000000 };
    const cl_int turns = 128;
    struct store store;
    struct alias t;

    store_open(&store);
    setenv("PPU_CACHE", "off", 1);
    expect_no_variant(*state, &store);
    begin(&t, *state, "alignment", "auto");
    long before = store_compilations(&store);
    check(clSetKernelArg(t.scan, 0, sizeof(cl_mem), &t.a));
    check(clSetKernelArg(t.scan, 1, sizeof(cl_mem), &t.b));
    check(clSetKernelArg(t.scan, 2, sizeof(turns), &turns));
    for (uint32_t launches = 0; store_compilations(&store) == before && launches < 100; launches++) {
        launch(&t, t.scan, 1u << 19);
        assert_string_equal(t.name, "base");
        nanosleep(&moment, NULL);
    }
    assert_int_equal(store_compilations(&store), before + 1);
    await_variant(&t, t.scan);
    end(&t);
    store_close(&store);
}

static void wrong_words(void **state)
{
    struct alias t;
    struct printed printed;

    printf_begin(&printed);
    begin(&t, *state, "everything", "for ever");
    printf_end(&printed);
    expect_printed(&printed, "read PPU_ALIAS: 'everything' is none of off, separation, alignment, all; all is used");
    expect_printed(&printed, "read PPU_ALIAS_WAIT: 'for ever' is none of auto, never, always, or a time");
    end(&t);
}

/* Who compiles for a launch that waits is killed: the launch runs, and the next program compiles again. */
static void compiler_dies(void **state)
{
    struct store store;
    struct alias t;
    struct printed printed;

    store_open(&store);
    setenv("PPU_ALIAS_PRINT", "1", 1);
    begin(&t, *state, "all", "always");
    unsetenv("PPU_ALIAS_PRINT");
    store_replace_clang(&store, "kill -9 $$");
    set_add(&t, t.a, t.b, t.c, TURNS);
    printf_begin(&printed);
    launch(&t, t.add, ITEMS);
    printf_end(&printed);
    assert_string_equal(t.name, "base");
    expect_printed(&printed, "variant base: the compiler refuses it");
    expect_sum(&t);
    end(&t);
    store_close(&store);
}

static void launch_cached(void **state, const char *waits, const char *counts)
{
    struct alias t;
    struct printed printed;

    setenv("PPU_ALIAS_PRINT", "1", 1);
    begin(&t, *state, "all", waits);
    set_add(&t, t.a, t.b, t.c, TURNS);
    printf_begin(&printed);
    launch(&t, t.add, ITEMS);
    printf_end(&printed);
    unsetenv("PPU_ALIAS_PRINT");
    assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 s2 a2:16");
    expect_printed(&printed, counts);
    expect_sum(&t);
    end(&t);
}

static void expect_compilations(const struct store *store, long calls)
{
    assert_int_equal(store_compilations(store), calls);
}

static void expect_calls(const struct store *store, long calls)
{
    expect_compilations(store, calls);
    assert_int_equal(store_each(store, keep), calls);
}

static void damage(const char *path)
{
    FILE *file = fopen(path, "r+");

    assert_non_null(file);
    assert_int_equal(fseek(file, -40, SEEK_END), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, -40, SEEK_END), 0);
    fputc(byte ^ 1, file);
    fclose(file);
}

/* Programs of the same source find the variant: nothing is compiled or stored for them. The first launch runs it,
 * though no launch waits for a compiler. */
static void cached(void **state)
{
    struct store store;

    store_open(&store);
    launch_cached(state, "always", "1 compiled, 0 of them again, 0 found in the cache");
    expect_calls(&store, 2); /* the program, and the variant */
    launch_cached(state, "never", "1 compiled, 0 of them again, 1 found in the cache");
    launch_cached(state, "auto", "1 compiled, 0 of them again, 1 found in the cache");
    expect_calls(&store, 2);
    store_each(&store, damage); /* as if there were none */
    launch_cached(state, "always", "1 compiled, 0 of them again, 0 found in the cache");
    expect_compilations(&store, 4);
    store_close(&store);
}

/* Nothing can be kept, and everything runs. */
static void nothing_is_kept(void **state)
{
    struct store store;
    struct stat info;

    store_open(&store);
    assert_int_equal(stat(store.folder, &info), 0);
    assert_int_equal(symlink("/dev/full", store.entries), 0); /* no folder, and nothing can be written to it */
    launch_cached(state, "always", "1 compiled, 0 of them again, 0 found in the cache");
    launch_cached(state, "always", "1 compiled, 0 of them again, 0 found in the cache");
    expect_compilations(&store, 4);
    store_close(&store);
}

static void in_other_process(void **state)
{
    launch_cached(state, "always", "1 compiled, 0 of them again, 0 found in the cache");
}

/* This program again, as another process: its exit status. */
static int run_other_process(void)
{
    char name[] = "other", *arguments[] = { name, name, NULL };
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = 1;

    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0), 0);
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* Runs before this process has opened the device: in the guest one process at a time has it. */
static void cached_by_another(void **state)
{
    struct store store;

    store_open(&store);
    assert_int_equal(run_other_process(), 0);
    expect_calls(&store, 2);
    assert_int_equal(fixture_setup(state), 0);
    launch_cached(state, "never", "1 compiled, 0 of them again, 1 found in the cache");
    expect_calls(&store, 2);
    assert_int_equal(fixture_teardown(state), 0);
    store_close(&store);
}

/* One argument has no pair; what is only known to the event of a kernel is "" for others. */
static void without_pairs(void **state)
{
    struct alias t;
    cl_event event = NULL;
    const cl_int turns = 5;

    begin_with(&t, *state, alone_source, "all", "1");
    cl_kernel alone = kernel_of(t.program, "alone");
    check(clSetKernelArg(alone, 0, sizeof(cl_mem), &t.a));
    check(clSetKernelArg(alone, 1, sizeof(turns), &turns));
    launch(&t, alone, 1);
    assert_string_equal(t.name, "base");
    check(clEnqueueMarkerWithWaitList(t.f->queue, 0, NULL, &event));
    check(clGetEventInfo(event, CL_EVENT_VARIANT_PPU, sizeof(t.name), t.name, NULL));
    assert_string_equal(t.name, "");
    check(clReleaseEvent(event));
    check(clReleaseKernel(alone));
    end(&t);
}

/* Programs that go while their variants are being compiled; the last test: who compiles reads the environment. */
static void early_end(void **state)
{
    struct alias t;

    setenv("PPU_ALIAS_WAIT", "0", 1);
    for (uint32_t i = 0; i < 4; i++) {
        make_of(&t, *state, source);
        set_add(&t, t.a, t.b, t.c, TURNS);
        launch(&t, t.add, ITEMS);
        expect_sum(&t);
        end(&t);
    }
}

static void decisions(void **state)
{
    static const char *const words[] = { "kernel 'add': 2 pairs of references, 0 overlap",
                                         ", written",
                                         "facts s0",
                                         "variant 1:",
                                         "1 compiled, 0 of them again",
                                         "gain" };
    struct alias t;
    struct printed printed;

    setenv("PPU_ALIAS_PRINT", "1", 1);
    begin(&t, *state, "separation", "1");
    set_add(&t, t.a, t.b, t.c, TURNS);
    printf_begin(&printed);
    launch(&t, t.add, ITEMS);
    printf_end(&printed);
    unsetenv("PPU_ALIAS_PRINT");
    for (size_t i = 0; i < PPU_ARRAY_SIZE(words); i++) {
        expect_printed(&printed, words[i]);
    }
    set_add(&t, t.c, t.c, t.c, TURNS);
    printf_begin(&printed);
    launch(&t, t.add, ITEMS);
    printf_end(&printed);
    expect_printed(&printed, "facts\nppu:   variant base: all are identical"); /* none at all */
    end(&t);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest other[] = { cl_test("another process compiles the variant", in_other_process) };
    const struct CMUnitTest tests[] = {
        { "the first launch runs what another process has left in the cache [F5]", cached_by_another, NULL, NULL,
          NULL },
        cl_test("separate, identical, and what is only read [F1][F3][F6]", relations),
        cl_test("parts of one buffer [F1][F2]", parts),
        cl_test("begin and length of an overlap reach the compiler [F2][F4][F5]", common_bytes),
        cl_test("distances in shared virtual memory [F2][F4]", distances),
        cl_test("eight variants; what is compiled again is counted and told [F5]", eviction),
        cl_test("one buffer, and work-items that do not meet in it [F1][F8]", reached),
        cl_test("records whose parts each work-item keeps apart [F2][F8]", records),
        cl_test("kernels of linked programs have variants [F3][F6]", linked),
        cl_test("variants have the sub-groups that a build option chose [D1][F6]", of_other_waves),
        cl_test("kernels of loaded objects have variants [F3][F6]", loaded_objects),
        cl_test("so do kernels of loaded executables [F3][F6]", loaded_executables),
        cl_test("an image alone runs as compiled, and what is damaged is refused [F3][F6]",
                executables_without_bitcode),
        cl_test("an executable keeps the options it was built with [F3][F6]", executables_keep_options),
        cl_test("bitcode of another program takes no launch's place [F3]", executables_with_other_bitcode),
        cl_test("variants of executables are found in the cache, but for another's [F5]", executables_and_cache),
        cl_test("kernels that write variables run as first compiled, and write the same [F3]", writing_variables),
        cl_test("variants of linked programs are found in the cache [F5]", linked_and_cached),
        cl_test("kernels that print have variants [F3]", printing),
        cl_test("kernels that launch kernels have variants [F3][F9]", enqueuing),
        cl_test("kernels that threads launch run as first compiled [F9]", launched_by_threads),
        cl_test("pointers from memory are never taken for separate [F9]", pointers_from_memory),
        cl_test("compiled in the background, used from then on [F3][F5]", background),
        cl_test("values that end loops, seen twice [F5]", constants),
        cl_test("how much is used is said by the environment, and holds at other addresses [F4]", levels),
        cl_test("the first launch runs what is in the cache [F5]", cached),
        cl_test("a cache that keeps nothing costs compilations [F5]", nothing_is_kept),
        cl_test("a launch waits as long as it is told to [F3]", waits_for_a_time),
        cl_test("a launch waits when it gains more than that [F3]", waits_for_a_gain),
        cl_test("short launches have no variant compiled, long ones do [F3]", waits_for_long_launches),
        cl_test("wrong words in the environment are told", wrong_words),
        cl_test("a compiler that is killed costs a launch nothing [F3]", compiler_dies),
        cl_test("kernels without pairs, commands that are no kernels [F3]", without_pairs),
        cl_test("decisions are printed [F2][F3]", decisions),
        cl_test("programs that end while they are compiled", early_end),
    };

    if (argc > 1) {
        return cmocka_run_group_tests_name(argv[1], other, NULL, NULL);
    }
    return cmocka_run_group_tests_name("opencl: variants", tests, NULL, NULL);
}
