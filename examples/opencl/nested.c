/* SPDX-License-Identifier: MIT */
/* Shows the second program of docs/tutorial.md: kernels that enqueue kernels, and wait for them. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define N 16

static const char *source =
    "kernel void square(global const float *in, global float *out, int from, int count)\n"
    "{\n"
    "    if (count <= 4) {\n"
    "        for (int i = from; i < from + count; i++)\n"
    "            out[i] = in[i] * in[i];\n"
    "        return;\n"
    "    }\n"
    "    queue_t queue = get_default_queue();\n"
    "    int left = count / 2;\n"
    "    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ square(in, out, from, left); });\n"
    "    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ square(in, out, from + left, count - left); });\n"
    "}\n"
    "kernel void sum(global float *numbers, int from, int count)\n"
    "{\n"
    "    if (count < 2)\n"
    "        return;\n"
    "    queue_t queue = get_default_queue();\n"
    "    int left = count / 2;\n"
    "    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ sum(numbers, from, left); });\n"
    "    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ sum(numbers, from + left, count - left); });\n"
    "    ppu_wait_children();\n"
    "    numbers[from] += numbers[from + left];\n"
    "}\n";

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

static cl_program build(cl_context context, cl_device_id device)
{
    cl_int error;
    char log[4000] = "";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    check(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fprintf(stderr, "%s", log);
        exit(1);
    }
    return program;
}

/* One work-item; whatever it needs more it enqueues by itself. */
static void launch(cl_command_queue queue, cl_kernel kernel)
{
    const size_t one = 1;

    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
}

static cl_kernel make_kernel(cl_program program, const char *name)
{
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    check(error, "clCreateKernel");
    return kernel;
}

static void run(cl_context context, cl_command_queue queue, cl_program program)
{
    cl_kernel square = make_kernel(program, "square"), sum = make_kernel(program, "sum");
    const cl_int from = 0, count = N;
    float in[N], out[N], total;
    cl_int error;

    for (int i = 0; i < N; i++) {
        in[i] = (float)i;
    }
    cl_mem numbers = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof(in), in, &error);
    check(error, "clCreateBuffer");
    cl_mem squares = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(out), NULL, &error);
    check(error, "clCreateBuffer");
    check(clSetKernelArg(square, 0, sizeof(numbers), &numbers), "clSetKernelArg");
    check(clSetKernelArg(square, 1, sizeof(squares), &squares), "clSetKernelArg");
    check(clSetKernelArg(square, 2, sizeof(from), &from), "clSetKernelArg");
    check(clSetKernelArg(square, 3, sizeof(count), &count), "clSetKernelArg");
    check(clSetKernelArg(sum, 0, sizeof(squares), &squares), "clSetKernelArg");
    check(clSetKernelArg(sum, 1, sizeof(from), &from), "clSetKernelArg");
    check(clSetKernelArg(sum, 2, sizeof(count), &count), "clSetKernelArg");
    launch(queue, square);
    check(clEnqueueReadBuffer(queue, squares, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), "clEnqueueReadBuffer");
    launch(queue, sum);
    check(clEnqueueReadBuffer(queue, squares, CL_TRUE, 0, sizeof(total), &total, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (int i = 0; i < N; i++) {
        printf("%g%c", (double)out[i], i + 1 < N ? ' ' : '\n');
    }
    printf("sum: %g\n", (double)total);
    clReleaseMemObject(numbers);
    clReleaseMemObject(squares);
    clReleaseKernel(square);
    clReleaseKernel(sum);
}

int main(void)
{
    const cl_queue_properties on_device[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_command_queue device_queue = clCreateCommandQueueWithProperties(context, device, on_device, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_program program = build(context, device);

    run(context, queue, program);
    clReleaseProgram(program);
    clReleaseCommandQueue(device_queue);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
