/* SPDX-License-Identifier: MIT */
/*
 * Measures what OpenCL costs: opencl WHERE prints rows whose names end in .WHERE. The first build of the process is
 * timed, with a cache that is empty, and then the same build again by `opencl WHERE cached` in a process of its own.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#define LAUNCHES 201u
#define COPIES 7u
#define PROGRAMS 15u
#define PRIME_ITEMS 1000003u
#define COPY_BYTES (16u << 20)
#define EMPTY_NATIVE_US 45.0
#define BUILD_COLD_GUEST_MS 8000.0
#define BUILD_CACHED_GUEST_MS 500.0

static const char *const source = "kernel void saxpy(float a, global const float *x, global float *y)\n"
                                  "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }\n"
                                  "kernel void copy(global const float4 *from, global float4 *to)\n"
                                  "{ size_t i = get_global_id(0); to[i] = from[i]; }\n"
                                  "kernel void empty() {}\n";

struct bench {
    const char *where;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "bench-opencl: %s: error %d\n", what, error);
        exit(1);
    }
}

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(values[0]), compare);
    return values[count / 2];
}

/* A budget of 0: none. */
static void row(const struct bench *bench, const char *name, double value, const char *unit, const char *better,
                double budget, const char *note)
{
    printf("{\"name\": \"opencl.%s.%s\", \"value\": %.3f, \"unit\": \"%s\", \"better\": \"%s\"", name, bench->where,
           value, unit, better);
    if (budget > 0) {
        printf(", \"budget\": %.0f", budget);
    }
    printf(", \"note\": \"%s\"}\n", note);
}

static void begin(struct bench *bench)
{
    cl_platform_id platform = NULL;
    cl_int error = CL_SUCCESS;

    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &bench->device, NULL), "device");
    bench->context = clCreateContext(NULL, 1, &bench->device, NULL, NULL, &error);
    check(error, "context");
    bench->queue = clCreateCommandQueueWithProperties(bench->context, bench->device, NULL, &error);
    check(error, "queue");
    bench->program = clCreateProgramWithSource(bench->context, 1, (const char **)(void *)&source, NULL, &error);
    check(error, "program");
}

static void end(struct bench *bench)
{
    clReleaseProgram(bench->program);
    clReleaseCommandQueue(bench->queue);
    clReleaseContext(bench->context);
}

static void bench_build(const struct bench *bench, bool cached)
{
    bool guest = strcmp(bench->where, "guest") == 0;
    double begun = now_us();

    check(clBuildProgram(bench->program, 1, &bench->device, "", NULL, NULL), "build");
    double ms = (now_us() - begun) / 1e3;
    if (cached) {
        row(bench, "build_cached_ms", ms, "ms", "lower", guest ? BUILD_CACHED_GUEST_MS : 0,
            "clBuildProgram of three small kernels that another process has built");
    } else {
        row(bench, "build_ms", ms, "ms", "lower", guest ? BUILD_COLD_GUEST_MS : 0,
            "clBuildProgram of three small kernels, the first of the process, nothing cached");
    }
}

static void launch(const struct bench *bench, cl_kernel kernel, size_t global)
{
    check(clEnqueueNDRangeKernel(bench->queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "launch");
    check(clFinish(bench->queue), "finish");
}

static void bench_empty(const struct bench *bench)
{
    cl_int error = CL_SUCCESS;
    double us[LAUNCHES];
    cl_kernel kernel = clCreateKernel(bench->program, "empty", &error);

    check(error, "kernel");
    for (size_t i = 0; i < LAUNCHES; i++) {
        double begun = now_us();
        launch(bench, kernel, 1);
        us[i] = now_us() - begun;
    }
    row(bench, "empty_kernel_us", median(us, LAUNCHES), "us", "lower",
        strcmp(bench->where, "native") == 0 ? EMPTY_NATIVE_US : 0,
        "enqueue of an empty kernel of one work-item, and clFinish; median of 201");
    clReleaseKernel(kernel);
}

/* The first launch of a program that has just been built; programs differ, so that none is loaded already. */
static double first_launch_us(const struct bench *bench, uint32_t number)
{
    static const char *const text = "kernel void first(global uint *out) { out[get_global_id(0)] = NUMBER; }";
    const size_t items = 256;
    cl_int error = CL_SUCCESS;
    char options[32];

    snprintf(options, sizeof(options), "-DNUMBER=%u", (unsigned)number);
    cl_program program = clCreateProgramWithSource(bench->context, 1, (const char **)(void *)&text, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &bench->device, options, NULL, NULL), "build");
    cl_mem out = clCreateBuffer(bench->context, 0, items * sizeof(cl_uint), NULL, &error);
    check(error, "buffer");
    const double begun = now_us();
    cl_kernel kernel = clCreateKernel(program, "first", &error);
    check(error, "kernel");
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &out), "argument");
    launch(bench, kernel, items);
    const double us = now_us() - begun;
    clReleaseKernel(kernel);
    clReleaseMemObject(out);
    clReleaseProgram(program);
    return us;
}

static void bench_first_launch(const struct bench *bench)
{
    double us[PROGRAMS];
    char note[160];

    for (uint32_t i = 0; i < PROGRAMS; i++) {
        us[i] = first_launch_us(bench, i);
    }
    const double first = us[0];
    snprintf(note, sizeof(note),
             "first launch of a program after its build, with clCreateKernel and clFinish; median of %u", PROGRAMS);
    row(bench, "first_launch_us", median(us, PROGRAMS), "us", "lower", 0, note);
    row(bench, "process_launch_us", first, "us", "lower", 0, "the same, of the first program of the process");
}

static void bench_copy(const struct bench *bench)
{
    cl_int error = CL_SUCCESS;
    double us[COPIES];
    cl_kernel kernel = clCreateKernel(bench->program, "copy", &error);

    check(error, "kernel");
    cl_mem from = clCreateBuffer(bench->context, 0, COPY_BYTES, NULL, &error);
    check(error, "buffer");
    cl_mem to = clCreateBuffer(bench->context, 0, COPY_BYTES, NULL, &error);
    check(error, "buffer");
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &from), "argument");
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &to), "argument");
    for (size_t i = 0; i < COPIES; i++) {
        double begun = now_us();
        launch(bench, kernel, COPY_BYTES / sizeof(cl_float4));
        us[i] = now_us() - begun;
    }
    row(bench, "bandwidth_gbs", 2.0 * COPY_BYTES / 1e3 / median(us, COPIES), "GB/s", "higher", 0,
        "a kernel copies 16 MiB as float4, bytes read and written; median of 7");
    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
}

static void bench_prime(const struct bench *bench)
{
    const cl_float a = 2;
    cl_int error = CL_SUCCESS;
    double us[COPIES];
    cl_kernel kernel = clCreateKernel(bench->program, "saxpy", &error);

    check(error, "kernel");
    cl_mem x = clCreateBuffer(bench->context, 0, PRIME_ITEMS * sizeof(cl_float), NULL, &error);
    check(error, "buffer");
    cl_mem y = clCreateBuffer(bench->context, 0, PRIME_ITEMS * sizeof(cl_float), NULL, &error);
    check(error, "buffer");
    check(clSetKernelArg(kernel, 0, sizeof(a), &a), "argument");
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &x), "argument");
    check(clSetKernelArg(kernel, 2, sizeof(cl_mem), &y), "argument");
    for (size_t i = 0; i < COPIES; i++) {
        double begun = now_us();
        launch(bench, kernel, PRIME_ITEMS);
        us[i] = now_us() - begun;
    }
    row(bench, "prime_range_ms", median(us, COPIES) / 1e3, "ms", "lower", 0,
        "saxpy of 1,000,003 work-items, a prime number, without a local size, and clFinish; median of 7");
    clReleaseMemObject(x);
    clReleaseMemObject(y);
    clReleaseKernel(kernel);
}

int main(int argc, char **argv)
{
    struct bench bench = { .where = argc > 1 ? argv[1] : "native" };
    bool cached = argc > 2 && strcmp(argv[2], "cached") == 0;

    begin(&bench);
    bench_build(&bench, cached);
    if (!cached) {
        bench_first_launch(&bench);
        bench_empty(&bench);
        bench_copy(&bench);
        bench_prime(&bench);
    }
    end(&bench);
    return 0;
}
