/* SPDX-License-Identifier: MIT */
/* Shows the first program of docs/tutorial.md: nothing in it knows of PPUs but the platform's name. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 16

static const char *source = "kernel void square(global const float *in, global float *out)\n"
                            "{\n"
                            "    size_t i = get_global_id(0);\n"
                            "    out[i] = in[i] * in[i];\n"
                            "    if (i == 3)\n"
                            "        printf(\"work-item %u of %u says hello\\n\", (uint)i, (uint)get_global_size(0));\n"
                            "}\n";

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

/* The platform of the PPU, of several that there may be; OCL_ICD_VENDORS says which the system has. */
static cl_platform_id find_platform(void)
{
    cl_platform_id platforms[16];
    cl_uint count = 0;
    char name[100];

    if (clGetPlatformIDs(16, platforms, &count) != CL_SUCCESS) {
        count = 0;
    }
    for (cl_uint i = 0; i < count && i < 16; i++) {
        if (clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL) == CL_SUCCESS &&
            strcmp(name, "PPU") == 0) {
            return platforms[i];
        }
    }
    fprintf(stderr,
            "find the platform PPU: none of %u is called so; in a checkout, "
            "OCL_ICD_VENDORS=$PWD/build/opencl/ppu.icd registers it\n",
            count);
    exit(1);
}

static cl_program build(cl_context context, cl_device_id device)
{
    cl_int error;
    char log[4000] = "";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    check(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fprintf(stderr, "%s", log);
        exit(1);
    }
    return program;
}

int main(void)
{
    cl_device_id device;
    cl_int error;
    char name[100];
    float in[N], out[N];
    const size_t global = N;

    check(clGetDeviceIDs(find_platform(), CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    check(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, NULL), "clGetDeviceInfo");
    printf("device: %s\n", name);

    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_program program = build(context, device);
    cl_kernel kernel = clCreateKernel(program, "square", &error);
    check(error, "clCreateKernel");

    for (int i = 0; i < N; i++) {
        in[i] = (float)i;
    }
    cl_mem from = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(in), in, &error);
    check(error, "clCreateBuffer");
    cl_mem to = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof(out), NULL, &error);
    check(error, "clCreateBuffer");
    check(clSetKernelArg(kernel, 0, sizeof(from), &from), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof(to), &to), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, to, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (int i = 0; i < N; i++) {
        printf("%g%c", (double)out[i], i + 1 < N ? ' ' : '\n');
    }

    clReleaseMemObject(from);
    clReleaseMemObject(to);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
