/* SPDX-License-Identifier: MIT */
/* Finds the PPUs of this Linux machine in sysfs and /proc. `sysfs` and `proc` are where these are mounted. */
#ifndef RUNTIME_VFIO_FUNCTION_H
#define RUNTIME_VFIO_FUNCTION_H

#include <stddef.h>
#include <sys/types.h>

#include "ppu.h"

#define VFIO_DRIVER "vfio-pci"
#define VFIO_NO_GROUP (-1)
#define VFIO_MAX_FUNCTIONS 16u

struct vfio_function {
    char address[16]; /* 0000:00:01.0 */
    char driver[32];  /* empty: none */
    int iommu_group;  /* VFIO_NO_GROUP: none */
};

/* Names a process that has a file open. */
struct vfio_holder {
    pid_t pid;
    char name[32];
};

/* Its address as numbers. */
struct ppu_pci_address vfio_function_address(const struct vfio_function *function);
/* The PPUs in the order of their addresses; returns how many, `max` at most. */
size_t vfio_functions(const char *sysfs, struct vfio_function *functions, size_t max);
/* Says why the function cannot be driven from here, and what to do about it. */
enum ppu_err vfio_function_check(const struct vfio_function *function, struct ppu_error *error);
/* A process that has `path` open; false when none can be seen. */
bool vfio_find_holder(const char *proc, const char *path, struct vfio_holder *holder);

#endif
