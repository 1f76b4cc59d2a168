/* SPDX-License-Identifier: MIT */
/*
 * Maps a BAR of a function that vfio drives, as far as the kernel allows; the rest is reached by reads and writes of
 * the file.
 */
#ifndef RUNTIME_VFIO_REGION_H
#define RUNTIME_VFIO_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/vfio/chain.h"

#define VFIO_REGION_AREAS 8u

struct vfio_region {
    int device;         /* vfio's file, or sysfs's; not owned */
    uint64_t file_base; /* of the region in that file */
    uint64_t bytes;
    uint32_t areas;
    struct vfio_area area[VFIO_REGION_AREAS];
    uint8_t *mapped[VFIO_REGION_AREAS];
};

/* False with errno: the kernel has no such region. What cannot be mapped is left to reads and writes. */
bool vfio_region_open(struct vfio_region *region, int device, uint32_t index);
/* Opens a file that is the region: sysfs has one for each BAR, and one for configuration space. False with errno. */
bool vfio_region_open_file(struct vfio_region *region, int file);
void vfio_region_close(struct vfio_region *region);

/* Naturally aligned words. Outside of the region, or when the device does not answer: all ones, nothing. */
uint32_t vfio_region_read32(const struct vfio_region *region, uint64_t offset);
void vfio_region_write32(const struct vfio_region *region, uint64_t offset, uint32_t value);
uint16_t vfio_region_read16(const struct vfio_region *region, uint64_t offset);
void vfio_region_write16(const struct vfio_region *region, uint64_t offset, uint16_t value);

#endif
