/* SPDX-License-Identifier: MIT */
/*
 * Runs kernels for the tests of the debuggers; it knows nothing of debuggers. `fault`: a kernel that reads where it
 * must not; `endless`: one that never ends unless somebody makes it; `turns`: lanes go two ways, and leave loops one by
 * one; `tree`: kernels that launch kernels and wait for them, of which the last never end unless somebody makes them.
 */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 128
#define GROUP 64

static const char *source = "int twice(int a)\n"                                          /* 1 */
                            "{\n"                                                         /* 2 */
                            "    int b = a + a;\n"                                        /* 3 */
                            "    return b;\n"                                             /* 4 */
                            "}\n"                                                         /* 5 */
                            "kernel void work(global int *out, int n, local int *part)\n" /* 6 */
                            "{\n"                                                         /* 7 */
                            "    int i = get_global_id(0), l = get_local_id(0);\n"        /* 8 */
                            "    part[l] = twice(i);\n"                                   /* 9 */
                            "    barrier(CLK_LOCAL_MEM_FENCE);\n"                         /* 10 */
                            "    int other = part[l ^ 1];\n"                              /* 11 */
                            "    if (l < 3)\n"                                            /* 12 */
                            "        other += n;\n"                                       /* 13 */
                            "    out[i] = other;\n"                                       /* 14 */
                            "}\n"                                                         /* 15 */
                            "kernel void fault(global int *out)\n"                        /* 16 */
                            "{\n"                                                         /* 17 */
                            "    global int *nowhere = (global int *)0x4000000000;\n"     /* 18 */
                            "    out[get_global_id(0)] = nowhere[get_global_id(0)];\n"    /* 19 */
                            "}\n"                                                         /* 20 */
                            "kernel void endless(global volatile int *out)\n"             /* 21 */
                            "{\n"                                                         /* 22 */
                            "    int turns = 0;\n"                                        /* 23 */
                            "    while (out[0] == 0)\n"                                   /* 24 */
                            "        turns++;\n"                                          /* 25 */
                            "    out[1] = turns;\n"                                       /* 26 */
                            "}\n"                                                         /* 27 */
                            "kernel void turns(global int *out)\n"                        /* 28 */
                            "{\n"                                                         /* 29 */
                            "    int i = get_global_id(0), all = 0;\n"                    /* 30 */
                            "    if (i % 2)\n"                                            /* 31 */
                            "        for (int k = 0; k < i; k++)\n"                       /* 32 */
                            "            all += k ^ all;\n"                               /* 33 */
                            "    else\n"                                                  /* 34 */
                            "        for (int k = i; k > 0; k--)\n"                       /* 35 */
                            "            all -= out[k] + k;\n"                            /* 36 */
                            "    out[i] = all;\n"                                         /* 37 */
                            "}\n"                                                         /* 38 */
                            "int __attribute__((noinline)) inner(int a)\n"                /* 39 */
                            "{\n"                                                         /* 40 */
                            "    int c = a * 3;\n"                                        /* 41 */
                            "    return c + 1;\n"                                         /* 42 */
                            "}\n"                                                         /* 43 */
                            "int __attribute__((noinline)) outer(int a, int k)\n"         /* 44 */
                            "{\n"                                                         /* 45 */
                            "    int d = inner(a + k);\n"                                 /* 46 */
                            "    d += 2;\n"                                               /* 47 */
                            "    return d;\n"                                             /* 48 */
                            "}\n"                                                         /* 49 */
                            "kernel void calls(global int *out)\n"                        /* 50 */
                            "{\n"                                                         /* 51 */
                            "    int i = get_global_id(0), all = 0;\n"                    /* 52 */
                            "    for (int k = 0; k < 3; k++)\n"                           /* 53 */
                            "        all += outer(i, k);\n"                               /* 54 */
                            "    out[i] = all;\n"                                         /* 55 */
                            "}\n"                                                         /* 56 */
                            "int __attribute__((noinline)) spill(int v)\n"                /* 57 */
                            "{\n"                                                         /* 58 */
                            "    volatile int a[2];\n"                                    /* 59 */
                            "    a[0] = v;\n"                                             /* 60 */
                            "    a[1] = v;\n"                                             /* 61 */
                            "    return a[0];\n"                                          /* 62 */
                            "}\n"                                                         /* 63 */
                            "kernel void smash(global int *out)\n"                        /* 64 */
                            "{\n"                                                         /* 65 */
                            "    out[0] = spill(out[0] - 1);\n"                           /* 66 */
                            "}\n";                                                        /* 67 */

static const char *tree_source =
    "kernel void tree(global volatile int *out, int level)\n"                                 /* 1 */
    "{\n"                                                                                     /* 2 */
    "    int turns = 0;\n"                                                                    /* 3 */
    "    for (int i = 0; i < 2 - level; i++)\n"                                               /* 4 */
    "        enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1),\n" /* 5 */
    "                       ^{ tree(out, level + 1); });\n"                                   /* 6 */
    "    if (level < 2)\n"                                                                    /* 7 */
    "        ppu_wait_children();\n"                                                          /* 8 */
    "    while (level == 2 && out[0] == 0)\n"                                                 /* 9 */
    "        turns++;\n"                                                                      /* 10 */
    "}\n";                                                                                    /* 11 */

static cl_context context;
static cl_command_queue queue, device_queue;
static cl_program program;
static cl_mem buffer;

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        printf("%s: error %d\n", what, error);
        exit(3);
    }
}

static void open_device(bool is_tree)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    const int zero[N] = { 0 };
    const cl_queue_properties on_device[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | CL_QUEUE_ON_DEVICE_DEFAULT, 0
    };

    check(clGetPlatformIDs(1, &platform, NULL), "platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL), "device");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "context");
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "queue");
    device_queue = is_tree ? clCreateCommandQueueWithProperties(context, device, on_device, &error) : NULL;
    check(error, "queue on the device");
    program = clCreateProgramWithSource(context, 1, is_tree ? &tree_source : &source, NULL, &error);
    check(error, "program");
    check(clBuildProgram(program, 1, &device, is_tree ? "-cl-std=CL3.0" : "", NULL, NULL), "build");
    buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(zero), (void *)(size_t)zero, &error);
    check(error, "buffer");
}

static void launch(const char *name, size_t threads)
{
    const size_t group = threads < GROUP ? threads : GROUP;
    const int n = 1000, level = 0;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);

    check(error, "kernel");
    check(clSetKernelArg(kernel, 0, sizeof(buffer), &buffer), "argument 0");
    if (strcmp(name, "work") == 0) {
        check(clSetKernelArg(kernel, 1, sizeof(n), &n), "argument 1");
        check(clSetKernelArg(kernel, 2, GROUP * sizeof(int), NULL), "argument 2");
    } else if (strcmp(name, "tree") == 0) {
        check(clSetKernelArg(kernel, 1, sizeof(level), &level), "argument 1");
    }
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, &group, 0, NULL, NULL), "launch");
    clReleaseKernel(kernel);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "work";
    int out[N] = { 0 }, wrong = 0;

    setvbuf(stdout, NULL, _IOLBF, 0);
    open_device(strcmp(name, "tree") == 0);
    launch(name, strcmp(name, "endless") == 0 || strcmp(name, "tree") == 0 ? 1 : N);
    check(clFlush(queue), "flush");
    if (strcmp(name, "endless") == 0) {
        puts("launched");
    }
    check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(out), out, 0, NULL, NULL), "read");
    for (int i = 0; strcmp(name, "work") == 0 && i < N; i++) {
        const int right = 2 * (i ^ 1) + (i % GROUP < 3 ? 1000 : 0);
        if (out[i] != right) {
            printf("out[%d] is %d in place of %d\n", i, out[i], right);
            wrong = 1;
        }
    }
    printf("done, %s\n", wrong ? "something is wrong" : "all is right");
    clReleaseMemObject(buffer);
    clReleaseProgram(program);
    if (device_queue) {
        clReleaseCommandQueue(device_queue);
    }
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return wrong;
}
