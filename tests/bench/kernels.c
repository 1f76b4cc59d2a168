/* SPDX-License-Identifier: MIT */
/*
 * Runs one kernel of tests/compiler/kernels/compare.cl on an OpenCL platform, whichever it is: kernels PLATFORM KERNEL
 * SIZE RUNS. It prints a line for each run: seconds, work items' inner iterations, a hash of the output, and warp
 * instructions (0 where a platform has none). The first run, which loads and warms, is not printed.
 */
#define CL_TARGET_OPENCL_VERSION 120

#include "opencl/api/cl_ppu.h"
#include "ppu/macros.h"
#include "tests/bench/platform.h"
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE "tests/compiler/kernels/compare.cl"
#define MAX_BUFFERS 4u
#define TURNS 256

struct buffer {
    cl_mem memory;
    void *host;
    size_t bytes;
};

struct run {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    cl_kernel kernel;
    struct buffer buffer[MAX_BUFFERS];
    cl_uint size;
    double items;    /* of a run */
    cl_uint output;  /* the buffer that is hashed */
    cl_uint written; /* buffers whose content is put back before a run, one bit each */
};

static void open_kernel(struct run *run, const char *name)
{
    cl_int error;
    FILE *file = fopen(SOURCE, "r");
    char *source = cl_allocate(65536);
    const char *text = source;

    cl_check(file ? CL_SUCCESS : CL_INVALID_VALUE, SOURCE);
    size_t bytes = fread(source, 1, 65535, file);
    fclose(file);
    run->context = clCreateContext(NULL, 1, &run->device, NULL, NULL, &error);
    cl_check(error, "context");
    run->queue = clCreateCommandQueue(run->context, run->device, 0, &error);
    cl_check(error, "queue");
    cl_program program = clCreateProgramWithSource(run->context, 1, &text, &bytes, &error);
    cl_check(error, "program");
    cl_check(clBuildProgram(program, 1, &run->device, "", NULL, NULL), "build");
    run->kernel = clCreateKernel(program, name, &error);
    cl_check(error, "kernel");
    free(source);
}

/* Argument `index` is a new buffer; its host copy is the caller's to fill in. */
static void *buffer(struct run *run, cl_uint index, cl_uint n, size_t bytes)
{
    cl_int error;
    struct buffer *b = &run->buffer[n];

    b->bytes = bytes;
    b->host = cl_allocate(bytes);
    b->memory = clCreateBuffer(run->context, CL_MEM_READ_WRITE, bytes, NULL, &error);
    cl_check(error, "buffer");
    cl_check(clSetKernelArg(run->kernel, index, sizeof(cl_mem), &b->memory), "argument");
    return b->host;
}

static void number(struct run *run, cl_uint index, cl_int value)
{
    cl_check(clSetKernelArg(run->kernel, index, sizeof(value), &value), "argument");
}

static void real(struct run *run, cl_uint index, cl_float value)
{
    cl_check(clSetKernelArg(run->kernel, index, sizeof(value), &value), "argument");
}

static cl_uint next(cl_uint *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* ---- the kernels: data, and one run ---- */

static void enqueue(struct run *run, cl_uint dimensions, size_t x, size_t y)
{
    const size_t global[] = { x, y };

    cl_check(clEnqueueNDRangeKernel(run->queue, run->kernel, dimensions, NULL, global, NULL, 0, NULL, NULL), "enqueue");
}

/* Numbers are small and whole: a fused multiplication and addition gives the same. */
static void saxpy_data(struct run *run)
{
    number(run, 0, (cl_int)run->size);
    real(run, 1, 2.0f);
    cl_float *x = buffer(run, 2, 0, run->size * sizeof(cl_float));
    cl_float *y = buffer(run, 3, 1, run->size * sizeof(cl_float));
    for (cl_uint i = 0; i < run->size; i++) {
        x[i] = (cl_float)(i % 1000);
        y[i] = (cl_float)(i % 777);
    }
    run->items = run->size;
    run->output = 1;
    run->written = 3;
}

static void sgemm_data(struct run *run)
{
    const cl_uint n = run->size;

    number(run, 0, (cl_int)n);
    cl_float *a = buffer(run, 1, 0, (size_t)n * n * sizeof(cl_float));
    cl_float *b = buffer(run, 2, 1, (size_t)n * n * sizeof(cl_float));
    buffer(run, 3, 2, (size_t)n * n * sizeof(cl_float));
    for (cl_uint i = 0; i < n * n; i++) {
        a[i] = (cl_float)(i % 17);
        b[i] = (cl_float)(i % 13);
    }
    run->items = (double)n * n * n;
    run->output = 2;
    run->written = 7;
}

static void mandelbrot_data(struct run *run)
{
    const cl_int n = (cl_int)run->size;

    buffer(run, 0, 0, (size_t)n * (size_t)n * sizeof(cl_int));
    number(run, 1, n);
    number(run, 2, n);
    real(run, 3, -2.0f);
    real(run, 4, -1.25f);
    real(run, 5, 2.5f / (cl_float)n);
    real(run, 6, 2.5f / (cl_float)n);
    number(run, 7, TURNS);
    run->output = 0;
    run->written = 1;
}

static void histogram_data(struct run *run)
{
    cl_uint state = 1;

    unsigned char *in = buffer(run, 0, 0, run->size);
    buffer(run, 1, 1, 256 * sizeof(cl_uint));
    number(run, 2, (cl_int)run->size);
    for (cl_uint i = 0; i < run->size; i++) {
        in[i] = (unsigned char)next(&state);
    }
    run->items = run->size;
    run->output = 1;
    run->written = 3;
}

static void bfs_data(struct run *run)
{
    const cl_uint nodes = run->size != 0 ? run->size : 1;
    cl_uint state = 1, count = 0;

    cl_int *first = buffer(run, 0, 0, (nodes + 1) * sizeof(cl_int));
    for (cl_uint i = 0; i < nodes; i++) {
        first[i] = (cl_int)count;
        count += next(&state) % 16;
    }
    first[nodes] = (cl_int)count;
    cl_int *edges = buffer(run, 1, 1, count * sizeof(cl_int));
    for (cl_uint i = 0; i < count; i++) {
        edges[i] = (cl_int)(next(&state) % nodes);
    }
    cl_int *level = buffer(run, 2, 2, nodes * sizeof(cl_int));
    memset(level, 0xff, nodes * sizeof(cl_int));
    for (cl_uint i = 0; i < 4; i++) {
        level[i] = 0;
    }
    buffer(run, 3, 3, sizeof(cl_int));
    number(run, 4, (cl_int)nodes);
    run->items = count;
    run->output = 2;
    run->written = 15;
}

static void one_line(struct run *run)
{
    enqueue(run, 1, run->size, 1);
}

static void one_square(struct run *run)
{
    enqueue(run, 2, run->size, run->size);
}

static void bfs_levels(struct run *run)
{
    cl_int changed = 1;

    for (cl_int now = 0; changed != 0; now++) {
        changed = 0;
        cl_check(clEnqueueWriteBuffer(run->queue, run->buffer[3].memory, CL_FALSE, 0, sizeof(changed), &changed, 0,
                                      NULL, NULL),
                 "write");
        number(run, 5, now);
        enqueue(run, 1, run->size, 1);
        cl_check(clEnqueueReadBuffer(run->queue, run->buffer[3].memory, CL_TRUE, 0, sizeof(changed), &changed, 0, NULL,
                                     NULL),
                 "read");
    }
}

static const struct {
    const char *name;
    void (*data)(struct run *run);
    void (*go)(struct run *run);
} kernels[] = {
    { "saxpy", saxpy_data, one_line },
    { "sgemm", sgemm_data, one_square },
    { "mandelbrot", mandelbrot_data, one_square },
    { "histogram", histogram_data, one_line },
    { "bfs", bfs_data, bfs_levels },
};

/* ---- measuring ---- */

static void put_back(const struct run *run)
{
    for (cl_uint i = 0; i < MAX_BUFFERS; i++) {
        if (run->written >> i & 1u) {
            const struct buffer *b = &run->buffer[i];
            cl_check(clEnqueueWriteBuffer(run->queue, b->memory, CL_TRUE, 0, b->bytes, b->host, 0, NULL, NULL),
                     "write");
        }
    }
    cl_check(clFinish(run->queue), "finish");
}

/* FNV-1a of the output; the turns of the Mandelbrot set are its items. */
static unsigned long long read_output(struct run *run)
{
    const struct buffer *b = &run->buffer[run->output];
    unsigned char *bytes = cl_allocate(b->bytes);
    unsigned long long hash = 0xcbf29ce484222325ull;
    double sum = 0;

    cl_check(clEnqueueReadBuffer(run->queue, b->memory, CL_TRUE, 0, b->bytes, bytes, 0, NULL, NULL), "read");
    for (size_t i = 0; i < b->bytes; i++) {
        hash = (hash ^ bytes[i]) * 0x100000001b3ull;
    }
    for (size_t i = 0; run->items == 0 && i < b->bytes / sizeof(cl_int); i++) {
        cl_int turns;
        memcpy(&turns, bytes + i * sizeof(turns), sizeof(turns));
        sum += turns;
    }
    run->items = run->items != 0 ? run->items : sum;
    free(bytes);
    return hash;
}

/* That the queue's kernels have executed so far; 0: the platform does not say. */
static cl_ulong warp_instructions(const struct run *run)
{
    cl_ulong count = 0;

    (void)clGetCommandQueueInfo(run->queue, CL_QUEUE_COUNTER_PPU(0), sizeof(count), &count, NULL);
    return count;
}

int main(int argc, char **argv)
{
    struct run run = { 0 };
    size_t found = PPU_ARRAY_SIZE(kernels);

    for (size_t i = 0; argc == 5 && i < PPU_ARRAY_SIZE(kernels); i++) {
        found = strcmp(argv[2], kernels[i].name) == 0 ? i : found;
    }
    if (found == PPU_ARRAY_SIZE(kernels)) {
        fprintf(stderr, "usage: kernels PLATFORM KERNEL SIZE RUNS\n");
        return 2;
    }
    run.device = cl_find_device(argv[1]);
    run.size = (cl_uint)strtoul(argv[3], NULL, 0);
    open_kernel(&run, argv[2]);
    kernels[found].data(&run);
    for (long i = 0; i <= strtol(argv[4], NULL, 0); i++) {
        cl_ulong before = warp_instructions(&run);
        put_back(&run);
        double began = seconds_now();
        kernels[found].go(&run);
        cl_check(clFinish(run.queue), "finish");
        double seconds = seconds_now() - began;
        unsigned long long hash = read_output(&run);
        if (i > 0) {
            printf("%.9f %.0f %016llx %llu\n", seconds, run.items, hash,
                   (unsigned long long)(warp_instructions(&run) - before));
        }
    }
    return 0;
}
