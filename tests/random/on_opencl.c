/* SPDX-License-Identifier: MIT */
/*
 * random-opencl SOURCE RESULTS OPTIONS [PLATFORM]: runs random programs by OpenCL's calls, on the platform whose name
 * holds that word (else the first), and compares what they compute with RESULTS. A line for each that differs; exit
 * status 1 when one does.
 */
#define CL_TARGET_OPENCL_VERSION 120

#include "ppu/macros.h"
#include "tests/random/launch.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLATFORMS 16u

struct site {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "random-opencl: %s: error %d\n", what, error);
        exit(EXIT_FAILURE);
    }
}

static cl_platform_id find_platform(const char *word)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    char name[128];

    check(clGetPlatformIDs(MAX_PLATFORMS, platforms, &count), "platforms");
    for (cl_uint i = 0; i < PPU_MIN(count, MAX_PLATFORMS); i++) {
        check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL), "name");
        if (strstr(name, word)) {
            return platforms[i];
        }
    }
    check(CL_DEVICE_NOT_FOUND, word);
    return NULL;
}

static void build(const struct site *site, const char *options)
{
    cl_int error = clBuildProgram(site->program, 1, &site->device, options, NULL, NULL);
    static char log[65536];

    if (error != CL_SUCCESS) {
        clGetProgramBuildInfo(site->program, site->device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fprintf(stderr, "%.*s\n", (int)sizeof(log), log);
        check(error, "build");
    }
}

static struct site open_site(const char *platform, const char *source, const char *options)
{
    struct site site;
    cl_int error;

    check(clGetDeviceIDs(find_platform(platform), CL_DEVICE_TYPE_ALL, 1, &site.device, NULL), "device");
    site.context = clCreateContext(NULL, 1, &site.device, NULL, NULL, &error);
    check(error, "context");
    site.queue = clCreateCommandQueue(site.context, site.device, 0, &error);
    check(error, "queue");
    site.program = clCreateProgramWithSource(site.context, 1, &source, NULL, &error);
    check(error, "program");
    build(&site, options);
    return site;
}

static cl_mem buffer(const struct site *site, cl_kernel kernel, cl_uint index, size_t bytes, void *content)
{
    cl_int error;
    cl_mem memory = clCreateBuffer(site->context, CL_MEM_COPY_HOST_PTR, bytes, content, &error);

    check(error, "buffer");
    check(clSetKernelArg(kernel, index, sizeof(cl_mem), &memory), "argument");
    return memory;
}

static void run(const struct site *site, const struct launch *launch, uint32_t *words)
{
    size_t global[] = { (size_t)launch->groups * launch->x, launch->y }, local[] = { launch->x, launch->y };
    size_t outputs = (size_t)launch->items * LAUNCH_RESULTS;
    uint32_t *in = calloc(launch->items, sizeof(*in));
    cl_int error;

    if (!in) {
        check(CL_OUT_OF_HOST_MEMORY, "input");
    }
    launch_input(launch, in);
    cl_kernel kernel = clCreateKernel(site->program, launch->name, &error);
    check(error, "kernel");
    cl_mem input = buffer(site, kernel, 0, launch->items * sizeof(*in), in);
    cl_mem out = buffer(site, kernel, 1, outputs * sizeof(*words), words);
    cl_mem sums = buffer(site, kernel, 2, LAUNCH_SUMS * sizeof(*words), words + outputs);
    check(clSetKernelArg(kernel, 3, sizeof(launch->uniform), &launch->uniform), "argument");
    check(clEnqueueNDRangeKernel(site->queue, kernel, 2, NULL, global, local, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(site->queue, out, CL_TRUE, 0, outputs * sizeof(*words), words, 0, NULL, NULL), "read");
    check(clEnqueueReadBuffer(site->queue, sums, CL_TRUE, 0, LAUNCH_SUMS * sizeof(*words), words + outputs, 0, NULL,
                              NULL),
          "read");
    clReleaseMemObject(input);
    clReleaseMemObject(out);
    clReleaseMemObject(sums);
    clReleaseKernel(kernel);
    free(in);
}

/* True when it computes what it shall. */
static int compare(const struct site *site, const struct launch *launch, const char *wanted)
{
    size_t count = launch_words(launch), first = 0;
    uint32_t *words = calloc(count, sizeof(*words)), expected = 0;

    if (!words) {
        check(CL_OUT_OF_HOST_MEMORY, "results");
    }
    run(site, launch, words);
    while (first < count && memcmp(words + first, wanted + first * 4, 4) == 0) {
        first++;
    }
    if (first < count) {
        memcpy(&expected, wanted + first * 4, 4);
        printf("%s: word %zu is 0x%x, on the host 0x%x\n", launch->name, first, words[first], expected);
    }
    free(words);
    return first == count;
}

int main(int argc, char **argv)
{
    int status = EXIT_SUCCESS;

    if (argc != 4 && argc != 5) {
        fputs("usage: random-opencl SOURCE RESULTS OPTIONS [PLATFORM]\n", stderr);
        return EXIT_FAILURE;
    }
    char *source = launch_read(argv[1]), *results = launch_read(argv[2]);
    const char *wanted = results;
    struct launches launches = launch_find(source);
    struct site site = open_site(argc == 5 ? argv[4] : "", source, argv[3]);
    for (uint32_t i = 0; i < launches.count; i++) {
        status = compare(&site, &launches.at[i], wanted) ? status : EXIT_FAILURE;
        wanted += launch_words(&launches.at[i]) * 4;
    }
    clReleaseProgram(site.program);
    clReleaseCommandQueue(site.queue);
    clReleaseContext(site.context);
    free(launches.at);
    free(source);
    free(results);
    return status;
}
