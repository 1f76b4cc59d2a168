/* SPDX-License-Identifier: MIT */
/* The platform and its device. There is one of each; they live as long as the process. */
#ifndef OPENCL_DEVICE_H
#define OPENCL_DEVICE_H

#include "object.h"
#include "ppu.h"

struct _cl_platform_id {
    struct object object;
};

struct _cl_device_id {
    struct object object;
    struct ppu_device *ppu;
    const struct ppu_device_info *info;
};

/* Texts that the program compares. */
#define PLATFORM_NAME "PPU"
#define PLATFORM_VENDOR "The PPU project"

extern struct _cl_platform_id the_platform;
/* The device, opened at the first call; NULL when there is none. */
cl_device_id device_get(void);
/* How it is opened; a test has a way of its own. */
enum ppu_err source_open(struct ppu_device **device, struct ppu_error *error);

/* One address for host and PPU: the host sees VRAM at addresses that page tables can hold. */
bool device_has_svm(const struct _cl_device_id *device);
uint64_t device_max_alloc(const struct _cl_device_id *device);
/* What an error of libppu is to a program. */
cl_int device_error(enum ppu_err err);

#endif
