/* SPDX-License-Identifier: MIT */
/* Tests kernels of a project that knows nothing of PPUs: each test is a line, and a wrong one fails the program. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define N 1000

static const char *source = "kernel void add(global const int *a, global const int *b, global int *c)\n"
                            "{ size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
                            "kernel void scale(global const int *a, global const int *b, global int *c)\n"
                            "{ size_t i = get_global_id(0); c[i] = a[i] * b[0]; }\n"
                            "kernel void reverse(global const int *a, global const int *b, global int *c)\n"
                            "{ size_t i = get_global_id(0); c[get_global_size(0) - 1 - i] = a[i]; }\n";

static cl_context context;
static cl_command_queue queue;
static cl_program program;
static int a[N], b[N], c[N];

static void need(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

static void begin(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    need(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    need(error, "clCreateContext");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    need(error, "clCreateCommandQueueWithProperties");
    program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    need(error, "clCreateProgramWithSource");
    need(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
}

static void run(const char *name)
{
    const size_t items = N;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    cl_mem buffers[3];

    need(error, "clCreateKernel");
    int *const host[3] = { a, b, c };
    for (cl_uint i = 0; i < 3; i++) {
        buffers[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(a), host[i], &error);
        need(error, "clCreateBuffer");
        need(clSetKernelArg(kernel, i, sizeof(buffers[i]), &buffers[i]), "clSetKernelArg");
    }
    need(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    need(clEnqueueReadBuffer(queue, buffers[2], CL_TRUE, 0, sizeof(c), c, 0, NULL, NULL), "clEnqueueReadBuffer");
    for (int i = 0; i < 3; i++) {
        clReleaseMemObject(buffers[i]);
    }
    clReleaseKernel(kernel);
}

static int test(const char *name, int expected(int i))
{
    int right = 1;

    run(name);
    for (int i = 0; i < N; i++) {
        right = right && c[i] == expected(i);
    }
    printf("%s %s\n", right ? "ok" : "FAILED", name);
    return right;
}

static int sum(int i)
{
    return a[i] + b[i];
}

static int scaled(int i)
{
    return a[i] * b[0];
}

static int mirrored(int i)
{
    return a[N - 1 - i];
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        a[i] = i * i - 7 * i;
        b[i] = 3 - i;
    }
    begin();
    int right = test("add", sum);
    right = test("scale", scaled) && right;
    right = test("reverse", mirrored) && right;
    return right ? 0 : 1;
}
