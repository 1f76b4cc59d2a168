/* SPDX-License-Identifier: MIT */
/*
 * Reads what the kernel appends to the answers of vfio's queries: chains of capabilities, linked by offsets from the
 * start of the answer.
 */
#ifndef RUNTIME_VFIO_CHAIN_H
#define RUNTIME_VFIO_CHAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/vfio.h>

/* Part of a region, in bytes from its start. */
struct vfio_area {
    uint64_t offset;
    uint64_t bytes;
};

/* The capability `id` of the chain that starts at `first` of the `bytes` at `answer`; NULL: none. */
const void *vfio_capability(const void *answer, size_t bytes, uint32_t first, uint16_t id, size_t min_bytes);

/*
 * Parts of the region that can be mapped: all of it, or those the kernel names. Returns how many, `max` at
 * most; 0: none. `info` is followed by its chain and is info->argsz bytes long.
 */
size_t vfio_mappable_areas(const struct vfio_region_info *info, struct vfio_area *areas, size_t max);

/*
 * The largest range of bus addresses that may be mapped for DMA, inside [PPU_VFIO_BUS_MIN, PPU_VFIO_BUS_LIMIT) and
 * aligned to 2 MiB. False: the kernel names none. `info` is info->argsz bytes long.
 */
bool vfio_bus_range(const struct vfio_iommu_type1_info *info, struct vfio_area *range);

/* 0 stays free, so that a pointer that was forgotten faults; the end is the width of the device's addresses. */
#define PPU_VFIO_BUS_MIN (UINT64_C(1) << 21)
#define PPU_VFIO_BUS_LIMIT (UINT64_C(1) << 48)

#endif
