/* SPDX-License-Identifier: MIT */
/*
 * Ends its process while a thread of the ICD compiles. What libraries ask exit() to do comes through this program
 * (__cxa_atexit), which so knows how far LLVM is and what exit() will do first.
 *
 *     opencl-exit N     ends when LLVM asks for the N-th time, while it does; 0: when a variant of the kernel runs.
 *                       Prints how often LLVM asked, and how often after the ICD did for the last time.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>

#define N 1024u
#define HOLD_NS 300000000 /* longer than exit() takes to what LLVM asked for */
#define PATIENCE_S 30

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t reached = PTHREAD_COND_INITIALIZER;
static uint32_t asked, late, wanted;

static void note_llvm(void)
{
    const struct timespec hold_ns = { 0, HOLD_NS };

    pthread_mutex_lock(&lock);
    asked++;
    late++;
    bool hold = asked == wanted;
    pthread_cond_signal(&reached);
    pthread_mutex_unlock(&lock);
    if (hold) {
        nanosleep(&hold_ns, NULL);
    }
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library)
{
    int (*next)(void (*)(void *), void *, void *) = NULL;
    void *found = dlsym(RTLD_NEXT, "__cxa_atexit");
    Dl_info info;

    memcpy(&next, &found, sizeof(next));
    int status = next(function, argument, library);
    if (dladdr(__builtin_return_address(0), &info) == 0) {
        return status;
    }
    if (strstr(info.dli_fname, "libLLVM")) {
        note_llvm();
    } else if (library && dladdr(library, &info) != 0 && strstr(info.dli_fname, "libppu-opencl")) {
        pthread_mutex_lock(&lock);
        late = 0;
        pthread_mutex_unlock(&lock);
    }
    return status;
}

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, error);
        exit(1);
    }
}

static void run(cl_device_id device)
{
    const char *source = "kernel void add(global float *to, global const float *from)\n"
                         "{ size_t i = get_global_id(0); to[i] += sin(from[i]) * from[i]; }\n";
    const size_t global = N;
    cl_int error = CL_SUCCESS;

    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "clCreateContext");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "clCreateCommandQueueWithProperties");
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    check(error, "clCreateProgramWithSource");
    check(clBuildProgram(program, 0, NULL, "", NULL, NULL), "clBuildProgram");
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    check(error, "clCreateKernel");
    for (cl_uint i = 0; i < 2; i++) {
        cl_mem buffer = clCreateBuffer(context, 0, N * sizeof(float), NULL, &error);
        check(error, "clCreateBuffer");
        check(clSetKernelArg(kernel, i, sizeof(cl_mem), &buffer), "clSetKernelArg");
    }
    check(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL), "clEnqueueNDRangeKernel");
    check(clFinish(queue), "clFinish");
}

static int await(void)
{
    struct timespec until;
    int status = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    pthread_mutex_lock(&lock);
    while (asked < wanted && status == 0) {
        status = pthread_cond_timedwait(&reached, &lock, &until);
    }
    printf("%u %u\n", asked, late);
    pthread_mutex_unlock(&lock);
    return status;
}

int main(int argc, char **argv)
{
    cl_platform_id platform = NULL;
    cl_device_id device = NULL;

    wanted = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    check(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
    run(device);
    return await(); /* and nothing is released */
}
