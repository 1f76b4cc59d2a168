/* SPDX-License-Identifier: MIT */
/*
 * Runs one kernel that reads and writes images on an OpenCL platform, whichever it is: images PLATFORM KERNEL RUNS. It
 * prints a line for each run: seconds, and a hash of the output. The first run is not printed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>

#include "ppu/macros.h"
#include "tests/bench/platform.h"

#define SIDE 1024u
#define TEXEL_BYTES 16u

static const char *const source =
    "constant sampler_t edge = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;\n"
    "constant sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;\n"
    "kernel void copy(read_only image2d_t from, write_only image2d_t to)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); write_imagef(to, p, read_imagef(from, edge, p)); }\n"
    "kernel void count(read_only image2d_t from, write_only image2d_t to)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
    "  write_imageui(to, p, read_imageui(from, edge, p) + 3); }\n"
    "kernel void blur(read_only image2d_t from, write_only image2d_t to)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1)); float4 sum = 0;\n"
    "  for (int y = -2; y <= 2; y++) { for (int x = -2; x <= 2; x++) {\n"
    "    sum += read_imagef(from, edge, p + (int2)(x, y)); } }\n"
    "  write_imagef(to, p, sum / 32.0f); }\n"
    "kernel void scale(read_only image2d_t from, write_only image2d_t to)\n"
    "{ int2 p = (int2)(get_global_id(0), get_global_id(1));\n"
    "  float2 at = (float2)(p.x + 0.25f, p.y + 0.75f) / (float2)(get_global_size(0) * 2, get_global_size(1) * 2);\n"
    "  write_imagef(to, p, read_imagef(from, linear, at)); }\n";

static const struct task {
    const char *name, *kernel;
    cl_image_format format;
} tasks[] = {
    { "copy", "copy", { CL_RGBA, CL_UNORM_INT8 } },   { "copy_float", "copy", { CL_RGBA, CL_FLOAT } },
    { "count", "count", { CL_R, CL_UNSIGNED_INT8 } }, { "blur", "blur", { CL_RGBA, CL_UNORM_INT8 } },
    { "scale", "scale", { CL_RGBA, CL_FLOAT } },
};

static const struct task *find_task(const char *name)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(tasks); i++) {
        if (strcmp(tasks[i].name, name) == 0) {
            return &tasks[i];
        }
    }
    cl_check(CL_INVALID_KERNEL_NAME, name);
    return NULL;
}

/* Small fractions of two as floats: every sum of a platform is exact. */
static void fill(uint8_t *texels, const struct task *task)
{
    for (uint32_t i = 0; i < SIDE * SIDE * TEXEL_BYTES / sizeof(float); i++) {
        float value = (float)(i * 7 % 1024) / 1024;
        if (task->format.image_channel_data_type == CL_FLOAT) {
            memcpy(texels + i * sizeof(value), &value, sizeof(value));
        } else {
            texels[i] = (uint8_t)(i * 37 >> 3);
        }
    }
}

static uint64_t hash(const uint8_t *bytes, size_t count)
{
    uint64_t sum = 0xcbf29ce484222325ull;

    for (size_t i = 0; i < count; i++) {
        sum = (sum ^ bytes[i]) * 0x100000001b3ull;
    }
    return sum;
}

struct run {
    cl_context context;
    cl_command_queue queue;
    cl_kernel kernel;
    cl_mem from, to;
};

static void prepare(struct run *run, cl_device_id device, const struct task *task, uint8_t *texels)
{
    const cl_image_desc desc = { .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = SIDE, .image_height = SIDE };
    cl_int error = CL_SUCCESS;

    run->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    cl_check(error, "context");
    run->queue = clCreateCommandQueue(run->context, device, 0, &error);
    cl_check(error, "queue");
    cl_program program = clCreateProgramWithSource(run->context, 1, (const char **)(uintptr_t)&source, NULL, &error);
    cl_check(error, "program");
    cl_check(clBuildProgram(program, 1, &device, "", NULL, NULL), "build");
    run->kernel = clCreateKernel(program, task->kernel, &error);
    cl_check(error, "kernel");
    run->from =
        clCreateImage(run->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &task->format, &desc, texels, &error);
    cl_check(error, "image");
    run->to = clCreateImage(run->context, CL_MEM_WRITE_ONLY, &task->format, &desc, NULL, &error);
    cl_check(error, "image");
    cl_check(clSetKernelArg(run->kernel, 0, sizeof(cl_mem), &run->from), "argument");
    cl_check(clSetKernelArg(run->kernel, 1, sizeof(cl_mem), &run->to), "argument");
}

int main(int argc, char **argv)
{
    static uint8_t texels[SIDE * SIDE * TEXEL_BYTES];
    const size_t global[2] = { SIDE, SIDE }, local[2] = { 128, 1 }, origin[3] = { 0, 0, 0 };
    const size_t region[3] = { SIDE, SIDE, 1 };
    struct run run;

    if (argc != 4) {
        fputs("usage: images PLATFORM KERNEL RUNS\n", stderr);
        return EXIT_FAILURE;
    }
    const struct task *task = find_task(argv[2]);
    fill(texels, task);
    prepare(&run, cl_find_device(argv[1]), task, texels);
    size_t texel = 0;
    cl_check(clGetImageInfo(run.to, CL_IMAGE_ELEMENT_SIZE, sizeof(texel), &texel, NULL), "size of a texel");
    for (int n = 0, runs = atoi(argv[3]); n <= runs; n++) {
        double begin = seconds_now();
        cl_check(clEnqueueNDRangeKernel(run.queue, run.kernel, 2, NULL, global, local, 0, NULL, NULL), "launch");
        cl_check(clFinish(run.queue), "finish");
        double seconds = seconds_now() - begin;
        cl_check(clEnqueueReadImage(run.queue, run.to, CL_TRUE, origin, region, 0, 0, texels, 0, NULL, NULL), "read");
        if (n > 0) {
            printf("%.9f %016llx\n", seconds, (unsigned long long)hash(texels, SIDE * SIDE * texel));
        }
    }
    return EXIT_SUCCESS;
}
