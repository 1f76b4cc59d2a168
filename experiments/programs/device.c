/* SPDX-License-Identifier: MIT */
#include "experiments/programs/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/admin.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

void give_up(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

void need(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        give_up("%s: error %d", what, error);
    }
}

uint32_t number_of(const char *text, const char *name, uint32_t least, uint32_t most)
{
    char *end = NULL;
    unsigned long number = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || number < least || number > most) {
        give_up("%s is '%s': expected a number from %u to %u", name, text, least, most);
    }
    return (uint32_t)number;
}

struct device device_open(void)
{
    const cl_queue_properties profiled[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0 };
    struct device device = { .id = NULL };
    cl_platform_id platform;
    cl_int error;

    need(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    need(clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device.id, NULL), "clGetDeviceIDs");
    device.context = clCreateContext(NULL, 1, &device.id, NULL, NULL, &error);
    need(error, "clCreateContext");
    device.queue = clCreateCommandQueueWithProperties(device.context, device.id, profiled, &error);
    need(error, "clCreateCommandQueueWithProperties");
    return device;
}

static const struct {
    const char *name;
    uint32_t number, least, most;
} policies[] = {
#define PPU_POLICY(name, number, least, most, ...) { #name, number, least, most },
#include "ppu/policy.def"
#undef PPU_POLICY
};

void device_set_policy(const struct device *device, const char *text)
{
    const size_t name_len = strcspn(text, "=");
    cl_platform_id platform;

    need(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
    const clSetDevicePolicyPPU_fn set =
        (clSetDevicePolicyPPU_fn)clGetExtensionFunctionAddressForPlatform(platform, "clSetDevicePolicyPPU");
    for (size_t i = 0; i < PPU_ARRAY_SIZE(policies); i++) {
        if (text[name_len] == '=' && strlen(policies[i].name) == name_len &&
            strncmp(policies[i].name, text, name_len) == 0) {
            const uint32_t value =
                number_of(text + name_len + 1, policies[i].name, policies[i].least, policies[i].most);
            need(set(device->id, policies[i].number, value), "clSetDevicePolicyPPU");
            return;
        }
    }
    give_up("'%s' is no policy and its value", text);
}

cl_kernel device_kernel(const struct device *device, const char *source, const char *options, const char *name)
{
    char log[4000] = "";
    cl_int error;
    cl_program program = clCreateProgramWithSource(device->context, 1, &source, NULL, &error);

    need(error, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device->id, options, NULL, NULL) != CL_SUCCESS) {
        clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof(log), log, NULL);
        give_up("clBuildProgram: %s", log);
    }
    cl_kernel kernel = clCreateKernel(program, name, &error);
    need(error, "clCreateKernel");
    need(clReleaseProgram(program), "clReleaseProgram");
    return kernel;
}

cl_mem device_buffer(const struct device *device, size_t bytes, void *host)
{
    cl_int error;
    cl_mem buffer =
        clCreateBuffer(device->context, host ? CL_MEM_COPY_HOST_PTR : CL_MEM_READ_WRITE, bytes, host, &error);

    need(error, "clCreateBuffer");
    return buffer;
}

uint64_t device_run_ns(const struct device *device, cl_kernel kernel, size_t global, size_t local)
{
    cl_ulong begun_ns = 0, ended_ns = 0;
    cl_event event;

    need(clEnqueueNDRangeKernel(device->queue, kernel, 1, NULL, &global, &local, 0, NULL, &event),
         "clEnqueueNDRangeKernel");
    need(clWaitForEvents(1, &event), "clWaitForEvents");
    need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(begun_ns), &begun_ns, NULL), "start");
    need(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_COMPLETE, sizeof(ended_ns), &ended_ns, NULL), "end");
    need(clReleaseEvent(event), "clReleaseEvent");
    return ended_ns - begun_ns;
}

void device_read(const struct device *device, cl_mem buffer, void *to, size_t bytes)
{
    need(clEnqueueReadBuffer(device->queue, buffer, CL_TRUE, 0, bytes, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}
