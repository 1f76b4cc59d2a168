/* SPDX-License-Identifier: MIT */
/*
 * Tests platform, device, contexts, queues and buffers as objects: making, counting, asking, and every way to get it
 * wrong.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/opencl/fixture.h"

static cl_uint count_of(struct fixture *f)
{
    cl_uint count = 0;

    check(clGetContextInfo(f->context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, NULL));
    return count;
}

static void platform_answers(void **state)
{
    struct fixture *f = *state;
    char text[64] = "";
    size_t bytes = 0;
    cl_uint count = 0;

    check(clGetPlatformInfo(f->platform, CL_PLATFORM_NAME, sizeof(text), text, &bytes));
    assert_string_equal(text, "PPU");
    assert_int_equal(bytes, strlen(text) + 1);
    assert_int_equal(clGetPlatformInfo(f->platform, CL_PLATFORM_NAME, 3, text, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetPlatformInfo(f->platform, 0x1234, sizeof(text), text, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_CPU, 0, NULL, &count), CL_DEVICE_NOT_FOUND);
    assert_int_equal(count, 0);
    assert_int_equal(clGetDeviceIDs(f->platform, 0, 0, NULL, &count), CL_INVALID_DEVICE_TYPE);
    assert_int_equal(clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_GPU, 0, NULL, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceIDs(f->platform, CL_DEVICE_TYPE_GPU, 0, &f->device, NULL), CL_INVALID_VALUE);
}

static void device_answers(void **state)
{
    struct fixture *f = *state;
    size_t sizes[3] = { 0, 0, 0 };
    cl_ulong global = 0, largest = 0;

    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(sizes), sizes, NULL));
    assert_int_equal(sizes[0], 1024);
    check(clGetDeviceInfo(f->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(global), &global, NULL));
    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest, NULL));
    assert_true(largest <= global && largest >= global / 4);
    assert_int_equal(clGetDeviceInfo(f->device, CL_DEVICE_GLOBAL_MEM_SIZE, 4, &global, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceInfo(f->device, 0x9999, sizeof(global), &global, NULL), CL_INVALID_VALUE);
    cl_device_type type = 0;
    check(clGetDeviceInfo(f->device, CL_DEVICE_TYPE, sizeof(type), &type, NULL));
    assert_int_equal(type, CL_DEVICE_TYPE_GPU);
    char version[16] = "";
    unsigned year = 1, month = 0, day = 0, number = 1;
    check(clGetDeviceInfo(f->device, CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, sizeof(version), version, NULL));
    assert_int_equal(sscanf(version, "v%4u-%2u-%2u-%2u", &year, &month, &day, &number), 4);
    assert_true(month >= 1 && month <= 12 && day >= 1 && day <= 31);
    check(clRetainDevice(f->device));
    check(clReleaseDevice(f->device));
    const cl_device_partition_property parts[] = { CL_DEVICE_PARTITION_EQUALLY, 1, 0 };
    assert_int_equal(clCreateSubDevices(f->device, parts, 0, NULL, NULL), CL_INVALID_VALUE);
}

static void timers_agree(void **state)
{
    struct fixture *f = *state;
    cl_ulong device = 0, host = 0, later = 0;

    check(clGetDeviceAndHostTimer(f->device, &device, &host));
    check(clGetHostTimer(f->device, &later));
    assert_true(host > 0 && later >= host);
    assert_int_equal(clGetHostTimer(f->device, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetDeviceAndHostTimer(f->device, &device, NULL), CL_INVALID_VALUE);
}

static void context_is_checked(void **state)
{
    struct fixture *f = *state;
    const cl_context_properties unknown[] = { 0x7777, 1, 0 };
    const cl_context_properties nowhere[] = { CL_CONTEXT_PLATFORM, 0, 0 };
    const cl_context_properties good[] = { CL_CONTEXT_PLATFORM, (cl_context_properties)f->platform, 0 };
    cl_context_properties kept[3] = { 0, 0, 1 };
    cl_int error = CL_SUCCESS;

    assert_null(clCreateContext(unknown, 1, &f->device, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_PROPERTY);
    assert_null(clCreateContext(NULL, 0, NULL, NULL, NULL, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clCreateContext(NULL, 1, &f->device, NULL, f, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clCreateContextFromType(good, CL_DEVICE_TYPE_CPU, NULL, NULL, &error));
    assert_int_equal(error, CL_DEVICE_NOT_FOUND);
    for (int i = 0; i < 2; i++) {
        cl_context some =
            clCreateContextFromType(good, i == 0 ? CL_DEVICE_TYPE_ALL : CL_DEVICE_TYPE_DEFAULT, NULL, NULL, &error);
        check(error);
        check(clReleaseContext(some));
    }
    (void)nowhere;
    cl_context context = clCreateContext(good, 1, &f->device, NULL, NULL, &error);
    check(error);
    check(clGetContextInfo(context, CL_CONTEXT_PROPERTIES, sizeof(kept), kept, NULL));
    assert_memory_equal(kept, good, sizeof(good));
    check(clReleaseContext(context));
}

/* What is released is there again for who comes next, however fast. */
static void contexts_come_and_go(void **state)
{
    static const cl_queue_properties on_device[] = { CL_QUEUE_PROPERTIES,
                                                     CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;

    for (int i = 0; i < 100; i++) {
        cl_context context = clCreateContext(NULL, 1, &f->device, NULL, NULL, &error);
        check(error);
        cl_command_queue queue = clCreateCommandQueueWithProperties(context, f->device, NULL, &error);
        check(error);
        cl_command_queue inner = clCreateCommandQueueWithProperties(context, f->device, on_device, &error);
        check(error);
        check(clReleaseCommandQueue(inner));
        check(clReleaseCommandQueue(queue));
        check(clReleaseContext(context));
    }
}

/* ---- many contexts ---- */

#define CONTEXTS 64u /* of the default machine */

struct beside {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem buffer;
};

static cl_kernel kernel_of(cl_context context, cl_device_id device)
{
    static const char *const text = "kernel void add(global uint *sum, uint n) {\n"
                                    "    atomic_add(sum, n + get_global_id(0));\n"
                                    "}\n";
    cl_int error = CL_SUCCESS;

    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 1, &device, NULL, NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    check(error);
    check(clReleaseProgram(program));
    return kernel;
}

/* With its first launch under way. */
static void begin_beside(struct fixture *f, struct beside *one, cl_uint n)
{
    const size_t items = 1000;
    const cl_uint zero = 0;
    cl_int error = CL_SUCCESS;

    one->queue = clCreateCommandQueueWithProperties(one->context, f->device, NULL, &error);
    check(error);
    one->buffer = clCreateBuffer(one->context, CL_MEM_READ_WRITE, sizeof(n), NULL, &error);
    check(error);
    one->kernel = kernel_of(one->context, f->device);
    check(clSetKernelArg(one->kernel, 0, sizeof(one->buffer), &one->buffer));
    check(clSetKernelArg(one->kernel, 1, sizeof(n), &n));
    check(clEnqueueFillBuffer(one->queue, one->buffer, &zero, sizeof(zero), 0, sizeof(zero), 0, NULL, NULL));
    check(clEnqueueNDRangeKernel(one->queue, one->kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    check(clFlush(one->queue));
}

static void end_beside(struct beside *one, cl_uint n)
{
    cl_uint sum = 0;

    check(clEnqueueReadBuffer(one->queue, one->buffer, CL_TRUE, 0, sizeof(sum), &sum, 0, NULL, NULL));
    assert_int_equal(sum, 1000 * n + 999 * 500);
    check(clReleaseKernel(one->kernel));
    check(clReleaseMemObject(one->buffer));
    check(clReleaseCommandQueue(one->queue));
    check(clReleaseContext(one->context));
}

/* How many contexts there can be beside the fixture's, each with its launch under way. */
static cl_uint begin_all(struct fixture *f, struct beside all[CONTEXTS], cl_int *error)
{
    cl_uint count = 0;

    while (count < CONTEXTS) {
        all[count].context = clCreateContext(NULL, 1, &f->device, NULL, NULL, error);
        if (!all[count].context) {
            break;
        }
        begin_beside(f, &all[count], count);
        count++;
    }
    return count;
}

/* Who comes too late is told, and finds room when another has gone. */
static void many_contexts(void **state)
{
    struct fixture *f = *state;
    struct beside all[CONTEXTS] = { 0 };
    cl_int error = CL_SUCCESS;
    const cl_uint count = begin_all(f, all, &error);

    for (cl_uint i = 0; i < count; i++) {
        end_beside(&all[i], i);
        if (i == 0) {
            all[i].context = clCreateContext(NULL, 1, &f->device, NULL, NULL, NULL);
            begin_beside(f, &all[i], 77);
            end_beside(&all[i], 77);
        }
    }
    assert_int_equal(count, CONTEXTS - 1);
    assert_int_equal(error, CL_OUT_OF_RESOURCES);
}

static void references_are_counted(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(count_of(f), 1);
    check(clRetainContext(f->context));
    assert_int_equal(count_of(f), 2);
    check(clReleaseContext(f->context));
    assert_int_equal(count_of(f), 1);
}

static void CL_CALLBACK count_call(cl_mem memory, void *user)
{
    int *calls = user;

    (void)memory;
    __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
}

static void CL_CALLBACK count_context(cl_context context, void *user)
{
    int *calls = user;

    (void)context;
    __atomic_add_fetch(calls, 1, __ATOMIC_RELAXED);
}

/* A buffer in use by a command outlives its last reference; a context lives as long as what it holds. */
static void ends_are_told(void **state)
{
    struct fixture *f = *state;
    cl_int error = CL_SUCCESS;
    int buffers = 0, contexts = 0;

    cl_context context = clCreateContext(NULL, 1, &f->device, NULL, NULL, &error);
    check(error);
    check(clSetContextDestructorCallback(context, count_context, &contexts));
    assert_int_equal(clSetContextDestructorCallback(context, NULL, NULL), CL_INVALID_VALUE);
    cl_mem buffer = clCreateBuffer(context, 0, 100, NULL, &error);
    check(error);
    check(clSetMemObjectDestructorCallback(buffer, count_call, &buffers));
    check(clSetMemObjectDestructorCallback(buffer, count_call, &buffers));
    assert_int_equal(clSetMemObjectDestructorCallback(buffer, NULL, NULL), CL_INVALID_VALUE);
    check(clReleaseContext(context));
    assert_int_equal(contexts, 0);
    check(clReleaseMemObject(buffer));
    assert_int_equal(buffers, 2);
    assert_int_equal(contexts, 1);
}

static void queue_is_checked(void **state)
{
    struct fixture *f = *state;
    const cl_queue_properties bad[] = { CL_QUEUE_PROPERTIES, 1ull << 40, 0 };
    cl_queue_properties kept[3] = { 0, 0, 1 };
    cl_int error = CL_SUCCESS;

    assert_null(clCreateCommandQueueWithProperties(f->context, f->device, bad, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    assert_null(clCreateCommandQueue(f->context, f->device, 1ull << 40, &error));
    assert_int_equal(error, CL_INVALID_VALUE);
    check(clGetCommandQueueInfo(f->queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(kept), kept, NULL));
    assert_int_equal(kept[1], CL_QUEUE_PROFILING_ENABLE);
    cl_uint size = 0;
    assert_int_equal(clGetCommandQueueInfo(f->queue, CL_QUEUE_SIZE, sizeof(size), &size, NULL),
                     CL_INVALID_COMMAND_QUEUE);
    assert_int_equal(clEnqueueMarker(f->queue, NULL), CL_INVALID_VALUE);
}

/* ---- cl_ppu_counters ---- */

#define INSNS 0u
#define LANES 1u
#define COUNTERS 10u
#define MAX_WAVE 128u
/* ---- hints ---- */

static cl_command_queue hinted_queue(struct fixture *f, cl_queue_properties name, cl_queue_properties value,
                                     cl_queue_properties flags, cl_int expected)
{
    const cl_queue_properties properties[] = { name, value, CL_QUEUE_PROPERTIES, flags, 0 };
    cl_int error = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueueWithProperties(f->context, f->device, properties, &error);

    assert_int_equal(error, expected);
    return queue;
}

static cl_uint hint(cl_command_queue queue, cl_queue_properties name)
{
    cl_uint value = 0;

    check(clGetCommandQueueInfo(queue, (cl_command_queue_info)name, sizeof(value), &value, NULL));
    return value;
}

static void hints_are_checked(void **state)
{
    static const cl_queue_properties names[] = { CL_QUEUE_PRIORITY_KHR, CL_QUEUE_THROTTLE_KHR };
    static const cl_queue_properties bad[] = { 0, 3, 7, 8, 1ull << 32, 1ull << 32 | 1 };
    struct fixture *f = *state;
    char extensions[2000] = "";

    check(clGetDeviceInfo(f->device, CL_DEVICE_EXTENSIONS, sizeof(extensions), extensions, NULL));
    assert_non_null(strstr(extensions, "cl_khr_priority_hints"));
    assert_non_null(strstr(extensions, "cl_khr_throttle_hints"));
    for (size_t n = 0; n < PPU_ARRAY_SIZE(names); n++) {
        for (cl_uint value = 1; value <= 4; value *= 2) {
            cl_command_queue queue = hinted_queue(f, names[n], value, 0, CL_SUCCESS);
            assert_int_equal(hint(queue, names[n]), value);
            check(clReleaseCommandQueue(queue));
        }
        for (size_t i = 0; i < PPU_ARRAY_SIZE(bad); i++) {
            assert_null(hinted_queue(f, names[n], bad[i], 0, CL_INVALID_VALUE));
        }
        assert_null(hinted_queue(f, names[n], 2, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE,
                                 CL_INVALID_QUEUE_PROPERTIES));
    }
    assert_int_equal(hint(f->queue, CL_QUEUE_PRIORITY_KHR), CL_QUEUE_PRIORITY_MED_KHR);
    assert_int_equal(hint(f->queue, CL_QUEUE_THROTTLE_KHR), CL_QUEUE_THROTTLE_MED_KHR);
}

/* Work-items that fill the device wait for one of another queue: it has a place only because it is more urgent. */
static void urgent_queues_go_first(void **state)
{
    static const char *text = "kernel void wait(global atomic_int *go) { while (atomic_load(go) == 0); }"
                              "kernel void set(global atomic_int *go) { atomic_store(go, 1); }";
    struct fixture *f = *state;
    const size_t many = 1 << 20, one = 1;
    cl_int error = CL_SUCCESS, zero = 0;

    cl_command_queue low = hinted_queue(f, CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_LOW_KHR, 0, CL_SUCCESS);
    cl_command_queue high = hinted_queue(f, CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_HIGH_KHR, 0, CL_SUCCESS);
    cl_program program = clCreateProgramWithSource(f->context, 1, &text, NULL, &error);
    check(error);
    check(clBuildProgram(program, 0, NULL, "-cl-std=CL3.0", NULL, NULL));
    cl_kernel wait = clCreateKernel(program, "wait", &error), set = clCreateKernel(program, "set", &error);
    cl_mem go = clCreateBuffer(f->context, CL_MEM_COPY_HOST_PTR, sizeof(zero), &zero, &error);
    check(error);
    check(clSetKernelArg(wait, 0, sizeof(go), &go));
    check(clSetKernelArg(set, 0, sizeof(go), &go));
    check(clEnqueueNDRangeKernel(low, wait, 1, NULL, &many, NULL, 0, NULL, NULL));
    check(clFlush(low));
    usleep(100000);
    check(clEnqueueNDRangeKernel(high, set, 1, NULL, &one, NULL, 0, NULL, NULL));
    check(clFinish(high));
    check(clFinish(low));
    check(clReleaseMemObject(go));
    check(clReleaseKernel(wait));
    check(clReleaseKernel(set));
    check(clReleaseProgram(program));
    check(clReleaseCommandQueue(low));
    check(clReleaseCommandQueue(high));
}

#define BESIDE 4u /* kernels that can run at the same time, in a queue that lets them */

static cl_ulong counter(cl_command_queue queue, uint32_t number)
{
    cl_ulong count = UINT64_MAX;

    check(clGetCommandQueueInfo(queue, CL_QUEUE_COUNTER_PPU(number), sizeof(count), &count, NULL));
    return count;
}

/* What a kernel has executed is there when it is done, at the queue that it was put into and no other. */
static void queues_count(void **state)
{
    struct fixture *f = *state;
    const cl_queue_properties on_device[] = { CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE, 0 };
    const size_t items = 128;
    cl_mem data = fixture_buffer(f, 0, items * sizeof(cl_uint), NULL);
    cl_kernel kernel = fixture_kernel(f,
                                      "kernel void k(global uint *data, uint n) {\n"
                                      "    uint at = get_global_id(0), sum = 0;\n"
                                      "    for (uint i = 0; i < n; i++) sum = sum * 3 + data[(at + i * sum) % 128];\n"
                                      "    data[at] = sum;\n"
                                      "}\n",
                                      "k");
    cl_ulong size = 0;
    size_t bytes = 0;

    check(clSetKernelArg(kernel, 0, sizeof(data), &data));
    for (cl_uint n = 1; n < 1000; n += 37) {
        cl_command_queue queue = n % 2 != 0 ? f->queue : f->loose, other = n % 2 != 0 ? f->loose : f->queue;
        const cl_ulong insns = counter(queue, INSNS), lanes = counter(queue, LANES);
        const cl_ulong elsewhere = counter(other, INSNS);

        cl_event gate = clCreateUserEvent(f->context, NULL);

        check(clSetKernelArg(kernel, 1, sizeof(n), &n));
        for (uint32_t i = 0; i < BESIDE; i++) {
            check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 1, &gate, NULL));
        }
        check(clSetUserEventStatus(gate, CL_COMPLETE));
        check(clFinish(queue));
        check(clReleaseEvent(gate));
        const cl_ulong more = counter(queue, INSNS) - insns;
        assert_in_range(more, BESIDE * 3 * n, BESIDE * (200 + 200 * n));
        assert_in_range(counter(queue, LANES) - lanes, more, MAX_WAVE * more);
        assert_int_equal(counter(other, INSNS), elsewhere);
    }
    check(clGetCommandQueueInfo(f->queue, CL_QUEUE_COUNTER_PPU(INSNS), 0, NULL, &bytes));
    assert_int_equal(bytes, sizeof(cl_ulong));
    assert_int_equal(clGetCommandQueueInfo(f->queue, CL_QUEUE_COUNTER_PPU(0), 4, &size, NULL), CL_INVALID_VALUE);
    assert_int_equal(clGetCommandQueueInfo(f->queue, CL_QUEUE_COUNTER_PPU(COUNTERS), 8, &size, NULL), CL_INVALID_VALUE);
    cl_command_queue device = clCreateCommandQueueWithProperties(f->context, f->device, on_device, NULL);
    assert_non_null(device);
    assert_int_equal(clGetCommandQueueInfo(device, CL_QUEUE_COUNTER_PPU(0), 8, &size, NULL), CL_INVALID_COMMAND_QUEUE);
    check(clReleaseCommandQueue(device));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(data));
}

#define COLLATZ_ITEMS 1024u

/* Warp instructions of a kernel whose work-items leave a loop at different times, and meet behind it. */
static cl_ulong collatz(struct fixture *f, const char *yields)
{
    const size_t items = COLLATZ_ITEMS;
    cl_uint steps[COLLATZ_ITEMS];
    char text[512];

    snprintf(text, sizeof(text),
             "kernel void k(global uint *out) {\n"
             "    uint n = get_global_id(0) + 1, steps = 0;\n"
             "    while (n != 1) { n = n & 1 ? 3 * n + 1 : n >> 1; steps++; %s }\n"
             "    uint sum = steps;\n"
             "    for (uint i = 0; i < 20; i++) sum = sum * 5 + (steps ^ i);\n"
             "    out[get_global_id(0)] = sum;\n"
             "}\n",
             yields);
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_mem out = fixture_buffer(f, 0, sizeof(steps), NULL);
    const cl_ulong before = counter(f->queue, INSNS);
    check(clSetKernelArg(kernel, 0, sizeof(out), &out));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, out, CL_TRUE, 0, sizeof(steps), steps, 0, NULL, NULL));
    check(clFinish(f->queue));
    const cl_ulong more = counter(f->queue, INSNS) - before;
    for (uint32_t i = 0; i < COLLATZ_ITEMS; i++) {
        uint32_t count = 0;
        for (uint64_t n = i + 1; n != 1; count++) {
            n = n & 1 ? 3 * n + 1 : n >> 1;
        }
        uint32_t sum = count;
        for (uint32_t n = 0; n < 20; n++) {
            sum = sum * 5 + (count ^ n);
        }
        assert_int_equal(steps[i], sum);
    }
    check(clReleaseMemObject(out));
    check(clReleaseKernel(kernel));
    return more;
}

/* The compiler's own yields let such work-items stay together; one in each turn parts them. */
static void yields_seldom(void **state)
{
    const cl_ulong own = collatz(*state, ""), each = collatz(*state, "ppu_yield();");

    assert_in_range(own, 1, each / 2);
}

static void buffer_is_checked(void **state)
{
    struct fixture *f = *state;
    char host[16];
    const struct {
        cl_mem_flags flags;
        size_t bytes;
        void *host;
        cl_int error;
    } cases[] = {
        { CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 16, NULL, CL_INVALID_VALUE },
        { CL_MEM_HOST_NO_ACCESS | CL_MEM_HOST_READ_ONLY, 16, NULL, CL_INVALID_VALUE },
        { CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR, 16, host, CL_INVALID_VALUE },
        { 1ull << 50, 16, NULL, CL_INVALID_VALUE },
        { 0, 0, NULL, CL_INVALID_BUFFER_SIZE },
        { 0, SIZE_MAX, NULL, CL_INVALID_BUFFER_SIZE },
        { 0, 16, host, CL_INVALID_HOST_PTR },
        { CL_MEM_COPY_HOST_PTR, 16, NULL, CL_INVALID_HOST_PTR },
        { CL_MEM_USE_HOST_PTR, 16, NULL, CL_INVALID_HOST_PTR },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_int error = CL_SUCCESS;
        assert_null(clCreateBuffer(f->context, cases[i].flags, cases[i].bytes, cases[i].host, &error));
        assert_int_equal(error, cases[i].error);
    }
    cl_ulong largest = 0;
    check(clGetDeviceInfo(f->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(largest), &largest, NULL));
    cl_mem buffer = fixture_buffer(f, 0, largest, NULL);
    cl_mem_flags flags = 0;
    check(clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof(flags), &flags, NULL));
    assert_int_equal(flags, CL_MEM_READ_WRITE);
    check(clReleaseMemObject(buffer));
}

/* A buffer in shared virtual memory lies in one piece of it; and a kernel may be told that it uses none. */
static void shared_memory_is_checked(void **state)
{
    struct fixture *f = *state;
    cl_device_svm_capabilities has = 0;
    cl_int error = CL_SUCCESS;

    check(clGetDeviceInfo(f->device, CL_DEVICE_SVM_CAPABILITIES, sizeof(has), &has, NULL));
    if (has == 0) {
        skip();
    }
    char *piece = clSVMAlloc(f->context, CL_MEM_READ_WRITE, 1024, 0);
    assert_non_null(piece);
    assert_null(clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR, 1025, piece, &error));
    assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
    assert_null(clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR, 512, piece + 513, &error));
    assert_int_equal(error, CL_INVALID_BUFFER_SIZE);
    cl_mem buffer = clCreateBuffer(f->context, CL_MEM_USE_HOST_PTR, 1024, piece, &error);
    check(error);
    check(clReleaseMemObject(buffer));
    cl_kernel kernel = fixture_kernel(f, "kernel void k(global int *a) { a[0] = 1; }", "k");
    check(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, sizeof(piece), &piece));
    check(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 0, NULL));
    assert_int_equal(clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS, 8, NULL), CL_INVALID_VALUE);
    check(clReleaseKernel(kernel));
    clSVMFree(f->context, piece);
}

static void sub_buffer_is_checked(void **state)
{
    struct fixture *f = *state;
    cl_mem buffer = fixture_buffer(f, CL_MEM_READ_ONLY, 1024, NULL);
    const struct {
        cl_mem_flags flags;
        cl_buffer_region region;
        cl_int error;
    } cases[] = {
        { CL_MEM_READ_WRITE, { 0, 16 }, CL_INVALID_VALUE },
        { CL_MEM_USE_HOST_PTR, { 0, 16 }, CL_INVALID_VALUE },
        { 0, { 1024, 16 }, CL_INVALID_VALUE },
        { 0, { 0, 1025 }, CL_INVALID_VALUE },
        { 0, { 0, 0 }, CL_INVALID_BUFFER_SIZE },
        { 0, { 64, 16 }, CL_MISALIGNED_SUB_BUFFER_OFFSET },
        { 0, { 128, 16 }, CL_SUCCESS },
    };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        cl_int error = CL_SUCCESS;
        cl_mem sub = clCreateSubBuffer(buffer, cases[i].flags, CL_BUFFER_CREATE_TYPE_REGION, &cases[i].region, &error);
        assert_int_equal(error, cases[i].error);
        if (sub) {
            cl_mem parent = NULL;
            check(clGetMemObjectInfo(sub, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof(parent), &parent, NULL));
            assert_ptr_equal(parent, buffer);
            cl_mem none = clCreateSubBuffer(sub, 0, CL_BUFFER_CREATE_TYPE_REGION, &cases[i].region, &error);
            assert_null(none);
            assert_int_equal(error, CL_INVALID_MEM_OBJECT);
            check(clReleaseMemObject(sub));
        }
    }
    check(clReleaseMemObject(buffer));
}

/* ---- what commands used ---- */

static void CL_CALLBACK end_slowly(cl_mem memory, void *user)
{
    const struct timespec pause = { 0, 50000000 };
    int *ended = user;

    (void)memory;
    nanosleep(&pause, NULL);
    __atomic_add_fetch(ended, 1, __ATOMIC_RELEASE);
}

/* A buffer whose only use is what the program will enqueue with it, and whose end takes a while. */
static cl_mem slow_buffer(struct fixture *f, int *ended)
{
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);

    check(clSetMemObjectDestructorCallback(buffer, end_slowly, ended));
    return buffer;
}

static void ended_commands_use_nothing(void **state)
{
    struct fixture *f = *state;
    const char *source = "kernel void k(global int *a) { a[0] = 1; }";
    const size_t one = 1;
    cl_int error = CL_SUCCESS;
    uint32_t word = 0;
    int ended = 0;

    cl_program program = clCreateProgramWithSource(f->context, 1, &source, NULL, &error);
    check(error);
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "k", &error);
    check(error);
    cl_mem buffer = slow_buffer(f, &ended);
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(buffer));
    check(clFinish(f->queue));
    assert_int_equal(__atomic_load_n(&ended, __ATOMIC_ACQUIRE), 1);
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL)); /* it has no kernels */
    check(clReleaseProgram(program));
    buffer = slow_buffer(f, &ended);
    check(clEnqueueReadBuffer(f->queue, buffer, CL_FALSE, 0, 4, &word, 0, NULL, NULL));
    check(clReleaseMemObject(buffer));
    check(clFinish(f->queue));
    assert_int_equal(__atomic_load_n(&ended, __ATOMIC_ACQUIRE), 2);
}

/* One argument may have all the local memory that the device reports. */
static void all_local_memory_is_there(void **state)
{
    struct fixture *f = *state;
    const char *text = "kernel void k(global int *out, local int *all, int last) {\n"
                       "    all[0] = 3; all[last] = 4; out[0] = all[0] * 10 + all[last]; }";
    const size_t one = 1;
    cl_ulong bytes = 0;
    cl_int out = 0;
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_mem buffer = fixture_buffer(f, 0, 64, NULL);

    check(clGetDeviceInfo(f->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof(bytes), &bytes, NULL));
    assert_true(bytes >= 32768);
    const cl_int last = (cl_int)(bytes / sizeof(cl_int)) - 1;
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clSetKernelArg(kernel, 1, bytes, NULL));
    assert_int_equal(clSetKernelArg(kernel, 1, bytes + 1, NULL), CL_INVALID_ARG_SIZE);
    check(clSetKernelArg(kernel, 2, sizeof(last), &last));
    check(clEnqueueNDRangeKernel(f->queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL));
    check(clEnqueueReadBuffer(f->queue, buffer, CL_TRUE, 0, sizeof(out), &out, 0, NULL, NULL));
    assert_int_equal(out, 34);
    check(clReleaseKernel(kernel));
    check(clReleaseMemObject(buffer));
}

/* An argument keeps nothing alive. A launch with one that has ended is refused; a clone knows it too. */
static void arguments_keep_nothing(void **state)
{
    struct fixture *f = *state;
    const char *text = "kernel void k(global int *a, global int *b) { a[0] = b[0]; }";
    const size_t one = 1;
    cl_int error = CL_SUCCESS;
    int ended = 0;
    cl_kernel kernel = fixture_kernel(f, text, "k");
    cl_mem other = fixture_buffer(f, 0, 64, NULL);
    cl_mem buffer = slow_buffer(f, &ended);

    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer));
    check(clSetKernelArg(kernel, 1, sizeof(buffer), &buffer));
    check(clSetKernelArg(kernel, 1, sizeof(other), &other));
    cl_kernel clone = clCloneKernel(kernel, &error);
    check(error);
    check(clEnqueueNDRangeKernel(f->queue, clone, 1, NULL, &one, &one, 0, NULL, NULL));
    check(clReleaseMemObject(buffer));
    check(clFinish(f->queue));
    assert_int_equal(__atomic_load_n(&ended, __ATOMIC_ACQUIRE), 1);
    cl_kernel late = clCloneKernel(kernel, &error);
    check(error);
    const cl_kernel kernels[] = { kernel, clone, late };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(clEnqueueNDRangeKernel(f->queue, kernels[i], 1, NULL, &one, &one, 0, NULL, NULL),
                         CL_INVALID_KERNEL_ARGS);
        check(clSetKernelArg(kernels[i], 0, sizeof(other), &other));
        check(clEnqueueNDRangeKernel(f->queue, kernels[i], 1, NULL, &one, &one, 0, NULL, NULL));
    }
    check(clFinish(f->queue));
    for (size_t i = 0; i < 3; i++) {
        check(clReleaseKernel(kernels[i]));
    }
    check(clReleaseMemObject(other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cl_test("the platform answers, and says what is wrong with a question [F6]", platform_answers),
        cl_test("the device answers with what it has [A1]", device_answers),
        cl_test("host and device time can be read together [F6]", timers_agree),
        cl_test("a context is made of a device and known properties [F6]", context_is_checked),
        cl_test("contexts come and go as fast as they like [F6]", contexts_come_and_go),
        cl_test("sixty-four contexts compute beside each other, and one more is told that there is none [A3]",
                many_contexts),
        cl_test("references are counted [F6]", references_are_counted),
        cl_test("callbacks tell the end of buffers and contexts, once each [F6]", ends_are_told),
        cl_test("commands that have ended use nothing any more [F6]", ended_commands_use_nothing),
        cl_test("all the local memory that is reported can be used [F6]", all_local_memory_is_there),
        cl_test("arguments of kernels keep nothing alive [F6]", arguments_keep_nothing),
        cl_test("a queue has properties the device has [F6]", queue_is_checked),
        cl_test("priority and throttle of a queue are checked and told [A3]", hints_are_checked),
        cl_test("an urgent queue's kernel has a place beside one that fills the device [A3] [A5]",
                urgent_queues_go_first),
        cl_test("a queue tells what its kernels have executed [A10]", queues_count),
        cl_test("a loop that waits for nobody keeps its work-items together [E6][E8]", yields_seldom),
        cl_test("wrong flags, sizes and pointers of buffers get their errors [F6]", buffer_is_checked),
        cl_test("wrong sub-buffers get their errors [F6]", sub_buffer_is_checked),
        cl_test("buffers lie in one piece of shared virtual memory [F6]", shared_memory_is_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
