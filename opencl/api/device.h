/* SPDX-License-Identifier: MIT */
/* Keeps the platform and its devices. They live as long as the process. */
#ifndef OPENCL_API_DEVICE_H
#define OPENCL_API_DEVICE_H

#include "opencl/api/object.h"
#include "ppu.h"

struct _cl_platform_id {
    struct object object;
};

struct _cl_device_id {
    struct object object;
    struct ppu_device *ppu;
    const struct ppu_device_info *info;
    bool warm;      /* atomic: something was launched, or another queue does it */
    uint32_t nests; /* atomic: contexts whose kernels can enqueue on it */
};

/* Texts that the program compares. */
#define PLATFORM_NAME "PPU"
#define PLATFORM_VENDOR "The PPU project"

#define MAX_DEVICES 8u

extern struct _cl_platform_id the_platform;
/* The devices, opened at the first call; how many there are. */
uint32_t device_list(cl_device_id devices[MAX_DEVICES]);
/* How many there should be, at least 1; and how each is opened, in order. A test has a way of its own. */
uint32_t source_count(void);
enum ppu_err source_open(uint32_t index, struct ppu_device **device, struct ppu_error *error);

/* Shared memory of arguments is aligned as the largest type; nothing lies at 0, which is the null pointer. */
#define LOCAL_ALIGN sizeof(cl_long16)
#define DEVICE_PARAMETER_BYTES (64u * 1024u) /* of arguments: so many are told, and more are taken */

/* Shared memory that one argument may have. */
uint64_t device_local_bytes(const struct _cl_device_id *device);
/* One address for host and PPU: the host sees VRAM at addresses that page tables can hold. */
bool device_has_svm(const struct _cl_device_id *device);
uint64_t device_max_alloc(const struct _cl_device_id *device);
/* Returns the OpenCL error that an error of libppu is to a program. */
cl_int device_error(enum ppu_err err);

#endif
