/* SPDX-License-Identifier: MIT */
/*
 * Cuts the same work into pieces of GRAIN work-items, each of them a grid of its own. usage: study-grain HOW GRAIN
 *
 * HOW says who makes the grids: the work-items of a kernel, as its children (nested) or by a work queue (queue); or the
 * host, by an enqueue each (host).
 */
#include "experiments/programs/device.h"

#include <stdio.h>
#include <string.h>

#include "opencl/api/cl_ppu.h"

#define ITEMS 8192u
#define STEPS 512u
#define LEAST_GRAIN 8u
#define GROUP 32u

static const char *const source =
    "void work(global uint *out, uint i)\n"
    "{\n"
    "    uint x = i;\n"
    "    for (int step = 0; step < STEPS; step++)\n"
    "        x = x * 1664525u + 1013904223u;\n"
    "    out[i] += x;\n"
    "}\n"
    "kernel void nested(global uint *out, uint grain)\n"
    "{\n"
    "    uint first = get_global_id(0) * grain;\n"
    "    if (enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(grain),\n"
    "                       ^{ work(out, first + get_global_id(0)); }) != 0)\n"
    "        out[first] = 0;\n"
    "}\n"
    "kernel void queue(global uint *out, uint grain, queue_t pieces)\n"
    "{\n"
    "    uint first = get_global_id(0) * grain;\n"
    "    if (enqueue_kernel(pieces, PPU_ENQUEUE_FLAGS_WORK, ndrange_1D(grain),\n"
    "                       ^{ work(out, first + get_global_id(0)); }) != 0)\n"
    "        out[first] = 0;\n"
    "}\n"
    "kernel void host(global uint *out, uint first) { work(out, first + get_global_id(0)); }\n";

static uint32_t expected(uint32_t x)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        x = x * 1664525u + 1013904223u;
    }
    return x;
}

static cl_command_queue device_queue(const struct device *device, cl_queue_properties more, cl_queue_properties key,
                                     cl_queue_properties value)
{
    const cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES,
                                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE | more,
                                           key,
                                           value,
                                           key != 0 ? CL_QUEUE_WORK_ENTRIES_PPU : 0,
                                           4 * ITEMS / LEAST_GRAIN,
                                           0 };
    cl_int error;
    cl_command_queue queue = clCreateCommandQueueWithProperties(device->context, device->id, wanted, &error);

    need(error, "clCreateCommandQueueWithProperties");
    return queue;
}

static uint64_t by_threads(const struct device *device, cl_kernel kernel, uint32_t grain)
{
    const uint32_t pieces = ITEMS / grain;

    need(clSetKernelArg(kernel, 1, sizeof(grain), &grain), "clSetKernelArg");
    return device_run_ns(device, kernel, pieces, pieces < GROUP ? pieces : GROUP);
}

static uint64_t by_host(const struct device *device, cl_kernel kernel, uint32_t grain)
{
    uint64_t took_ns = 0;

    for (uint32_t first = 0; first < ITEMS; first += grain) {
        need(clSetKernelArg(kernel, 1, sizeof(first), &first), "clSetKernelArg");
        took_ns += device_run_ns(device, kernel, grain, grain < 1024 ? grain : 1024);
    }
    return took_ns;
}

int main(int argc, char **argv)
{
    static uint32_t out[ITEMS];

    if (argc != 3 ||
        (strcmp(argv[1], "nested") != 0 && strcmp(argv[1], "queue") != 0 && strcmp(argv[1], "host") != 0)) {
        give_up("usage: study-grain nested|queue|host GRAIN");
    }
    const uint32_t grain = number_of(argv[2], "GRAIN", LEAST_GRAIN, ITEMS);
    char options[64];
    snprintf(options, sizeof(options), "-cl-std=CL3.0 -DSTEPS=%u", STEPS);
    const struct device device = device_open();
    cl_kernel kernel = device_kernel(&device, source, options, argv[1]);
    cl_mem results = device_buffer(&device, sizeof(out), out);
    if (ITEMS % grain != 0) {
        give_up("GRAIN %u does not divide %u", grain, ITEMS);
    }
    need(clSetKernelArg(kernel, 0, sizeof(cl_mem), &results), "clSetKernelArg");
    device_queue(&device, CL_QUEUE_ON_DEVICE_DEFAULT, 0, 0);
    if (strcmp(argv[1], "queue") == 0) {
        cl_command_queue queue = device_queue(&device, 0, CL_QUEUE_WORK_QUEUE_PPU, (cl_queue_properties)device.queue);
        need(clSetKernelArg(kernel, 2, sizeof(cl_command_queue), &queue), "clSetKernelArg");
    }
    const uint64_t took_ns =
        strcmp(argv[1], "host") == 0 ? by_host(&device, kernel, grain) : by_threads(&device, kernel, grain);
    device_read(&device, results, out, sizeof(out));
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (out[i] != expected(i)) {
            give_up("work-item %u: 0x%08x instead of 0x%08x", i, out[i], expected(i));
        }
    }
    printf("pieces %u\ndevice_ns %llu\nns_per_piece %.1f\n", ITEMS / grain, (unsigned long long)took_ns,
           (double)took_ns * grain / ITEMS);
    return 0;
}
