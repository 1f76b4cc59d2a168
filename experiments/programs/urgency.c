/* SPDX-License-Identifier: MIT */
/*
 * Puts a task of another priority among many that wait, and tells when it begins. usage: study-urgency WAVE TOKENS
 * PRIORITY [POLICY=VALUE ...]
 *
 * A thread queues the tasks, of priority MIDDLE, and one of PRIORITY as the first of them that has to wait. Warps have
 * WAVE work-items and a queue of TOKENS entries. Policies (docs/spec/scheduler.md) are set before.
 */
#include "experiments/programs/device.h"

#include <stdio.h>

#include "opencl/api/cl_ppu.h"
#include "ppu/limits.h"

#define GROUP 128u
#define GROUPS 4u /* of a task */
#define ITEMS (GROUP * GROUPS)
#define TASKS 64u
#define CHOSEN 8u /* of those, the one of PRIORITY; the machine has fewer slots */
#define MIDDLE 3
#define ENTRIES 1024u /* of the queue */

enum count { AT_ONCE, MOST_AT_ONCE, BEGUN, CHOSEN_BEGAN, COUNTS };

static const char *const source =
    "uint part(uint x)\n"
    "{\n"
    "    for (uint turn = x % 61; turn < 500; turn++) {\n"
    "        x = x * 1664525u + 1013904223u;\n"
    "        if (x >> 31)\n"
    "            x ^= x >> 7;\n"
    "        else if (x >> 30)\n"
    "            x += turn;\n"
    "    }\n"
    "    return x;\n"
    "}\n"
    "void work(global uint *out, global atomic_uint *counts, uint task)\n"
    "{\n"
    "    if (get_global_id(0) == 0) {\n"
    "        uint begun = atomic_fetch_add(&counts[2], 1u);\n"
    "        if (task == CHOSEN)\n"
    "            atomic_store(&counts[3], begun);\n"
    "    }\n"
    "    if (get_local_id(0) == 0)\n"
    "        atomic_fetch_max(&counts[1], atomic_fetch_add(&counts[0], 1u) + 1);\n"
    "    work_group_barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    uint i = task * ITEMS + get_global_id(0);\n"
    "    out[i] = part(i);\n"
    "    work_group_barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    if (get_local_id(0) == 0)\n"
    "        atomic_fetch_sub(&counts[0], 1u);\n"
    "}\n"
    "kernel void fill(global uint *out, global atomic_uint *counts, queue_t tasks)\n"
    "{\n"
    "    ndrange_t all = ndrange_1D(ITEMS, GROUP);\n"
    "    for (uint task = 0; task < TASKS; task++) {\n"
    "        int error = task == CHOSEN\n"
    "            ? enqueue_kernel(tasks, PPU_ENQUEUE_FLAGS_WORK | PPU_ENQUEUE_FLAGS_PRIORITY(PRIORITY), all,\n"
    "                             ^{ work(out, counts, task); })\n"
    "            : enqueue_kernel(tasks, PPU_ENQUEUE_FLAGS_WORK | PPU_ENQUEUE_FLAGS_PRIORITY(MIDDLE), all,\n"
    "                             ^{ work(out, counts, task); });\n"
    "        if (error != 0)\n"
    "            out[task * ITEMS] = 0;\n"
    "    }\n"
    "}\n";

static uint32_t expected(uint32_t x)
{
    for (uint32_t turn = x % 61; turn < 500; turn++) {
        x = x * 1664525u + 1013904223u;
        if (x >> 31) {
            x ^= x >> 7;
        } else if (x >> 30) {
            x += turn;
        }
    }
    return x;
}

/* Tasks have at most the priority of the host's queue, so that is high. */
static cl_command_queue most_urgent_queue(const struct device *device)
{
    const cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, CL_QUEUE_PRIORITY_KHR,
                                           CL_QUEUE_PRIORITY_HIGH_KHR, 0 };
    cl_int error;
    cl_command_queue queue = clCreateCommandQueueWithProperties(device->context, device->id, wanted, &error);

    need(error, "clCreateCommandQueueWithProperties");
    return queue;
}

static cl_command_queue work_queue(const struct device *device)
{
    const cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES,
                                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_ON_DEVICE,
                                           CL_QUEUE_WORK_QUEUE_PPU,
                                           (cl_queue_properties)device->queue,
                                           CL_QUEUE_WORK_ENTRIES_PPU,
                                           ENTRIES,
                                           0 };
    cl_int error;
    cl_command_queue queue = clCreateCommandQueueWithProperties(device->context, device->id, wanted, &error);

    need(error, "clCreateCommandQueueWithProperties");
    return queue;
}

static cl_kernel fill_kernel(const struct device *device, char **argv)
{
    const uint32_t wave = number_of(argv[1], "WAVE", PPU_LANES, PPU_MAX_WAVE),
                   tokens = number_of(argv[2], "TOKENS", 1, PPU_MAX_TOKENS),
                   priority = number_of(argv[3], "PRIORITY", 0, PPU_PRIORITIES - 1);
    char options[256];

    snprintf(options, sizeof(options),
             "-cl-std=CL3.0 -DITEMS=%u -DGROUP=%u -DTASKS=%u -DCHOSEN=%u -DMIDDLE=%d -DPRIORITY=%u "
             "-cl-ppu-sub-group-size=%u -cl-ppu-token-entries=%u",
             ITEMS, GROUP, TASKS, CHOSEN, MIDDLE, priority, wave, tokens);
    return device_kernel(device, source, options, "fill");
}

int main(int argc, char **argv)
{
    static uint32_t out[TASKS * ITEMS];
    uint32_t counts[COUNTS] = { 0 };

    if (argc < 4) {
        give_up("usage: study-urgency WAVE TOKENS PRIORITY [POLICY=VALUE ...]");
    }
    struct device device = device_open();
    device.queue = most_urgent_queue(&device);
    for (int i = 4; i < argc; i++) {
        device_set_policy(&device, argv[i]);
    }
    cl_kernel kernel = fill_kernel(&device, argv);
    cl_mem results = device_buffer(&device, sizeof(out), out),
           counters = device_buffer(&device, sizeof(counts), counts);
    cl_command_queue queue = work_queue(&device);
    need(clSetKernelArg(kernel, 0, sizeof(cl_mem), &results), "clSetKernelArg");
    need(clSetKernelArg(kernel, 1, sizeof(cl_mem), &counters), "clSetKernelArg");
    need(clSetKernelArg(kernel, 2, sizeof(cl_command_queue), &queue), "clSetKernelArg");
    const uint64_t took_ns = device_run_ns(&device, kernel, 1, 1);
    device_read(&device, results, out, sizeof(out));
    device_read(&device, counters, counts, sizeof(counts));
    for (uint32_t i = 0; i < TASKS * ITEMS; i++) {
        if (out[i] != expected(i)) {
            give_up("work-item %u: 0x%08x instead of 0x%08x", i, out[i], expected(i));
        }
    }
    printf("begun_before %u\ngroups_at_once %u\ndevice_ns %llu\n", counts[CHOSEN_BEGAN], counts[MOST_AT_ONCE],
           (unsigned long long)took_ns);
    return 0;
}
