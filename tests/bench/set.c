/* SPDX-License-Identifier: MIT */
/*
 * Runs the kernels of tests/compiler/kernels/set.cl on two OpenCL platforms in turn and compares what they give, byte
 * for byte: set PLATFORM PLATFORM ROUNDS RUNS SMALL [KERNEL]. It prints a line for each kernel: its name, and the
 * seconds of each platform, the median of the rounds' best runs. SMALL is 1 for sizes that only tell whether results
 * are right.
 */
#define CL_TARGET_OPENCL_VERSION 120

#include "ppu/macros.h"
#include "tests/bench/platform.h"
#include <CL/cl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE "tests/compiler/kernels/set.cl"
#define MAX_ARGUMENTS 8u
#define MAX_LAUNCHES 3u
#define MAX_ROUNDS 99u
#define SIDES 2u
#define MOST_ROUNDED 1e-3f /* of a float, or of 1 */

/* An argument of a kernel: a buffer with its first content, or a number. */
struct argument {
    void *host;
    size_t bytes;
    cl_int number;
};

/* A kernel and its range. */
struct launch {
    const char *kernel;
    cl_uint dimensions;
    size_t global[3], local[3]; /* local[0] 0: the platform chooses */
};

/* What is done in a run: all launches, one after the other, for each step. They have the same arguments, then the
 * number of the step if there are several. */
struct work {
    struct argument argument[MAX_ARGUMENTS];
    cl_uint arguments;
    struct launch launch[MAX_LAUNCHES];
    cl_uint launches;
    cl_int steps; /* 0: one, which the kernels are not told */
};

struct side {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel[MAX_LAUNCHES];
    cl_mem memory[MAX_ARGUMENTS];
};

/* ---- what a kernel gets ---- */

static cl_uint next(cl_uint *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void number(struct work *work, cl_int value)
{
    work->argument[work->arguments++] = (struct argument){ .number = value };
}

static void *buffer(struct work *work, size_t bytes)
{
    struct argument *argument = &work->argument[work->arguments++];

    argument->host = cl_allocate(bytes);
    argument->bytes = bytes;
    return argument->host;
}

static void floats(struct work *work, size_t count)
{
    cl_float *value = buffer(work, count * sizeof(*value));
    cl_uint state = 1;

    for (size_t i = 0; i < count; i++) {
        value[i] = (cl_float)(next(&state) % 2000) / 16 + 1;
    }
}

static void doubles(struct work *work, size_t count)
{
    cl_double *value = buffer(work, count * sizeof(*value));
    cl_uint state = 1;

    for (size_t i = 0; i < count; i++) {
        value[i] = (cl_double)(next(&state) % 2000) / 16 + 1;
    }
}

static void words(struct work *work, size_t count, cl_uint below)
{
    cl_uint *value = buffer(work, count * sizeof(*value)), state = 1;

    for (size_t i = 0; i < count; i++) {
        value[i] = next(&state) % below;
    }
}

static void bytes(struct work *work, size_t count, cl_uint below)
{
    unsigned char *value = buffer(work, count);
    cl_uint state = work->arguments;

    for (size_t i = 0; i < count; i++) {
        value[i] = (unsigned char)(next(&state) % below);
    }
}

static void launch(struct work *work, const char *kernel, cl_uint dimensions, const size_t *global, const size_t *local)
{
    struct launch *one = &work->launch[work->launches++];

    one->kernel = kernel;
    one->dimensions = dimensions;
    for (cl_uint i = 0; i < dimensions; i++) {
        one->local[i] = local ? local[i] : 0;
        one->global[i] = local ? (global[i] + local[i] - 1) / local[i] * local[i] : global[i];
    }
}

#define LAUNCH_1(work, kernel, x, lx) launch(work, kernel, 1, (const size_t[]){ x }, (const size_t[]){ lx })
#define LAUNCH_2(work, kernel, x, y, lx, ly) \
    launch(work, kernel, 2, (const size_t[]){ x, y }, (const size_t[]){ lx, ly })
#define LAUNCH_3(work, kernel, x, y, z, lx, ly, lz) \
    launch(work, kernel, 3, (const size_t[]){ x, y, z }, (const size_t[]){ lx, ly, lz })

/* ---- the kernels' data; `small` divides sizes ---- */

static void stencil5(struct work *work, cl_uint small)
{
    const cl_uint n = 2048 / small;

    floats(work, (size_t)n * n);
    buffer(work, (size_t)n * n * sizeof(cl_float));
    number(work, (cl_int)n);
    number(work, (cl_int)n);
    LAUNCH_2(work, "stencil5", n, n, 32, 8);
}

static void stencil5_f64(struct work *work, cl_uint small)
{
    const cl_uint n = 1024 / small;

    doubles(work, (size_t)n * n);
    buffer(work, (size_t)n * n * sizeof(cl_double));
    number(work, (cl_int)n);
    number(work, (cl_int)n);
    LAUNCH_2(work, "stencil5_f64", n, n, 32, 8);
}

static void stencil9(struct work *work, cl_uint small)
{
    const cl_uint width = 1999 / small, height = 1001 / small;

    floats(work, (size_t)width * height);
    buffer(work, (size_t)width * height * sizeof(cl_float));
    number(work, (cl_int)width);
    number(work, (cl_int)height);
    LAUNCH_2(work, "stencil9", width, height, 16, 16);
}

static void stencil7(struct work *work, cl_uint small)
{
    const cl_uint n = 128 / small;

    floats(work, (size_t)n * n * n);
    buffer(work, (size_t)n * n * n * sizeof(cl_float));
    number(work, (cl_int)n);
    number(work, (cl_int)n);
    number(work, (cl_int)n);
    LAUNCH_3(work, "stencil7", n, n, n, 32, 4, 2);
}

static void stencil9_volume(struct work *work, cl_uint small)
{
    const cl_uint width = 101 / small, height = 97 / small, depth = 83 / small;

    floats(work, (size_t)width * height * depth);
    buffer(work, (size_t)width * height * depth * sizeof(cl_float));
    number(work, (cl_int)width);
    number(work, (cl_int)height);
    number(work, (cl_int)depth);
    LAUNCH_3(work, "stencil9_volume", width, height, depth, 8, 8, 4);
}

static void convolve3(struct work *work, cl_uint small)
{
    const cl_uint n = 1024 / small;

    floats(work, (size_t)n * n);
    floats(work, 9);
    buffer(work, (size_t)n * n * sizeof(cl_float));
    number(work, (cl_int)n);
    number(work, (cl_int)n);
    LAUNCH_2(work, "convolve3", n, n, 16, 16);
}

static void life(struct work *work, cl_uint small)
{
    const cl_uint n = 1024 / small;

    bytes(work, (size_t)n * n, 2);
    buffer(work, (size_t)n * n);
    number(work, (cl_int)n);
    number(work, (cl_int)n);
    LAUNCH_2(work, "life", n, n, 64, 4);
}

static void blur(struct work *work, cl_uint small)
{
    const cl_uint width = 1200 / small, height = 700 / small;

    bytes(work, 4ul * width * height, 256);
    buffer(work, 4ul * width * height);
    number(work, (cl_int)width);
    number(work, (cl_int)height);
    launch(work, "blur", 2, (const size_t[]){ width, height }, NULL);
}

static void transpose(struct work *work, cl_uint small)
{
    const cl_uint width = 1500 / small, height = 1100 / small;

    floats(work, (size_t)width * height);
    buffer(work, (size_t)width * height * sizeof(cl_float));
    number(work, (cl_int)width);
    number(work, (cl_int)height);
    LAUNCH_2(work, "transpose", width, height, 16, 16);
}

static void tiled_product(struct work *work, cl_uint small)
{
    const cl_uint n = 256 / small;

    floats(work, (size_t)n * n);
    floats(work, (size_t)n * n);
    buffer(work, (size_t)n * n * sizeof(cl_float));
    number(work, (cl_int)n);
    LAUNCH_2(work, "tiled_product", n, n, 16, 16);
}

static void product_f64(struct work *work, cl_uint small)
{
    const cl_uint n = 192 / small;

    doubles(work, (size_t)n * n);
    doubles(work, (size_t)n * n);
    buffer(work, (size_t)n * n * sizeof(cl_double));
    number(work, (cl_int)n);
    LAUNCH_2(work, "product_f64", n, n, 16, 8);
}

/* The diagonal is large: no pivots are needed. */
static void eliminate(struct work *work, cl_uint small)
{
    const cl_uint n = 512 / small;
    cl_uint state = 1;

    cl_float *a = buffer(work, (size_t)n * n * sizeof(*a));
    for (cl_uint i = 0; i < n * n; i++) {
        a[i] = (cl_float)(next(&state) % 100) / 64 + (i / n == i % n ? (cl_float)n : 0);
    }
    number(work, (cl_int)n);
    work->steps = 16;
    LAUNCH_1(work, "lu_factors", n, 128);
    LAUNCH_2(work, "lu_update", n, n, 32, 8);
}

static void shortest_paths(struct work *work, cl_uint small)
{
    const cl_uint n = 384 / small;

    words(work, (size_t)n * n, 10000);
    number(work, (cl_int)n);
    work->steps = 16;
    LAUNCH_2(work, "shortest_paths", n, n, 16, 16);
}

static void sparse(struct work *work, cl_uint small)
{
    const cl_uint rows = 65536 / small;
    cl_uint state = 1, count = 0;

    cl_int *first = buffer(work, (rows + 1) * sizeof(*first));
    for (cl_uint i = 0; i < rows; i++) {
        first[i] = (cl_int)count;
        count += next(&state) % 24;
    }
    first[rows] = (cl_int)count;
    cl_int *column = buffer(work, (count + 1) * sizeof(*column));
    for (cl_uint i = 0; i < count; i++) {
        column[i] = (cl_int)(next(&state) % rows);
    }
    floats(work, count + 1);
    floats(work, rows);
    buffer(work, rows * sizeof(cl_float));
    number(work, (cl_int)rows);
    LAUNCH_1(work, "sparse", rows, 128);
}

static void reduce(struct work *work, cl_uint small)
{
    const cl_uint n = (4u << 20) / small, groups = 256;

    words(work, n, 1000);
    buffer(work, groups * sizeof(cl_int));
    number(work, (cl_int)n);
    LAUNCH_1(work, "reduce", groups * 256, 256);
}

static void scan(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 20) / small;

    words(work, n, 1000);
    buffer(work, n * sizeof(cl_int));
    buffer(work, n / 256 * sizeof(cl_int));
    LAUNCH_1(work, "scan", n, 256);
}

static void bitonic(struct work *work, cl_uint small)
{
    const cl_uint n = (256u << 10) / small;

    words(work, n, 1u << 24);
    LAUNCH_1(work, "bitonic", n / 2, 256);
}

/* One digit of four. */
static void radix(struct work *work, cl_uint small)
{
    const cl_uint n = (256u << 10) / small;

    words(work, n, 1u << 24);
    buffer(work, n / 256 * 16 * sizeof(cl_uint));
    buffer(work, n * sizeof(cl_uint));
    number(work, (cl_int)(n / 256));
    work->steps = 1;
    LAUNCH_1(work, "radix_count", n, 256);
    LAUNCH_1(work, "radix_scan", 256, 256);
    LAUNCH_1(work, "radix_scatter", n, 256);
}

/* Any rotations do, as long as they are the same on both sides: these are near the unit circle. */
static void fourier(struct work *work, cl_uint small)
{
    const cl_uint n = (256u << 10) / small;

    floats(work, 2ul * n);
    cl_float *twiddle = buffer(work, sizeof(cl_float[2]) * 128);
    for (cl_uint i = 0; i < 128; i++) {
        const cl_float t = (cl_float)i / 64 - 1, square = t * t;
        twiddle[2 * i] = (1 - square) / (1 + square);
        twiddle[2 * i + 1] = 2 * t / (1 + square);
    }
    LAUNCH_1(work, "fourier", n / 2, 128);
}

static void bodies(struct work *work, cl_uint small)
{
    const cl_uint n = 1024 / small;

    floats(work, 4ul * n);
    buffer(work, n * sizeof(cl_float[4]));
    number(work, (cl_int)n);
    LAUNCH_1(work, "bodies", n, 128);
}

static void bodies_f64(struct work *work, cl_uint small)
{
    const cl_uint n = 512 / small;

    doubles(work, 4ul * n);
    buffer(work, n * sizeof(cl_double[4]));
    number(work, (cl_int)n);
    LAUNCH_1(work, "bodies_f64", n, 128);
}

static void clusters(struct work *work, cl_uint small)
{
    const cl_uint n = 65536 / small;

    floats(work, 4ul * n);
    floats(work, 4ul * 16);
    buffer(work, n * sizeof(cl_int));
    number(work, (cl_int)n);
    number(work, 16);
    number(work, 4);
    LAUNCH_1(work, "clusters", n, 256);
}

static void march(struct work *work, cl_uint small)
{
    buffer(work, 320ul * 240 / small / small * sizeof(cl_float));
    number(work, (cl_int)(320 / small));
    number(work, (cl_int)(240 / small));
    LAUNCH_2(work, "march", 320 / small, 240 / small, 16, 8);
}

static void julia_f64(struct work *work, cl_uint small)
{
    buffer(work, 320ul * 240 / small / small * sizeof(cl_int));
    number(work, (cl_int)(320 / small));
    number(work, (cl_int)(240 / small));
    LAUNCH_2(work, "julia_f64", 320 / small, 240 / small, 16, 8);
}

static void dice(struct work *work, cl_uint small)
{
    buffer(work, 16384 / small * sizeof(cl_uint));
    number(work, 256);
    LAUNCH_1(work, "dice", 16384 / small, 256);
}

static void checksum(struct work *work, cl_uint small)
{
    const cl_uint n = 16384 / small;

    words(work, 16ul * n, 1u << 24);
    buffer(work, n * sizeof(cl_uint));
    number(work, 16);
    number(work, (cl_int)n);
    LAUNCH_1(work, "checksum", n, 256);
}

static void edits(struct work *work, cl_uint small)
{
    const cl_uint pairs = 64 / small;

    bytes(work, pairs * 256ul, 4);
    bytes(work, pairs * 256ul, 4);
    buffer(work, pairs * sizeof(cl_int));
    LAUNCH_1(work, "edits", pairs * 256, 256);
}

static void locked_table(struct work *work, cl_uint small)
{
    const cl_uint n = 65536 / small, entries = 4096;

    words(work, n, 1u << 20);
    buffer(work, entries * sizeof(cl_uint));
    buffer(work, entries * sizeof(cl_uint));
    buffer(work, entries * sizeof(cl_uint));
    number(work, (cl_int)entries);
    LAUNCH_1(work, "locked_table", n, 128);
}

static void lookup(struct work *work, cl_uint small)
{
    const cl_uint n = 262144 / small, entries = 65536;
    cl_uint state = 7;

    words(work, n, 65536);
    cl_uint *table = buffer(work, entries * sizeof(cl_uint));
    for (cl_uint i = 0; i < entries / 2; i++) {
        cl_uint key = next(&state) % 65536 + 1, entry = key * 2654435761u & (entries - 1);
        while (table[entry] != 0 && table[entry] != key) {
            entry = (entry + 1) & (entries - 1);
        }
        table[entry] = key;
    }
    buffer(work, n * sizeof(cl_int));
    number(work, (cl_int)(entries - 1));
    LAUNCH_1(work, "lookup", n, 256);
}

static void find(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 20) / small;

    bytes(work, n, 3);
    bytes(work, 6, 3);
    buffer(work, sizeof(cl_uint));
    number(work, (cl_int)n);
    number(work, 6);
    LAUNCH_1(work, "find", n, 256);
}

static void permute(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 20) / small;

    floats(work, n);
    words(work, n, n);
    buffer(work, n * sizeof(cl_float));
    LAUNCH_1(work, "permute", n, 256);
}

static void gray(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 20) / small;

    bytes(work, 3 * (size_t)n, 256);
    buffer(work, n);
    LAUNCH_1(work, "gray", n, 256);
}

static void wide(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 17) / small;

    floats(work, 16 * (size_t)n);
    floats(work, 16 * (size_t)n);
    buffer(work, 16 * (size_t)n * sizeof(cl_float));
    LAUNCH_1(work, "wide", n, 256);
}

static void insertion(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 17) / small;

    floats(work, 8 * (size_t)n);
    buffer(work, 8 * (size_t)n * sizeof(cl_float));
    LAUNCH_1(work, "insertion", n, 256);
}

static void options(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 18) / small;

    floats(work, n);
    floats(work, n);
    buffer(work, n * sizeof(cl_float));
    buffer(work, n * sizeof(cl_float));
    LAUNCH_1(work, "options", n, 256);
}

static void waves(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 18) / small;

    floats(work, n);
    buffer(work, n * sizeof(cl_float));
    LAUNCH_1(work, "waves", n, 256);
}

static void correct(struct work *work, cl_uint small)
{
    const cl_uint n = (1u << 16) / small;

    floats(work, 4 * (size_t)n);
    buffer(work, 4 * (size_t)n * sizeof(cl_float));
    LAUNCH_1(work, "correct", n, 256);
}

static const struct {
    const char *name;
    void (*data)(struct work *work, cl_uint small);
} kernels[] = {
    { "stencil5", stencil5 },
    { "stencil5_f64", stencil5_f64 },
    { "stencil9", stencil9 },
    { "stencil7", stencil7 },
    { "stencil9_volume", stencil9_volume },
    { "convolve3", convolve3 },
    { "life", life },
    { "blur", blur },
    { "transpose", transpose },
    { "tiled_product", tiled_product },
    { "product_f64", product_f64 },
    { "eliminate", eliminate },
    { "shortest_paths", shortest_paths },
    { "sparse", sparse },
    { "reduce", reduce },
    { "scan", scan },
    { "bitonic", bitonic },
    { "radix", radix },
    { "fourier", fourier },
    { "bodies", bodies },
    { "bodies_f64", bodies_f64 },
    { "clusters", clusters },
    { "march", march },
    { "julia_f64", julia_f64 },
    { "dice", dice },
    { "checksum", checksum },
    { "edits", edits },
    { "locked_table", locked_table },
    { "lookup", lookup },
    { "find", find },
    { "permute", permute },
    { "gray", gray },
    { "wide", wide },
    { "insertion", insertion },
    { "options", options },
    { "waves", waves },
    { "correct", correct },
};

/* Kernels whose results are floats, of functions that each platform rounds in its way. */
static const char *const rounded_kernels[] = { "options", "waves", "correct" };

static bool is_rounded(const char *kernel)
{
    bool is = false;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(rounded_kernels); i++) {
        is |= strcmp(kernel, rounded_kernels[i]) == 0;
    }
    return is;
}

/* ---- a platform ---- */

static char *read_source(size_t *length)
{
    FILE *file = fopen(SOURCE, "r");
    const size_t most = 1u << 20;
    char *text = cl_allocate(most);

    cl_check(file ? CL_SUCCESS : CL_INVALID_VALUE, SOURCE);
    *length = fread(text, 1, most, file);
    fclose(file);
    return text;
}

static void open_side(struct side *side, const char *platform)
{
    size_t length;
    cl_int error;
    char *source = read_source(&length);
    const char *text = source;

    side->device = cl_find_device(platform);
    side->context = clCreateContext(NULL, 1, &side->device, NULL, NULL, &error);
    cl_check(error, "context");
    side->queue = clCreateCommandQueue(side->context, side->device, 0, &error);
    cl_check(error, "queue");
    side->program = clCreateProgramWithSource(side->context, 1, &text, &length, &error);
    cl_check(error, "program");
    error = clBuildProgram(side->program, 1, &side->device, "", NULL, NULL);
    if (error != CL_SUCCESS) {
        char log[4096] = "";
        clGetProgramBuildInfo(side->program, side->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fprintf(stderr, "%s", log);
    }
    cl_check(error, "build");
    free(source);
}

static void set_arguments(struct side *side, const struct work *work, cl_kernel kernel)
{
    for (cl_uint i = 0; i < work->arguments; i++) {
        const struct argument *argument = &work->argument[i];
        cl_check(argument->host ? clSetKernelArg(kernel, i, sizeof(cl_mem), &side->memory[i])
                                : clSetKernelArg(kernel, i, sizeof(argument->number), &argument->number),
                 "argument");
    }
}

static void open_work(struct side *side, const struct work *work)
{
    cl_int error;

    for (cl_uint i = 0; i < work->arguments; i++) {
        if (work->argument[i].host) {
            side->memory[i] = clCreateBuffer(side->context, CL_MEM_READ_WRITE, work->argument[i].bytes, NULL, &error);
            cl_check(error, "buffer");
        }
    }
    for (cl_uint i = 0; i < work->launches; i++) {
        side->kernel[i] = clCreateKernel(side->program, work->launch[i].kernel, &error);
        cl_check(error, work->launch[i].kernel);
        set_arguments(side, work, side->kernel[i]);
    }
}

static void close_work(struct side *side, const struct work *work)
{
    for (cl_uint i = 0; i < work->launches; i++) {
        clReleaseKernel(side->kernel[i]);
    }
    for (cl_uint i = 0; i < work->arguments; i++) {
        if (work->argument[i].host) {
            clReleaseMemObject(side->memory[i]);
        }
    }
}

static void put_back(struct side *side, const struct work *work)
{
    for (cl_uint i = 0; i < work->arguments; i++) {
        const struct argument *argument = &work->argument[i];
        if (argument->host) {
            cl_check(clEnqueueWriteBuffer(side->queue, side->memory[i], CL_TRUE, 0, argument->bytes, argument->host, 0,
                                          NULL, NULL),
                     "write");
        }
    }
    cl_check(clFinish(side->queue), "finish");
}

/* Seconds of a run. */
static double run(struct side *side, const struct work *work)
{
    put_back(side, work);
    const double began = seconds_now();
    for (cl_int step = 0; step < PPU_MAX(work->steps, 1); step++) {
        for (cl_uint i = 0; i < work->launches; i++) {
            const struct launch *one = &work->launch[i];
            if (work->steps != 0) {
                cl_check(clSetKernelArg(side->kernel[i], work->arguments, sizeof(step), &step), "step");
            }
            cl_check(clEnqueueNDRangeKernel(side->queue, side->kernel[i], one->dimensions, NULL, one->global,
                                            one->local[0] != 0 ? one->local : NULL, 0, NULL, NULL),
                     one->kernel);
        }
    }
    cl_check(clFinish(side->queue), "finish");
    return seconds_now() - began;
}

/* ---- both ---- */

/* Where two results differ; `length`: nowhere. */
static size_t difference(const unsigned char *got, const unsigned char *other, size_t length, bool rounded)
{
    for (size_t at = 0; at < length; at += rounded ? sizeof(cl_float) : 1) {
        cl_float value = got[at], expected = other[at], within = 0;
        if (rounded) {
            memcpy(&value, got + at, sizeof(value));
            memcpy(&expected, other + at, sizeof(expected));
            within = MOST_ROUNDED * PPU_MAX(fabsf(expected), 1);
        }
        if (!(fabsf(value - expected) <= within)) {
            return at;
        }
    }
    return length;
}

static bool are_equal(struct side *sides, const struct work *work, const char *name)
{
    const bool rounded = is_rounded(name);
    bool equal = true;

    for (cl_uint i = 0; i < work->arguments; i++) {
        const size_t length = work->argument[i].bytes;
        unsigned char *got[SIDES];
        for (cl_uint side = 0; length != 0 && side < SIDES; side++) {
            got[side] = cl_allocate(length);
            cl_check(clEnqueueReadBuffer(sides[side].queue, sides[side].memory[i], CL_TRUE, 0, length, got[side], 0,
                                         NULL, NULL),
                     "read");
        }
        const size_t at = length != 0 ? difference(got[0], got[1], length, rounded) : 0;
        if (at != length) {
            fprintf(stderr, "set: %s: argument %u differs from byte %zu on\n", name, i, at);
            equal = false;
        }
        for (cl_uint side = 0; length != 0 && side < SIDES; side++) {
            free(got[side]);
        }
    }
    return equal;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool measure(struct side *sides, cl_uint kernel, cl_uint rounds, cl_uint runs, cl_uint small)
{
    double best[SIDES][MAX_ROUNDS];
    struct work work = { 0 };

    kernels[kernel].data(&work, small);
    for (cl_uint side = 0; side < SIDES; side++) {
        open_work(&sides[side], &work);
        run(&sides[side], &work); /* loads and warms */
    }
    for (cl_uint round = 0; round < rounds; round++) {
        for (cl_uint side = 0; side < SIDES; side++) {
            best[side][round] = run(&sides[side], &work);
            for (cl_uint i = 1; i < runs; i++) {
                best[side][round] = PPU_MIN(best[side][round], run(&sides[side], &work));
            }
        }
    }
    const bool equal = are_equal(sides, &work, kernels[kernel].name);
    for (cl_uint side = 0; side < SIDES; side++) {
        qsort(best[side], rounds, sizeof(best[side][0]), by_value);
        close_work(&sides[side], &work);
    }
    for (cl_uint i = 0; i < work.arguments; i++) {
        free(work.argument[i].host);
    }
    printf("%s %.9f %.9f\n", kernels[kernel].name, best[0][rounds / 2], best[1][rounds / 2]);
    fflush(stdout);
    return equal;
}

int main(int argc, char **argv)
{
    struct side sides[SIDES] = { 0 };
    cl_uint value[3] = { 0 }, done = 0;
    bool equal = true;

    for (int i = 0; i < 3 && (argc == 6 || argc == 7); i++) {
        value[i] = (cl_uint)strtoul(argv[3 + i], NULL, 10);
    }
    if (value[0] == 0 || value[0] > MAX_ROUNDS || value[1] == 0 || value[2] > 1) {
        fprintf(stderr, "usage: set PLATFORM PLATFORM ROUNDS RUNS SMALL [KERNEL]\n");
        return 2;
    }
    for (cl_uint side = 0; side < SIDES; side++) {
        open_side(&sides[side], argv[1 + side]);
    }
    for (cl_uint i = 0; i < PPU_ARRAY_SIZE(kernels); i++) {
        if (argc == 6 || strcmp(argv[6], kernels[i].name) == 0) {
            equal &= measure(sides, i, value[0], value[1], value[2] != 0 ? 4 : 1);
            done++;
        }
    }
    return equal && done != 0 ? 0 : 1;
}
