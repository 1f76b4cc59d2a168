/* SPDX-License-Identifier: MIT */
#include "tests/bench/platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ppu/macros.h"

#define MAX_PLATFORMS 16u

void cl_check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: %s: error %d\n", program_invocation_short_name, what, error);
        exit(EXIT_FAILURE);
    }
}

void *cl_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes + 1);

    cl_check(memory ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "memory");
    return memory;
}

cl_device_id cl_find_device(const char *platform)
{
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_device_id device = NULL;
    cl_uint count = 0;
    char name[256];

    cl_check(clGetPlatformIDs(MAX_PLATFORMS, platforms, &count), "platforms");
    for (cl_uint i = 0; i < PPU_MIN(count, MAX_PLATFORMS) && !device; i++) {
        cl_check(clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof(name), name, NULL), "name");
        if (strstr(name, platform)) {
            cl_check(clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &device, NULL), "device");
        }
    }
    cl_check(device ? CL_SUCCESS : CL_DEVICE_NOT_FOUND, platform);
    return device;
}

double seconds_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}
