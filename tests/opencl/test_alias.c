/* SPDX-License-Identifier: MIT */
/* Variants of kernels: which one a launch gets, when, and that it computes the same. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cl_ppu.h"
#include "fixture.h"

#define ITEMS 4u
#define TURNS 21u
#define COUNT (ITEMS * TURNS)
#define ROOM 512u /* elements of a buffer */

static const char *const source =
    "kernel void add(global const uint *a, global const uint *b, global uint *c, int n)\n"
    "{\n"
    "    int first = get_global_id(0) * n;\n"
    "    for (int i = first; i < first + n; i++) { c[i] = a[i] + 3 * b[i]; }\n"
    "}\n"
    "kernel void scan(global const uint *a, global uint *b, int n)\n"
    "{\n"
    "    for (int i = 0; i < n; i++) { b[i] = a[i] * 3 + 1; }\n"
    "}\n"
    "kernel void alone(global uint *a, int n) { for (int i = 0; i < n; i++) { a[i] += i; } }\n";

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

static cl_program program_of(struct fixture *f)
{
    cl_int error = CL_SUCCESS;
    const char *text = source;
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);

    check(error);
    check(clBuildProgram(program, 1, &f->device, "", NULL, NULL));
    return program;
}

static void make(struct alias *t, struct fixture *f)
{
    memset(t, 0, sizeof(*t));
    t->f = f;
    t->program = program_of(f);
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
static void begin(struct alias *t, struct fixture *f, const char *level, const char *waits)
{
    setenv("PPU_ALIAS", level, 1);
    setenv("PPU_ALIAS_WAIT", waits, 1);
    make(t, f);
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
        assert_int_equal(strstr(t.name, "2-1=16*4") != NULL, overlap); /* 16 and more */
        check(clReleaseMemObject(part[0]));
        check(clReleaseMemObject(part[1]));
    }
    end(&t);
}

/* b = a + distance, in one piece of memory that host and device share. */
static void check_scan(struct alias *t, uint32_t *shared, int32_t distance)
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
    check(clSetKernelArgSVMPointer(t->scan, 0, a));
    check(clSetKernelArgSVMPointer(t->scan, 1, b));
    check(clSetKernelArg(t->scan, 2, sizeof(turns), &turns));
    launch(t, t->scan, 1);
    check(clEnqueueSVMMap(t->f->queue, CL_TRUE, CL_MAP_READ, shared, sizeof(expected), 0, NULL, NULL));
    assert_memory_equal(shared, expected, sizeof(expected));
    check(clEnqueueSVMUnmap(t->f->queue, shared, 0, NULL, NULL));
}

static uint32_t *shared_memory(struct alias *t)
{
    return clSVMAlloc(t->f->context, CL_MEM_READ_WRITE, ROOM * sizeof(uint32_t), 0);
}

/* tests/compiler/test_alias.c has all of them. */
static void distances(void **state)
{
    static const int32_t some[] = { -20, -16, -5, -4, -3, -1, 0, 1, 2, 3, 4, 7, 15, 16, 20 };
    struct alias t;
    char wanted[32];

    begin(&t, *state, "all", "1");
    uint32_t *shared = shared_memory(&t);
    for (size_t i = 0; i < sizeof(some) / sizeof(some[0]) && shared != NULL; i++) {
        const int32_t distance = some[i];
        check_scan(&t, shared, distance);
        int32_t near = distance > 16 ? 16 : distance < -16 ? -16 : distance;
        snprintf(wanted, sizeof(wanted), " 1-0=%d*4", near);
        assert_true(distance == 0 ? strcmp(t.name, "base") == 0 : strstr(t.name, wanted) != NULL);
    }
    clSVMFree(t.f->context, shared);
    end(&t);
}

/* The number of a variant counts what was compiled: one that left is compiled again. */
static void eviction(void **state)
{
    struct alias t;
    uint32_t number = 0, last = 0;

    begin(&t, *state, "all", "1");
    uint32_t *shared = shared_memory(&t);
    for (uint32_t round = 0; round < 2 && shared != NULL; round++) {
        for (int32_t distance = 1; distance <= 9; distance++) {
            check_scan(&t, shared, distance);
            number = (uint32_t)strtoul(t.name, NULL, 10);
            assert_true(number > last);
            last = number;
        }
    }
    if (shared != NULL) {
        check_scan(&t, shared, 9); /* still there */
        assert_int_equal(strtoul(t.name, NULL, 10), number);
    }
    clSVMFree(t.f->context, shared);
    end(&t);
}

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

    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        begin(&t, *state, wanted[i].level, "1");
        set_add(&t, t.a, t.b, t.c, TURNS);
        launch(&t, t.add, ITEMS);
        assert_string_equal(t.name, wanted[i].name);
        expect_sum(&t);
        end(&t);
    }
}

static uint32_t count_files(const char *path)
{
    DIR *folder = opendir(path);
    uint32_t count = 0;

    for (struct dirent *item = folder != NULL ? readdir(folder) : NULL; item != NULL; item = readdir(folder)) {
        count += item->d_name[0] != '.';
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return count;
}

static void remove_files(const char *path)
{
    DIR *folder = opendir(path);
    char name[512];

    for (struct dirent *item = folder != NULL ? readdir(folder) : NULL; item != NULL; item = readdir(folder)) {
        snprintf(name, sizeof(name), "%s/%s", path, item->d_name);
        unlink(name);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    rmdir(path);
}

/* A second program of the same source finds the first one's variant: nothing new is stored. */
static void cached(void **state)
{
    char folder[] = "/tmp/ppu-alias-XXXXXX", inner[64];
    struct alias t;

    assert_non_null(mkdtemp(folder));
    setenv("PPU_CACHE", folder, 1);
    snprintf(inner, sizeof(inner), "%s/opencl", folder);
    for (uint32_t i = 0; i < 2; i++) {
        begin(&t, *state, "all", "1");
        set_add(&t, t.a, t.b, t.c, TURNS);
        launch(&t, t.add, ITEMS);
        assert_string_equal(t.name, "1: s0 a0:16 s1 a1:16 s2 a2:16");
        expect_sum(&t);
        end(&t);
        assert_int_equal(count_files(inner), 2);
    }
    setenv("PPU_CACHE", "off", 1);
    remove_files(inner);
    rmdir(folder);
}

/* One argument has no pair; what is only known to the event of a kernel is "" for others. */
static void without_pairs(void **state)
{
    struct alias t;
    cl_event event = NULL;
    const cl_int turns = 5;

    begin(&t, *state, "all", "1");
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
        make(&t, *state);
        set_add(&t, t.a, t.b, t.c, TURNS);
        launch(&t, t.add, ITEMS);
        expect_sum(&t);
        end(&t);
    }
}

static void *other_stderr(FILE **file, int *kept)
{
    *file = tmpfile();
    assert_non_null(*file);
    fflush(stderr);
    *kept = dup(STDERR_FILENO);
    assert_true(dup2(fileno(*file), STDERR_FILENO) >= 0);
    return *file;
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
    FILE *file;
    int kept;
    char text[4096];

    setenv("PPU_ALIAS_PRINT", "1", 1);
    begin(&t, *state, "separation", "1");
    set_add(&t, t.a, t.b, t.c, TURNS);
    other_stderr(&file, &kept);
    launch(&t, t.add, ITEMS);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = 0;
    fclose(file);
    unsetenv("PPU_ALIAS_PRINT");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("'%s' is not in\n%s", words[i], text);
        }
    }
    end(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("separate, identical, and what is only read [F1][F3][F6]", relations),
        cl_test("parts of one buffer [F1][F2]", parts),
        cl_test("distances in shared virtual memory [F2][F4]", distances),
        cl_test("eight variants, the oldest leaves and is compiled again [F5]", eviction),
        cl_test("compiled in the background, used from then on [F3][F5]", background),
        cl_test("values that end loops, seen twice [F5]", constants),
        cl_test("how much is used is said by the environment [F4]", levels),
        cl_test("variants are found in the cache [F5]", cached),
        cl_test("kernels without pairs, commands that are no kernels [F3]", without_pairs),
        cl_test("decisions are printed [F2][F3]", decisions),
        cl_test("programs that end while they are compiled [F5]", early_end),
    };

    return cmocka_run_group_tests_name("opencl: variants", tests, NULL, NULL);
}
