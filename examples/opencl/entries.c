/* SPDX-License-Identifier: MIT */
/* Shows a program of docs/tutorial.md: a kernel with a work-group for each entry that work-groups append. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

#define NUMBERS 65536
#define LOCAL 64
#define CELLS 2048 /* at most NUMBERS / LOCAL entries are in the queue at once */

/* opencl/api/cl_ppu.h has these too. */
#define CL_QUEUE_TASK_BYTES_PPU 0x4f56
#define CL_QUEUE_TASK_ENTRIES_PPU 0x4f57
typedef cl_int(CL_API_CALL *clEnqueueTaskQueuePPU_fn)(cl_command_queue queue, cl_command_queue tasks, cl_kernel kernel,
                                                      cl_uint dim, const size_t *local, cl_uint count,
                                                      const cl_event *events, cl_event *out);
typedef cl_int(CL_API_CALL *clPushTaskQueuePPU_fn)(cl_command_queue tasks, const void *data, size_t bytes);

static const char *source = "kernel void part(global int *found, queue_t tasks)\n"
                            "{\n"
                            "    global const int *entry = ppu_entry_data(tasks);\n"
                            "    int first = entry[0], size = entry[1], id = get_local_id(0);\n"
                            "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                            "    if (id == 0)\n"
                            "        ppu_free_entry(tasks);\n"
                            "    if (size > get_local_size(0)) {\n"
                            "        int next[2] = { first + id * size / 2, size / 2 };\n"
                            "        if (id < 2)\n"
                            "            ppu_push_entry(tasks, next, sizeof(next));\n"
                            "        return;\n"
                            "    }\n"
                            "    int number = first + id, divisor = 2;\n"
                            "    while (divisor * divisor <= number && number % divisor != 0)\n"
                            "        divisor++;\n"
                            "    if (number > 1 && divisor * divisor > number)\n"
                            "        atomic_inc(&found[0]);\n"
                            "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                            "    if (id == 0 && atomic_add(&found[1], size) + size == 65536)\n"
                            "        ppu_close_entries(tasks);\n"
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
    cl_kernel kernel = clCreateKernel(program, "part", &error);
    check(error, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
}

static void *find(cl_platform_id platform, const char *name)
{
    void *function = clGetExtensionFunctionAddressForPlatform(platform, name);

    check(function ? CL_SUCCESS : CL_INVALID_OPERATION, name);
    return function;
}

/*
 * The host appends one entry, and the command ends when all that came of it has been taken. Then a second command opens
 * the queue again.
 */
static void run(cl_platform_id platform, cl_context context, cl_command_queue queue, cl_command_queue tasks,
                cl_kernel kernel)
{
    const clEnqueueTaskQueuePPU_fn enqueue = (clEnqueueTaskQueuePPU_fn)find(platform, "clEnqueueTaskQueuePPU");
    const clPushTaskQueuePPU_fn push = (clPushTaskQueuePPU_fn)find(platform, "clPushTaskQueuePPU");
    const cl_int all[] = { 0, NUMBERS };
    const size_t local = LOCAL;

    for (int round = 1; round <= 2; round++) {
        cl_int error, found[2] = { 0, 0 };
        cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(found), found, &error);
        check(error, "clCreateBuffer");
        check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &buffer), "clSetKernelArg");
        check(clSetKernelArg(kernel, 1, sizeof(tasks), &tasks), "clSetKernelArg");
        check(enqueue(queue, tasks, kernel, 1, &local, 0, NULL, NULL), "clEnqueueTaskQueuePPU");
        check(push(tasks, all, sizeof(all)), "clPushTaskQueuePPU");
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(found), found, 0, NULL, NULL),
              "clEnqueueReadBuffer");
        printf("round %d: %d primes below %d\n", round, found[0], found[1]);
        clReleaseMemObject(buffer);
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
    const cl_queue_properties ring[] = { CL_QUEUE_PROPERTIES,
                                         CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
                                         CL_QUEUE_TASK_BYTES_PPU,
                                         2 * sizeof(cl_int),
                                         CL_QUEUE_TASK_ENTRIES_PPU,
                                         CELLS,
                                         0 };
    cl_command_queue tasks = clCreateCommandQueueWithProperties(context, device, ring, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_kernel kernel = make_kernel(context, device);

    run(platform, context, queue, tasks, kernel);
    clReleaseKernel(kernel);
    clReleaseCommandQueue(tasks);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
