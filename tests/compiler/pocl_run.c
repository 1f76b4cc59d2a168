/* SPDX-License-Identifier: MIT */
/*
 * pocl_run SOURCE DATA UNIFORM: runs kernel `test` of an OpenCL C file on pocl, the processor's OpenCL. DATA holds the
 * input, one word a thread, and receives the output. A program of its own: pocl brings another LLVM.
 */
#define CL_TARGET_OPENCL_VERSION 120

#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLATFORMS 16u

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "pocl_run: %s: error %d\n", what, error);
        exit(EXIT_FAILURE);
    }
}

static cl_platform_id find_pocl(void)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint count = 0;
    char name[128];

    check(clGetPlatformIDs(MAX_PLATFORMS, platforms, &count), "platforms");
    for (cl_uint i = 0; i < count && i < MAX_PLATFORMS; i++) {
        check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL), "name");
        if (strstr(name, "Portable Computing Language")) {
            return platforms[i];
        }
    }
    check(CL_DEVICE_NOT_FOUND, "no pocl");
    return NULL;
}

static char *read_file(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long size;

    if (!file || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET) != 0 ||
        !(bytes = malloc((size_t)size + 1)) || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    bytes[size] = 0;
    *len = (size_t)size;
    return bytes;
}

static cl_kernel build(cl_context context, cl_device_id device, const char *source)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    check(error, "program");
    check(clBuildProgram(program, 1, &device, "-cl-std=CL1.2 -w", NULL, NULL), "build");
    cl_kernel kernel = clCreateKernel(program, "test", &error);
    check(error, "kernel");
    return kernel;
}

/* One work-item for each word of the data; `words` of results each, malloc()ed. */
static char *run(const char *source, char *data, size_t bytes, cl_uint uniform, size_t words)
{
    cl_platform_id platform = find_pocl();
    char *results = malloc(bytes * words + 1);
    cl_device_id device;
    cl_int error;
    size_t threads = bytes / sizeof(cl_uint), group = threads / 2;

    if (!results) {
        check(CL_OUT_OF_HOST_MEMORY, "results");
    }
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL), "device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
    check(error, "queue");
    cl_kernel kernel = build(context, device, source);
    cl_mem in = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, data, &error);
    check(error, "input");
    cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes * words, NULL, &error);
    check(error, "output");
    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &in), "argument");
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &out), "argument");
    check(clSetKernelArg(kernel, 2, sizeof(uniform), &uniform), "argument");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, &group, 0, NULL, NULL), "launch");
    check(clEnqueueReadBuffer(queue, out, CL_TRUE, 0, bytes * words, results, 0, NULL, NULL), "read");
    return results;
}

int main(int argc, char **argv)
{
    size_t source_len, bytes;

    if (argc != 5) {
        fputs("usage: pocl_run SOURCE DATA UNIFORM WORDS\n", stderr);
        return EXIT_FAILURE;
    }
    char *source = read_file(argv[1], &source_len), *data = read_file(argv[2], &bytes);
    size_t words = strtoul(argv[4], NULL, 0);
    char *results = run(source, data, bytes, (cl_uint)strtoul(argv[3], NULL, 0), words);
    FILE *file = fopen(argv[2], "wb");
    if (!file || fwrite(results, words, bytes, file) != bytes || fclose(file) != 0) {
        perror(argv[2]);
        return EXIT_FAILURE;
    }
    free(results);
    free(data);
    free(source);
    return EXIT_SUCCESS;
}
