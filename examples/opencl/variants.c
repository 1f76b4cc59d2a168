/* SPDX-License-Identifier: MIT */
/* Shows the fourth program of docs/tutorial.md: a kernel that is compiled once more for what is known of its launch. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS 64
#define EACH 40 /* elements of a work-item */
#define COUNT (ITEMS * EACH)
#define CL_EVENT_VARIANT_PPU 0x4f50 /* of opencl/api/cl_ppu.h */
#define CL_QUEUE_COUNTER_PPU(number) (0x4f60 + (number))

static const char *source = "kernel void smooth(global const float *in, global float *out, int n)\n"
                            "{\n"
                            "    int first = get_global_id(0) * n;\n"
                            "    for (int i = first; i < first + n; i++)\n"
                            "        out[i] = 0.5f * in[i] + 0.25f * in[i + 1];\n"
                            "}\n";

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

static cl_kernel make_kernel(cl_context context, cl_device_id device)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "smooth", &error);
    check(error, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
}

static cl_mem make_buffer(cl_context context)
{
    static float zeros[2 * COUNT];
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(zeros), zeros, &error);

    check(error, "clCreateBuffer");
    return buffer;
}

/* Warp instructions of the queue's kernels so far. */
static cl_ulong instructions(cl_command_queue queue)
{
    cl_ulong count = 0;

    check(clFinish(queue), "clFinish");
    check(clGetCommandQueueInfo(queue, CL_QUEUE_COUNTER_PPU(0), sizeof(count), &count, NULL), "clGetCommandQueueInfo");
    return count;
}

/* Runs the kernel and prints which variant of it ran; returns its instructions. */
static cl_ulong run(cl_command_queue queue, cl_kernel kernel, const char *what, cl_mem in, cl_mem out)
{
    const size_t items = ITEMS;
    const cl_int each = EACH;
    char variant[96];
    cl_event event;
    cl_ulong before = instructions(queue);

    check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &in), "clSetKernelArg");
    check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &out), "clSetKernelArg");
    check(clSetKernelArg(kernel, 2, sizeof(each), &each), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, &event), "clEnqueueNDRangeKernel");
    check(clWaitForEvents(1, &event), "clWaitForEvents");
    check(clGetEventInfo(event, CL_EVENT_VARIANT_PPU, sizeof(variant), variant, NULL), "clGetEventInfo");
    clReleaseEvent(event);
    printf("%-20s%s\n", what, variant);
    return instructions(queue) - before;
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    const cl_buffer_region behind = { 32 * sizeof(float), COUNT * sizeof(float) };

    setenv("PPU_ALIAS_WAIT", "always", 0); /* so that each run prints the same */
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_kernel kernel = make_kernel(context, device);
    cl_mem a = make_buffer(context), b = make_buffer(context);
    cl_mem part = clCreateSubBuffer(a, 0, CL_BUFFER_CREATE_TYPE_REGION, &behind, &error);
    check(error, "clCreateSubBuffer");
    cl_ulong base = run(queue, kernel, "in place:", a, a);
    cl_ulong apart = run(queue, kernel, "apart:", a, b);
    run(queue, kernel, "32 elements behind:", a, part);
    printf("apart: %.0f times fewer instructions than in place\n", (double)base / (double)apart);
    clReleaseMemObject(part);
    clReleaseMemObject(a);
    clReleaseMemObject(b);
    clReleaseKernel(kernel);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
