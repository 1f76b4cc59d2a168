/* SPDX-License-Identifier: MIT */
/* Shows the third program of docs/tutorial.md: a search in a graph whose kernels fill a work queue. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 1000
#define CL_QUEUE_WORK_QUEUE_PPU 0x4f51 /* of opencl/api/cl_ppu.h */

static const char *source =
    "kernel void visit(global int *level, global int *list, global int *count, int from, int now,\n"
    "                  queue_t work)\n"
    "{\n"
    "    int size = get_global_size(0), node = list[from + get_global_id(0)];\n"
    "    int next[2] = { node * 3 % 1000, (node + 7) % 1000 };\n"
    "    for (int i = 0; i < 2; i++)\n"
    "        if (atomic_cmpxchg(&level[next[i]], -1, now) == -1)\n"
    "            list[atomic_inc(&count[0])] = next[i];\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);\n"
    "    if (atomic_inc(&count[1]) + 1 < size)\n"
    "        return;\n"
    "    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);\n"
    "    int found = count[0] - from - size;\n"
    "    count[1] = 0;\n"
    "    if (found > 0)\n"
    "        enqueue_kernel(work, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(found),\n"
    "                       ^{ visit(level, list, count, from + size, now + 1, work); });\n"
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
    char log[4000] = "";
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    check(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        fprintf(stderr, "%s", log);
        exit(1);
    }
    cl_kernel kernel = clCreateKernel(program, "visit", &error);
    check(error, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
}

static cl_mem make_buffer(cl_context context, void *content, size_t bytes)
{
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, content, &error);

    check(error, "clCreateBuffer");
    return buffer;
}

/* How many nodes each level has. */
static void print(const cl_int *level)
{
    int nodes[NODES] = { 0 }, last = 0;

    for (int i = 0; i < NODES; i++) {
        if (level[i] >= 0 && level[i] < NODES) {
            nodes[level[i]]++;
            last = level[i] > last ? level[i] : last;
        }
    }
    printf("%d levels:", last + 1);
    for (int i = 0; i <= last; i++) {
        printf(" %d", nodes[i]);
    }
    printf("\n");
}

/* One command: node 0 is launched, the rest launches itself. */
static void run(cl_context context, cl_command_queue queue, cl_command_queue work, cl_kernel kernel)
{
    static cl_int level[NODES], list[NODES];
    cl_int count[2] = { 1, 0 };
    const cl_int from = 0, now = 1;
    const size_t one = 1;

    for (int i = 1; i < NODES; i++) {
        level[i] = -1;
    }
    cl_mem buffers[] = { make_buffer(context, level, sizeof(level)), make_buffer(context, list, sizeof(list)),
                         make_buffer(context, count, sizeof(count)) };
    for (cl_uint i = 0; i < 3; i++) {
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
    }
    check(clSetKernelArg(kernel, 3, sizeof(from), &from), "clSetKernelArg");
    check(clSetKernelArg(kernel, 4, sizeof(now), &now), "clSetKernelArg");
    check(clSetKernelArg(kernel, 5, sizeof(work), &work), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue, buffers[0], CL_TRUE, 0, sizeof(level), level, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    print(level);
    for (int i = 0; i < 3; i++) {
        clReleaseMemObject(buffers[i]);
    }
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
    const cl_queue_properties filled_by[] = { CL_QUEUE_PROPERTIES,
                                              CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
                                              CL_QUEUE_WORK_QUEUE_PPU, (cl_queue_properties)queue, 0 };
    cl_command_queue work = clCreateCommandQueueWithProperties(context, device, filled_by, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_kernel kernel = make_kernel(context, device);

    run(context, queue, work, kernel);
    clReleaseKernel(kernel);
    clReleaseCommandQueue(work);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
