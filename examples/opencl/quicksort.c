/* SPDX-License-Identifier: MIT */
/*
 * Sorts numbers on the PPU alone: a kernel splits its part of the numbers and enqueues itself for both halves. The CPU
 * launches one work-group, and waits for all that came of it.
 *
 *   quicksort [COUNT]
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_COUNT 20000
#define MOST_COUNT 1000000
#define GROUP "128"

/*
 * A group counts for each of its work-items how many numbers go left and right, and moves them through `other`. What
 * fits into local memory is sorted there by ranks. `spare[0]` counts tasks, `spare[1]` those that could not be
 * enqueued.
 */
static const char source[] =
    "#define GROUP " GROUP "\n"
    "#define SMALL 256\n"
    "void sort(global int *a, global int *other, global int *spare, int from, int to, local int *scratch);\n"
    "\n"
    "void below(global int *a, global int *other, global int *spare, int from, int to)\n"
    "{\n"
    "    int error = enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(GROUP, GROUP),\n"
    "        ^(local void *scratch) { sort(a, other, spare, from, to, scratch); }, 2 * SMALL * sizeof(int));\n"
    "    if (error != CLK_SUCCESS)\n"
    "        atomic_inc(&spare[1]);\n"
    "}\n"
    "\n"
    "void sort_small(global int *a, int from, int n, local int *scratch)\n"
    "{\n"
    "    for (int i = get_local_id(0); i < n; i += GROUP)\n"
    "        scratch[i] = a[from + i];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int i = get_local_id(0); i < n; i += GROUP) {\n"
    "        int rank = 0;\n"
    "        for (int j = 0; j < n; j++)\n"
    "            rank += scratch[j] < scratch[i] || (scratch[j] == scratch[i] && j < i);\n"
    "        a[from + rank] = scratch[i];\n"
    "    }\n"
    "}\n"
    "\n"
    "void sort(global int *a, global int *other, global int *spare, int from, int to, local int *scratch)\n"
    "{\n"
    "    int n = to - from, me = get_local_id(0), lower = 0, equal = 0;\n"
    "    if (me == 0)\n"
    "        atomic_inc(&spare[0]);\n"
    "    if (n <= SMALL) {\n"
    "        sort_small(a, from, n, scratch);\n"
    "        return;\n"
    "    }\n"
    "    int x = a[from], y = a[from + n / 2], z = a[to - 1];\n"
    "    int pivot = max(min(x, y), min(max(x, y), z));\n"
    "    for (int i = from + me; i < to; i += GROUP) {\n"
    "        lower += a[i] < pivot;\n"
    "        equal += a[i] == pivot;\n"
    "    }\n"
    "    scratch[me] = lower;\n"
    "    scratch[GROUP + me] = equal;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    int lowers = 0, equals = 0, low_at = from, equal_at = 0, high_at = 0;\n"
    "    for (int i = 0; i < GROUP; i++) {\n"
    "        low_at += i < me ? scratch[i] : 0;\n"
    "        equal_at += i < me ? scratch[GROUP + i] : 0;\n"
    "        lowers += scratch[i];\n"
    "        equals += scratch[GROUP + i];\n"
    "    }\n"
    "    int before = n / GROUP * me + min(me, n % GROUP);\n"
    "    high_at = from + lowers + equals + before - (low_at - from) - equal_at;\n"
    "    equal_at += from + lowers;\n"
    "    for (int i = from + me; i < to; i += GROUP)\n"
    "        other[a[i] < pivot ? low_at++ : a[i] == pivot ? equal_at++ : high_at++] = a[i];\n"
    "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    for (int i = from + me; i < to; i += GROUP)\n"
    "        a[i] = other[i];\n"
    "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    if (me == 0 && lowers > 1)\n"
    "        below(a, other, spare, from, from + lowers);\n"
    "    if (me == 0 && n - lowers - equals > 1)\n"
    "        below(a, other, spare, from + lowers + equals, to);\n"
    "}\n"
    "\n"
    "kernel void quicksort(global int *a, global int *other, global int *spare, int n, local int *scratch)\n"
    "{\n"
    "    sort(a, other, spare, 0, n, scratch);\n"
    "}\n";

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "quicksort: %s: error %d\n", what, error);
        exit(EXIT_FAILURE);
    }
}

struct sorter {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;        /* of the CPU */
    cl_command_queue device_queue; /* of kernels */
    cl_kernel kernel;
};

static void open_sorter(struct sorter *s)
{
    const cl_queue_properties on_device[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };
    const char *text = source;
    cl_platform_id platform;
    cl_int error;

    check(clGetPlatformIDs(1, &platform, NULL), "no platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &s->device, NULL), "no device");
    s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &error);
    check(error, "context");
    s->queue = clCreateCommandQueueWithProperties(s->context, s->device, NULL, &error);
    check(error, "queue");
    s->device_queue = clCreateCommandQueueWithProperties(s->context, s->device, on_device, &error);
    check(error, "queue on the device");
    cl_program program = clCreateProgramWithSource(s->context, 1, &text, NULL, &error);
    check(error, "program");
    error = clBuildProgram(program, 1, &s->device, "-cl-std=CL3.0", NULL, NULL);
    if (error != CL_SUCCESS) {
        char log[4000] = "";
        clGetProgramBuildInfo(program, s->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fputs(log, stderr);
    }
    check(error, "build");
    s->kernel = clCreateKernel(program, "quicksort", &error);
    check(error, "kernel");
    clReleaseProgram(program);
}

static void close_sorter(struct sorter *s)
{
    clReleaseKernel(s->kernel);
    clReleaseCommandQueue(s->device_queue);
    clReleaseCommandQueue(s->queue);
    clReleaseContext(s->context);
}

/* Sorts in place; spare[0]: tasks that the PPU made, spare[1]: tasks that it had no room for. */
static void sort(struct sorter *s, cl_int *numbers, cl_int count, cl_int spare[2])
{
    const size_t bytes = (size_t)count * sizeof(cl_int), group = (size_t)atoi(GROUP);
    const size_t scratch = 2 * 256 * sizeof(cl_int);
    cl_int error;

    cl_mem a = clCreateBuffer(s->context, CL_MEM_COPY_HOST_PTR, bytes, numbers, &error);
    check(error, "buffer");
    cl_mem other = clCreateBuffer(s->context, 0, bytes, NULL, &error);
    check(error, "buffer");
    cl_mem counts = clCreateBuffer(s->context, CL_MEM_COPY_HOST_PTR, 2 * sizeof(cl_int), spare, &error);
    check(error, "buffer");
    error = clSetKernelArg(s->kernel, 0, sizeof(cl_mem), &a) | clSetKernelArg(s->kernel, 1, sizeof(cl_mem), &other) |
            clSetKernelArg(s->kernel, 2, sizeof(cl_mem), &counts) |
            clSetKernelArg(s->kernel, 3, sizeof(count), &count) | clSetKernelArg(s->kernel, 4, scratch, NULL);
    check(error, "argument");
    check(clEnqueueNDRangeKernel(s->queue, s->kernel, 1, NULL, &group, &group, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(s->queue, a, CL_TRUE, 0, bytes, numbers, 0, NULL, NULL), "read");
    check(clEnqueueReadBuffer(s->queue, counts, CL_TRUE, 0, 2 * sizeof(cl_int), spare, 0, NULL, NULL), "read");
    clReleaseMemObject(a);
    clReleaseMemObject(other);
    clReleaseMemObject(counts);
}

static int compare(const void *a, const void *b)
{
    cl_int x = *(const cl_int *)a, y = *(const cl_int *)b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    struct sorter sorter;
    cl_int spare[2] = { 0, 0 };
    long count = argc > 1 ? strtol(argv[1], NULL, 0) : DEFAULT_COUNT;

    if (argc > 2 || count < 1 || count > MOST_COUNT) {
        fprintf(stderr, "usage: quicksort [COUNT]    1 to %d numbers\n", MOST_COUNT);
        return 2;
    }
    cl_int *numbers = malloc(2 * (size_t)count * sizeof(cl_int));
    if (!numbers) {
        fputs("quicksort: no memory\n", stderr);
        return EXIT_FAILURE;
    }
    cl_int *sorted = numbers + count;
    for (long i = 0; i < count; i++) {
        numbers[i] = sorted[i] = (cl_int)((cl_uint)i * 2654435761u >> 4);
    }
    qsort(sorted, (size_t)count, sizeof(cl_int), compare);
    open_sorter(&sorter);
    sort(&sorter, numbers, (cl_int)count, spare);
    close_sorter(&sorter);
    bool good = memcmp(numbers, sorted, (size_t)count * sizeof(cl_int)) == 0;
    printf("%ld numbers, sorted by %d work-groups, of which the CPU launched one", count, spare[0]);
    printf(spare[1] > 0 ? "; %d could not be enqueued\n" : "\n", spare[1]);
    puts(good ? "They are in order." : "They are NOT in order.");
    free(numbers);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
