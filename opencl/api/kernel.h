/* SPDX-License-Identifier: MIT */
/* Keeps a kernel of a built program, with the arguments set so far. */
#ifndef OPENCL_API_KERNEL_H
#define OPENCL_API_KERNEL_H

#include "opencl/api/program.h"
#include "opencl/api/weak.h"

struct argument {
    bool set;
    bool shared;        /* an address of shared virtual memory */
    size_t local_bytes; /* of shared memory */
    struct weak named;  /* memory object, or queue on the device: an argument does not keep it alive */
};

struct _cl_kernel {
    struct object object;
    cl_program program;
    const struct ppu_kernel_entry *entry;          /* in the program's image */
    const struct ppu_argument_entry *descriptions; /* of its arguments */
    struct argument *arguments;
    uint32_t mode;      /* enum ppu_tmd_mode of its launches */
    uint32_t miss_rate; /* PPU_MISS_* of its launches */
    uint8_t *params;    /* values, as far as they are known when they are set */
};

/* Bytes that all offsets of arguments, and what the launch adds to them, lie within. */
size_t kernel_param_bytes(const struct _cl_kernel *kernel);
/* Threads that a work-group of a kernel may have on a device: what its registers leave room for; 0: none. */
size_t kernel_work_group_most(const struct ppu_kernel_entry *entry, const struct ppu_device_info *info);
/* Returns that number for this kernel on its context's device; never 0. */
size_t kernel_max_work_group(const struct _cl_kernel *kernel);
/* Where an argument's local memory begins in a work-group's, behind `used` bytes of others. */
uint64_t kernel_local_at(uint64_t used);
/* A work-group's local memory, with that of the arguments as they are set; it may be more than an SM has. */
uint64_t kernel_local_bytes(const struct _cl_kernel *kernel);
const char *kernel_text(const struct _cl_kernel *kernel, uint32_t offset);

#endif
