/* SPDX-License-Identifier: MIT */
/* Shows the fifth program of docs/tutorial.md: a kernel of which more waves are on the SMs at once. */
#define _POSIX_C_SOURCE 200809L /* setenv */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS 256
#define ITEMS 128 /* of a work-group, and of a wave */
#define COUNT (GROUPS * ITEMS)
#define ROWS (1 << 21)
#define NEAR 1   /* words from a work-item's to the next one's */
#define FAR 4099 /* the same, where each has lines of its own */

#define CL_KERNEL_RESIDENT_WORK_GROUPS_PPU 0x4f5a /* opencl/api/cl_ppu.h */

static const char *source = "#define N 90\n"
                            "kernel void mix(global const uint *in, global volatile int *count, global uint *out,\n"
                            "                uint first, uint step, int room)\n"
                            "{\n"
                            "    int most = 0;\n"
                            "    int counted = get_local_id(0) == 0 && get_group_id(0) >= first;\n"
                            "    if (counted) {\n"
                            "        atomic_max(&count[1], atomic_inc(&count[0]) + 1);\n"
                            "        int looks = 0;\n"
                            "        while (looks++ < (most < room ? 1000000 : 20000) && !count[2])\n"
                            "            if (count[1] != most) {\n"
                            "                most = count[1];\n"
                            "                looks = 0;\n"
                            "            }\n"
                            "        count[2] = 1;\n"
                            "    }\n"
                            "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                            "    uint i = get_global_id(0), v[N], sum = 0;\n"
                            "    #pragma unroll\n"
                            "    for (int n = 0; n < N; n++)\n"
                            "        v[n] = in[(i * step + n * 32) % (1 << 21)];\n"
                            "    #pragma unroll\n"
                            "    for (int n = 0; n < N; n++)\n"
                            "        v[n] += rotate(v[(n * 37 + 11) % N], 5u) ^ v[N - 1 - n];\n"
                            "    #pragma unroll\n"
                            "    for (int n = 0; n < N; n++)\n"
                            "        sum = sum * 31 + v[n];\n"
                            "    out[i] = sum;\n"
                            "    if (counted)\n"
                            "        atomic_dec(&count[0]);\n"
                            "}\n";

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

static cl_kernel make_kernel(cl_context context, cl_device_id device, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);

    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 1, &device, options, NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "mix", &error);
    check(error, "clCreateKernel");
    clReleaseProgram(program);
    return kernel;
}

static cl_mem make_buffer(cl_context context, size_t bytes, void *content)
{
    cl_int error;
    cl_mem_flags copy = content ? CL_MEM_COPY_HOST_PTR : 0;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE | copy, bytes, content, &error);

    check(error, "clCreateBuffer");
    return buffer;
}

struct machine {
    cl_context context;
    cl_command_queue queue;
    cl_device_id device;
};

/* How many groups of the kernel, which are a wave each, there is room for at once when no wave shares registers. */
static cl_int room_for(const struct machine *on, cl_kernel kernel)
{
    const size_t group = ITEMS;
    size_t groups = 0;

    check(clGetKernelSubGroupInfo(kernel, on->device, CL_KERNEL_RESIDENT_WORK_GROUPS_PPU, sizeof(group), &group,
                                  sizeof(groups), &groups, NULL),
          "clGetKernelSubGroupInfo");
    return (cl_int)groups;
}

/*
 * Runs the kernel as the options compile it; returns how many waves, from group `first` on, were on SMs at once. They
 * wait until there are so many tenths of those that there is room for: who waits for less may be gone before the
 * others.
 */
static cl_int run(const struct machine *on, const char *options, cl_uint first, cl_uint step, cl_int tenths,
                  cl_uint *out)
{
    static cl_uint in[ROWS];
    const size_t items = COUNT, group = ITEMS;
    cl_int count[3] = { 0 };
    cl_kernel kernel = make_kernel(on->context, on->device, options);

    for (cl_uint i = 0; i < ROWS; i++) {
        in[i] = i * 0x9e3779b1u;
    }
    cl_mem buffers[] = { make_buffer(on->context, sizeof(in), in), make_buffer(on->context, sizeof(count), count),
                         make_buffer(on->context, COUNT * sizeof(cl_uint), NULL) };
    for (cl_uint i = 0; i < 3; i++) {
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffers[i]), "clSetKernelArg");
    }
    check(clSetKernelArg(kernel, 3, sizeof(first), &first), "clSetKernelArg");
    check(clSetKernelArg(kernel, 4, sizeof(step), &step), "clSetKernelArg");
    const cl_int room = (room_for(on, kernel) * tenths + 9) / 10;
    check(clSetKernelArg(kernel, 5, sizeof(room), &room), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(on->queue, kernel, 1, NULL, &items, &group, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(on->queue, buffers[1], CL_TRUE, 0, sizeof(count), count, 0, NULL, NULL), "read counts");
    check(clEnqueueReadBuffer(on->queue, buffers[2], CL_TRUE, 0, COUNT * sizeof(cl_uint), out, 0, NULL, NULL),
          "read results");
    for (cl_uint i = 0; i < 3; i++) {
        clReleaseMemObject(buffers[i]);
    }
    clReleaseKernel(kernel);
    return count[1];
}

int main(void)
{
    static cl_uint whole[COUNT], parted[COUNT], near[COUNT], spread[COUNT], far[COUNT];
    cl_platform_id platform;
    struct machine on;
    cl_int error;

    /* Compiled again for its launches, the kernel loads values again, and all work-items need few registers. */
    setenv("PPU_ALIAS", "off", 0);
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &on.device, NULL), "clGetDeviceIDs");
    on.context = clCreateContext(NULL, 1, &on.device, NULL, NULL, &error);
    check(error, "clCreateContext");
    on.queue = clCreateCommandQueueWithProperties(on.context, on.device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_int few = run(&on, "-cl-ppu-segments=off", 0, NEAR, 10, whole);
    cl_int many = run(&on, "", 0, NEAR, 10, parted);
    printf("waves at once: %d when all work-items have registers\n", few);
    printf("waves at once: %d when the parts of a wave take turns, %.1f times as many\n", many, (double)many / few);
    cl_int hit = run(&on, "-cl-ppu-segments=may", GROUPS / 2, NEAR, 10, near);
    run(&on, "-cl-ppu-segments=off", 0, FAR, 10, spread);
    cl_int miss = run(&on, "-cl-ppu-segments=may", GROUPS / 2, FAR, 13, far);
    printf("the machine's choice: %d where they find their data in the cache\n", hit);
    printf("the machine's choice: 1.3 times as many or more where they do not: %s\n",
           miss * 10 >= hit * 13 ? "yes" : "NO");
    bool same = memcmp(whole, parted, sizeof(whole)) == 0 && memcmp(whole, near, sizeof(whole)) == 0 &&
                memcmp(spread, far, sizeof(far)) == 0;
    printf("results: %s\n", same ? "the same" : "DIFFERENT");
    clReleaseCommandQueue(on.queue);
    clReleaseContext(on.context);
    return 0;
}
