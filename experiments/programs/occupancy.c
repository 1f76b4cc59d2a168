/* SPDX-License-Identifier: MIT */
/*
 * Counts how many work-groups of a kernel are on the SMs at once. usage: study-occupancy MODE LIVE
 *
 * Each work-item computes LIVE values, each from the one before, and takes them together from the last to the first, so
 * that all of them need registers at once; as often as makes the same number of steps. MODE is a form of segments
 * (docs/spec/subvector.md), or off.
 */
#include "experiments/programs/device.h"

#include <stdio.h>
#include <string.h>

#define GROUP 128u
#define GROUPS 64u
#define ITEMS (GROUP * GROUPS)
#define STEPS 6144u /* of a work-item: more than an SM gives a warp at once */
#define MOST_LIVE 96u

static const char *const source = "kernel __attribute__((reqd_work_group_size(128, 1, 1)))\n"
                                  "void mix(global uint *out, global uint *counts)\n"
                                  "{\n"
                                  "    if (get_local_id(0) == 0)\n"
                                  "        atomic_max(&counts[1], atomic_inc(&counts[0]) + 1);\n"
                                  "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                                  "    uint x = get_global_id(0);\n"
                                  "    for (int round = 0; round < ROUNDS; round++) {\n"
                                  "        uint v[LIVE];\n"
                                  "        uint s = x;\n"
                                  "        #pragma unroll\n"
                                  "        for (int i = 0; i < LIVE; i++)\n"
                                  "            v[i] = s = s * 1664525u + 1013904223u + (s >> 7);\n"
                                  "        #pragma unroll\n"
                                  "        for (int i = LIVE - 1; i >= 0; i--)\n"
                                  "            x = x * 31u ^ v[i];\n"
                                  "    }\n"
                                  "    out[get_global_id(0)] = x;\n"
                                  "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
                                  "    if (get_local_id(0) == 0)\n"
                                  "        atomic_dec(&counts[0]);\n"
                                  "}\n";

static uint32_t mixed(uint32_t x, uint32_t live, uint32_t rounds)
{
    uint32_t v[MOST_LIVE];

    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t s = x;
        for (uint32_t i = 0; i < live; i++) {
            v[i] = s = s * 1664525u + 1013904223u + (s >> 7);
        }
        for (uint32_t i = live; i-- != 0;) {
            x = (x * 31u) ^ v[i];
        }
    }
    return x;
}

int main(int argc, char **argv)
{
    static uint32_t out[ITEMS];
    uint32_t counts[2] = { 0, 0 };
    char options[128];

    if (argc != 3 || strlen(argv[1]) > 16) {
        give_up("usage: study-occupancy MODE LIVE");
    }
    const uint32_t live = number_of(argv[2], "LIVE", 1, MOST_LIVE), rounds = STEPS / live;
    snprintf(options, sizeof(options),
             "-cl-std=CL3.0 -DROUNDS=%u -DLIVE=%u -cl-ppu-sub-group-size=128 -cl-ppu-segments=%s "
             "-cl-ppu-segment-threshold=8",
             rounds, live, argv[1]);
    const struct device device = device_open();
    cl_kernel kernel = device_kernel(&device, source, options, "mix");
    cl_mem results = device_buffer(&device, sizeof(out), NULL),
           counters = device_buffer(&device, sizeof(counts), counts);
    need(clSetKernelArg(kernel, 0, sizeof(cl_mem), &results), "clSetKernelArg");
    need(clSetKernelArg(kernel, 1, sizeof(cl_mem), &counters), "clSetKernelArg");
    const uint64_t took_ns = device_run_ns(&device, kernel, ITEMS, GROUP);
    device_read(&device, results, out, sizeof(out));
    device_read(&device, counters, counts, sizeof(counts));
    for (uint32_t i = 0; i < ITEMS; i++) {
        if (out[i] != mixed(i, live, rounds)) {
            give_up("work-item %u: 0x%08x instead of 0x%08x", i, out[i], mixed(i, live, rounds));
        }
    }
    printf("groups_at_once %u\ndevice_ns %llu\n", counts[1], (unsigned long long)took_ns);
    return 0;
}
