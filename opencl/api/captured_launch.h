/* SPDX-License-Identifier: MIT */
/* Describes a kernel with everything its launch needs, as it was when it was enqueued. */
#ifndef OPENCL_API_CAPTURED_LAUNCH_H
#define OPENCL_API_CAPTURED_LAUNCH_H

#include "opencl/api/event.h"
#include "opencl/api/kernel.h"

/* A buffer among the arguments. */
struct launch_memory {
    cl_mem memory;   /* in use */
    uint32_t offset; /* of the argument in the parameters */
    bool constant;   /* the kernel only reads it, and says so */
};

struct variants;
struct variant;

struct launch {
    const struct ppu_kernel *kernel;
    struct variants *variants; /* of the kernel's program; NULL: it has none */
    struct variant *variant;   /* in use; NULL: the base */
    uint32_t index;            /* of the kernel among the program's */
    cl_event event;            /* once it is built */
    struct ppu_launch launch;
    cl_command_queue workq; /* whose round it begins and waits for, one of the following; NULL: none */
    cl_command_queue tasks; /* whose entries its work-groups take, one of the following; NULL: it is a grid */
    uint32_t queues;
    cl_command_queue *queue; /* on the device, among the arguments, in use */
    uint32_t memories;
    struct launch_memory *memory;
    size_t param_bytes;
    uint8_t *params;          /* as those of the kernel */
    cl_command_queue entered; /* that has begun it, which can enqueue kernels; NULL: not yet, or it cannot */
    struct ppu_memory
        *block; /* of arguments that are not in the parameters, on the device; NULL: not there yet, or none */
};

/* Work-items of its grid, as if all work-groups were full. */
static inline uint64_t launch_items(const struct launch *launch)
{
    uint64_t items = 1;

    for (uint32_t i = 0; i < 3; i++) {
        items *= (uint64_t)launch->launch.grid[i] * launch->launch.cta[i];
    }
    return items;
}

#endif
