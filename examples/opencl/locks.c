/* SPDX-License-Identifier: MIT */
/* Shows the sixth program of docs/tutorial.md: work-items of one wave that wait for each other. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define ITEMS 1024
#define TURNS 4

static const char *source = "kernel void turns(global volatile int *lock, global int *sum)\n"
                            "{\n"
                            "    for (int turn = 0; turn < 4; turn++) {\n"
                            "        while (atomic_xchg(lock, 1) != 0)\n"
                            "            ;\n"
                            "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
                            "        *sum = *sum + 1;\n"
                            "        mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
                            "        atomic_xchg(lock, 0);\n"
                            "    }\n"
                            "}\n"
                            "kernel void undo(global volatile int *word, global int *ended)\n"
                            "{\n"
                            "    int mine = get_local_id(0) % 2;\n"
                            "    while (atomic_xchg(word, mine) != mine)\n"
                            "        ppu_yield();\n"
                            "    atomic_inc(ended);\n"
                            "}\n";

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

/* Runs a kernel whose arguments are two words; returns the second. */
static cl_int run(cl_context context, cl_command_queue queue, cl_program program, const char *name, size_t items)
{
    const cl_int zero = 0;
    cl_int error, answer = 0;
    cl_mem word[2];
    cl_kernel kernel = clCreateKernel(program, name, &error);

    check(error, "clCreateKernel");
    for (cl_uint i = 0; i < 2; i++) {
        word[i] = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(answer), NULL, &error);
        check(error, "clCreateBuffer");
        check(clEnqueueFillBuffer(queue, word[i], &zero, sizeof(zero), 0, sizeof(zero), 0, NULL, NULL),
              "clEnqueueFillBuffer");
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &word[i]), "clSetKernelArg");
    }
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, word[1], CL_TRUE, 0, sizeof(answer), &answer, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    clReleaseMemObject(word[0]);
    clReleaseMemObject(word[1]);
    clReleaseKernel(kernel);
    return answer;
}

int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;

    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "clGetDeviceIDs");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
    printf("turns with one lock: %d of %d\n", run(context, queue, program, "turns", ITEMS), ITEMS * TURNS);
    printf("work-items that undo each other: %d of 128 have ended\n", run(context, queue, program, "undo", 128));
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
