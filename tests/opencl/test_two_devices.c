/* SPDX-License-Identifier: MIT */
/* Tests two devices, apart and in one context. Natively: PPU_DEVICES=2. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

#define DEVICES 2u
#define WORDS 4096u
#define PARTS 8u
#define STEPS 60u

static const char *const source =
    "kernel void step(global uint *a, uint factor, uint summand)\n"
    "{ size_t i = get_global_id(0); a[i] = a[i] * factor + summand; }\n"
    "kernel void join(global uint *to, global const uint *from)\n"
    "{ size_t i = get_global_id(0); to[i] += from[i]; }\n"
    "kernel void both(global uint *whole, global uint *part)\n"
    "{ size_t i = get_global_id(0); part[i] = 7; barrier(CLK_GLOBAL_MEM_FENCE); whole[i] += 1; }\n"
    "kernel void add(global const uint *a, global uint *b, int n)\n"
    "{ for (int i = 0; i < n; i++) { b[i] = 3 * a[i] + 1; } }\n"
    "kernel void wild(global uint *a) { a[0x40000000u + get_global_id(0)] = 1; }\n"
    "kernel void turn(read_only image2d_t from, read_write image2d_t both, write_only image1d_buffer_t to)\n"
    "{ int x = get_global_id(0), y = get_global_id(1); uint4 c = read_imageui(from, (int2)(x, y));\n"
    "  write_imageui(both, (int2)(x, y), read_imageui(both, (int2)(x, y)) + c);\n"
    "  write_imageui(to, y * 8 + x, c * 3); }\n"
    "uint turns = 5;\n"
    "kernel void count(global uint *a) { a[0] = ++turns; }\n";

struct pair {
    cl_device_id device[DEVICES];
    cl_context context;
    cl_command_queue queue[DEVICES];
    cl_program program;
};

static uint32_t notes;

static void CL_CALLBACK note(const char *text, const void *data, size_t bytes, void *user)
{
    (void)data;
    (void)bytes;
    (void)user;
    if (strstr(text, "UNMAPPED")) {
        __atomic_add_fetch(&notes, 1, __ATOMIC_RELAXED);
    }
}

static int setup(void **state)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    cl_platform_id platform = NULL;
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;

    assert_non_null(pair);
    setenv("PPU_CACHE", "off", 0);
    check(clGetPlatformIDs(1, &platform, NULL));
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES, pair->device, &count));
    assert_int_equal(count, DEVICES);
    pair->context = clCreateContext(NULL, DEVICES, pair->device, note, NULL, &error);
    check(error);
    for (uint32_t i = 0; i < DEVICES; i++) {
        pair->queue[i] = clCreateCommandQueueWithProperties(pair->context, pair->device[i], NULL, &error);
        check(error);
    }
    pair->program = clCreateProgramWithSource(pair->context, 1, (const char **)(uintptr_t)&source, NULL, &error);
    check(error);
    check(clBuildProgram(pair->program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    *state = pair;
    return 0;
}

static int teardown(void **state)
{
    struct pair *pair = *state;

    for (uint32_t i = 0; i < DEVICES; i++) {
        check(clFinish(pair->queue[i]));
        check(clReleaseCommandQueue(pair->queue[i]));
    }
    check(clReleaseProgram(pair->program));
    check(clReleaseContext(pair->context));
    free(pair);
    return 0;
}

static cl_kernel kernel_of(struct pair *pair, const char *name)
{
    cl_int error = CL_SUCCESS;
    cl_kernel kernel = clCreateKernel(pair->program, name, &error);

    check(error);
    return kernel;
}

static cl_mem buffer_of(struct pair *pair, size_t bytes, void *host)
{
    cl_int error = CL_SUCCESS;
    cl_mem buffer = clCreateBuffer(pair->context, host ? CL_MEM_COPY_HOST_PTR : 0, bytes, host, &error);

    check(error);
    return buffer;
}

static void devices_are_told(void **state)
{
    struct pair *pair = *state;
    cl_device_id told[DEVICES + 1] = { NULL }, twice[3] = { pair->device[1], pair->device[1], pair->device[1] };
    cl_device_type type = 0;
    cl_platform_id platform = NULL;
    cl_uint count = 0;
    cl_int error = CL_SUCCESS;
    size_t bytes = 0;

    check(clGetPlatformIDs(1, &platform, NULL));
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, DEVICES, told, &count));
    assert_int_equal(count, 1);
    assert_ptr_equal(told[0], pair->device[0]);
    check(clGetDeviceInfo(pair->device[0], CL_DEVICE_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_DEVICE_TYPE_GPU); /* the one that is asked for as the default, too */
    check(clGetDeviceInfo(pair->device[1], CL_DEVICE_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_DEVICE_TYPE_GPU);
    check(clGetContextInfo(pair->context, CL_CONTEXT_DEVICES, sizeof(told), told, &bytes));
    assert_int_equal(bytes, sizeof(pair->device));
    assert_memory_equal(told, pair->device, bytes);
    cl_context all = clCreateContextFromType(NULL, CL_DEVICE_TYPE_GPU, NULL, NULL, &error);
    check(error);
    check(clGetContextInfo(all, CL_CONTEXT_NUM_DEVICES, sizeof(count), &count, NULL));
    assert_int_equal(count, DEVICES);
    check(clReleaseContext(all));
    cl_context second = clCreateContext(NULL, 3, twice, NULL, NULL, &error);
    check(error);
    check(clGetContextInfo(second, CL_CONTEXT_NUM_DEVICES, sizeof(count), &count, NULL));
    assert_int_equal(count, 1);
    assert_null(clCreateCommandQueueWithProperties(second, pair->device[0], NULL, &error));
    assert_int_equal(error, CL_INVALID_DEVICE);
    check(clReleaseContext(second));
}

/* Random steps on random devices over parts of one buffer, each after the one before: as memory would have it. */
static void buffers_are_shared(void **state)
{
    struct pair *pair = *state;
    static uint32_t model[WORDS], seen[WORDS];
    uint64_t random = fixture_seed();
    const size_t part_words = WORDS / PARTS;
    cl_mem part[PARTS];
    cl_kernel step = kernel_of(pair, "step"), join = kernel_of(pair, "join");
    cl_event before = NULL;
    cl_int error = CL_SUCCESS;

    for (uint32_t i = 0; i < WORDS; i++) {
        model[i] = fixture_random(&random);
    }
    cl_mem whole = buffer_of(pair, sizeof(model), model);
    for (uint32_t i = 0; i < PARTS; i++) {
        const cl_buffer_region region = { i * part_words * 4, part_words * 4 };
        part[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        check(error);
    }
    for (uint32_t n = 0; n < STEPS; n++) {
        cl_command_queue queue = pair->queue[fixture_random(&random) % DEVICES];
        uint32_t to = fixture_random(&random) % PARTS, from = (to + 1 + fixture_random(&random) % (PARTS - 1)) % PARTS;
        uint32_t factor = fixture_random(&random) | 1, summand = fixture_random(&random);
        uint32_t kind = fixture_random(&random) % 3;
        cl_event after = NULL;
        if (kind == 0) {
            check(clSetKernelArg(step, 0, sizeof(cl_mem), &part[to]));
            check(clSetKernelArg(step, 1, sizeof(factor), &factor));
            check(clSetKernelArg(step, 2, sizeof(summand), &summand));
            check(clEnqueueNDRangeKernel(queue, step, 1, NULL, &part_words, NULL, !!before, before ? &before : NULL,
                                         &after));
        } else if (kind == 1) {
            check(clSetKernelArg(join, 0, sizeof(cl_mem), &part[to]));
            check(clSetKernelArg(join, 1, sizeof(cl_mem), &part[from]));
            check(clEnqueueNDRangeKernel(queue, join, 1, NULL, &part_words, NULL, !!before, before ? &before : NULL,
                                         &after));
        } else {
            check(clEnqueueCopyBuffer(queue, part[from], part[to], 0, 0, part_words * 4, !!before,
                                      before ? &before : NULL, &after));
        }
        for (size_t i = 0; i < part_words; i++) {
            uint32_t *a = &model[to * part_words + i], b = model[from * part_words + i];
            *a = kind == 0 ? *a * factor + summand : kind == 1 ? *a + b : b;
        }
        if (before) {
            check(clReleaseEvent(before));
        }
        before = after;
    }
    check(clEnqueueReadBuffer(pair->queue[1], whole, CL_TRUE, 0, sizeof(seen), seen, 1, &before, NULL));
    assert_memory_equal(seen, model, sizeof(model));
    check(clReleaseEvent(before));
    for (uint32_t i = 0; i < PARTS; i++) {
        check(clReleaseMemObject(part[i]));
    }
    check(clReleaseMemObject(whole));
    check(clReleaseKernel(step));
    check(clReleaseKernel(join));
}

/* Nothing orders the two: what one writes is not overwritten by the other's bytes. */
static void parts_are_used_at_once(void **state)
{
    struct pair *pair = *state;
    static uint32_t seen[WORDS];
    const size_t half = WORDS / 2;
    const uint32_t one = 1;
    cl_mem whole = buffer_of(pair, sizeof(seen), NULL), part[DEVICES];
    cl_kernel step = kernel_of(pair, "step");
    cl_int error = CL_SUCCESS;

    check(clSetKernelArg(step, 1, sizeof(one), &one));
    check(clSetKernelArg(step, 2, sizeof(one), &one));
    for (uint32_t i = 0; i < DEVICES; i++) {
        const cl_buffer_region region = { i * half * 4, half * 4 };
        part[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        check(error);
    }
    for (uint32_t n = 0; n < 20; n++) {
        for (uint32_t i = 0; i < DEVICES; i++) {
            check(clSetKernelArg(step, 0, sizeof(cl_mem), &part[i]));
            check(clEnqueueNDRangeKernel(pair->queue[i], step, 1, NULL, &half, NULL, 0, NULL, NULL));
        }
    }
    for (uint32_t i = 0; i < DEVICES; i++) {
        check(clFinish(pair->queue[i]));
        check(clReleaseMemObject(part[i]));
    }
    check(clEnqueueReadBuffer(pair->queue[0], whole, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
    for (uint32_t i = 0; i < WORDS; i++) {
        assert_int_equal(seen[i], 20);
    }
    check(clReleaseMemObject(whole));
    check(clReleaseKernel(step));
}

/* Two arguments name the same bytes: on any device, they are the same bytes. */
static void arguments_may_overlap(void **state)
{
    struct pair *pair = *state;
    uint32_t seen[64];
    const size_t count = 32;
    const cl_buffer_region region = { 128, 128 };
    cl_kernel both = kernel_of(pair, "both");
    cl_int error = CL_SUCCESS;

    for (uint32_t d = 0; d < DEVICES; d++) {
        memset(seen, 0, sizeof(seen));
        cl_mem whole = buffer_of(pair, sizeof(seen), seen);
        cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        check(error);
        check(clSetKernelArg(both, 0, sizeof(whole), &part));
        check(clSetKernelArg(both, 1, sizeof(part), &whole));
        check(clEnqueueNDRangeKernel(pair->queue[d], both, 1, NULL, &count, &count, 0, NULL, NULL));
        check(clEnqueueReadBuffer(pair->queue[d], whole, CL_TRUE, 0, sizeof(seen), seen, 0, NULL, NULL));
        for (uint32_t i = 0; i < 32; i++) {
            assert_int_equal(seen[i], 7);
            assert_int_equal(seen[32 + i], 1);
        }
        check(clReleaseMemObject(part));
        check(clReleaseMemObject(whole));
    }
    check(clReleaseKernel(both));
}

/* In buffers apart, and in one with a distance: on each device its variant runs. */
static void each_has_variants(void **state)
{
    static const struct {
        uint32_t distance; /* bytes; 0: another buffer */
        const char *name;
    } cases[] = { { 0, ": s0 a0:16 s1 a1:16" }, { 128, " 1-0=16*4" } };
    struct pair *pair = *state;
    uint32_t model[128], seen[128];
    const size_t one = 1;
    const uint32_t turns = 60;
    char name[128] = "";
    cl_event event = NULL;
    cl_int error = CL_SUCCESS;

    setenv("PPU_ALIAS_WAIT", "always", 1);
    check(clBuildProgram(pair->program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    unsetenv("PPU_ALIAS_WAIT");
    cl_kernel add = kernel_of(pair, "add");
    check(clSetKernelArg(add, 2, sizeof(turns), &turns));
    for (uint32_t n = 0; n < DEVICES * PPU_ARRAY_SIZE(cases); n++) {
        uint32_t distance = cases[n / DEVICES].distance;
        const cl_buffer_region region = { distance, sizeof(seen) - distance };
        for (uint32_t i = 0; i < PPU_ARRAY_SIZE(model); i++) {
            model[i] = seen[i] = i * 2654435761u;
        }
        cl_mem a = buffer_of(pair, sizeof(seen), seen);
        cl_mem b = distance == 0 ? buffer_of(pair, sizeof(seen), NULL)
                                 : clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        check(error);
        for (uint32_t i = 0; i < turns; i++) {
            model[i + distance / 4] = 3 * (distance == 0 ? seen[i] : model[i]) + 1;
        }
        check(clSetKernelArg(add, 0, sizeof(a), &a));
        check(clSetKernelArg(add, 1, sizeof(b), &b));
        check(clEnqueueNDRangeKernel(pair->queue[n % DEVICES], add, 1, NULL, &one, NULL, 0, NULL, &event));
        check(clWaitForEvents(1, &event));
        check(clGetEventInfo(event, CL_EVENT_VARIANT_PPU, sizeof(name), name, NULL));
        assert_non_null(strstr(name, cases[n / DEVICES].name));
        check(clReleaseEvent(event));
        check(clEnqueueReadBuffer(pair->queue[n % DEVICES], distance == 0 ? b : a, CL_TRUE, 0, turns * 4, seen, 0, NULL,
                                  NULL));
        assert_memory_equal(seen, model, turns * 4);
        check(clReleaseMemObject(b));
        check(clReleaseMemObject(a));
    }
    check(clReleaseKernel(add));
}

static void each_has_its_variables(void **state)
{
    struct pair *pair = *state;
    cl_kernel count = kernel_of(pair, "count");
    cl_mem buffer = buffer_of(pair, 4, NULL);
    const size_t one = 1;
    uint32_t seen = 0;

    check(clSetKernelArg(count, 0, sizeof(buffer), &buffer));
    for (uint32_t n = 0; n < 2 * DEVICES; n++) {
        cl_command_queue queue = pair->queue[n % DEVICES];
        check(clEnqueueNDRangeKernel(queue, count, 1, NULL, &one, NULL, 0, NULL, NULL));
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(seen), &seen, 0, NULL, NULL));
        assert_int_equal(seen, 6 + n / DEVICES);
    }
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(count));
}

static void faults_are_told(void **state)
{
    struct pair *pair = *state;
    cl_kernel wild = kernel_of(pair, "wild"), step = kernel_of(pair, "step");
    uint32_t value = 20, seen = 0;
    cl_mem buffer = buffer_of(pair, 4, &value);
    const size_t one = 1;
    cl_event event = NULL;
    cl_int status = 0;

    notes = 0;
    check(clSetKernelArg(wild, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(pair->queue[1], wild, 1, NULL, &one, NULL, 0, NULL, &event));
    assert_int_equal(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    check(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, NULL));
    assert_int_equal(status, CL_OUT_OF_RESOURCES);
    assert_int_equal(__atomic_load_n(&notes, __ATOMIC_RELAXED), 1);
    check(clReleaseEvent(event));
    check(clSetKernelArg(step, 0, sizeof(buffer), &buffer));
    check(clSetKernelArg(step, 1, sizeof(value), &value));
    check(clSetKernelArg(step, 2, sizeof(value), &value));
    check(clEnqueueNDRangeKernel(pair->queue[1], step, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(pair->queue[1], buffer, CL_TRUE, 0, sizeof(seen), &seen, 0, NULL, NULL));
    assert_int_equal(seen, 420);
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(wild));
    check(clReleaseKernel(step));
}

static void binaries_are_for_both(void **state)
{
    struct pair *pair = *state;
    size_t bytes[DEVICES] = { 0, 0 };
    unsigned char *binary[DEVICES];
    cl_int status[DEVICES] = { 1, 1 }, error = CL_SUCCESS;

    check(clGetProgramInfo(pair->program, CL_PROGRAM_BINARY_SIZES, sizeof(bytes), bytes, NULL));
    for (uint32_t i = 0; i < DEVICES; i++) {
        binary[i] = malloc(bytes[i]);
        assert_non_null(binary[i]);
    }
    check(clGetProgramInfo(pair->program, CL_PROGRAM_BINARIES, sizeof(binary), binary, NULL));
    cl_program again = clCreateProgramWithBinary(pair->context, DEVICES, pair->device, bytes,
                                                 (const unsigned char **)(uintptr_t)binary, status, &error);
    check(error);
    assert_int_equal(status[0] | status[1], CL_SUCCESS);
    check(clBuildProgram(again, 0, NULL, NULL, NULL, NULL));
    check(clReleaseProgram(again));
    for (uint32_t i = 0; i < DEVICES; i++) {
        free(binary[i]);
    }
}

static void shared_addresses_are_refused(void **state)
{
    struct pair *pair = *state;
    cl_kernel count = kernel_of(pair, "count");
    const size_t one = 1;
    uint32_t *shared = clSVMAlloc(pair->context, CL_MEM_READ_WRITE, 64, 0);

    assert_non_null(shared);
    check(clSetKernelArgSVMPointer(count, 0, shared));
    assert_int_equal(clEnqueueNDRangeKernel(pair->queue[1], count, 1, NULL, &one, NULL, 0, NULL, NULL),
                     CL_INVALID_OPERATION);
    check(clEnqueueNDRangeKernel(pair->queue[0], count, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clFinish(pair->queue[0]));
    assert_int_equal(*shared, 6);
    clSVMFree(pair->context, shared);
    check(clReleaseKernel(count));
}

/* Images with texels of their own and of a buffer: the second device gets descriptors of its copies. */
static void images_are_shared(void **state)
{
    struct pair *pair = *state;
    const cl_image_format format = { CL_R, CL_UNSIGNED_INT32 };
    cl_image_desc plane = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 4 };
    cl_image_desc line = { .image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 32 };
    const size_t global[2] = { 8, 4 }, origin[3] = { 0, 0, 0 }, region[3] = { 8, 4, 1 };
    uint32_t texels[32], seen[32], words[64] = { 0 };
    cl_int error = CL_SUCCESS;

    for (uint32_t i = 0; i < 32; i++) {
        texels[i] = i + 100;
    }
    cl_mem buffer = buffer_of(pair, sizeof(words), words);
    const cl_buffer_region half = { 128, 128 };
    cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &half, &error);
    check(error);
    line.mem_object = part;
    cl_mem from = clCreateImage(pair->context, CL_MEM_COPY_HOST_PTR, &format, &plane, texels, &error);
    check(error);
    cl_mem both = clCreateImage(pair->context, CL_MEM_COPY_HOST_PTR, &format, &plane, texels, &error);
    check(error);
    cl_mem to = clCreateImage(pair->context, 0, &format, &line, NULL, &error);
    check(error);
    cl_kernel turn = kernel_of(pair, "turn");
    const cl_mem arguments[3] = { from, both, to };
    for (cl_uint i = 0; i < 3; i++) {
        check(clSetKernelArg(turn, i, sizeof(cl_mem), &arguments[i]));
    }
    for (uint32_t i = 0; i < DEVICES; i++) {
        check(clEnqueueNDRangeKernel(pair->queue[i], turn, 2, NULL, global, NULL, 0, NULL, NULL));
        check(clFinish(pair->queue[i]));
    }
    check(clEnqueueReadImage(pair->queue[1], both, CL_TRUE, origin, region, 0, 0, seen, 0, NULL, NULL));
    check(clEnqueueReadBuffer(pair->queue[0], buffer, CL_TRUE, 0, sizeof(words), words, 0, NULL, NULL));
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(seen[i], 3 * texels[i]);
        assert_int_equal(words[i], 0);
        assert_int_equal(words[32 + i], 3 * texels[i]);
    }
    for (cl_uint i = 0; i < 3; i++) {
        check(clReleaseMemObject(arguments[i]));
    }
    check(clReleaseMemObject(part));
    check(clReleaseMemObject(buffer));
    check(clReleaseKernel(turn));
}

#define pair_test(name, function)             \
    {                                         \
        name, function, setup, teardown, NULL \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        pair_test("two devices are told, and what they are [F6]", devices_are_told),
        pair_test("devices of a context share its buffers [A8, F6]", buffers_are_shared),
        pair_test("devices of a context share its images [F6]", images_are_shared),
        pair_test("two devices work on parts of a buffer at once [F6]", parts_are_used_at_once),
        pair_test("arguments that overlap are the same bytes on any device [F6]", arguments_may_overlap),
        pair_test("each device runs variants [F1][F3][F6]", each_has_variants),
        pair_test("each device has a program's variables for itself [F6]", each_has_its_variables),
        pair_test("a fault on the second device is told, and its queue goes on [A2]", faults_are_told),
        pair_test("binaries are for both devices [F6]", binaries_are_for_both),
        pair_test("addresses of shared virtual memory are for the first device", shared_addresses_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
