/* SPDX-License-Identifier: MIT */
#include "runtime/vfio/chain.h"

#include "ppu/macros.h"
#include "ppu/mmu.h"

#define MAX_CAPABILITIES 64u

const void *vfio_capability(const void *answer, size_t bytes, uint32_t first, uint16_t id, size_t min_bytes)
{
    uint32_t offset = first;

    for (unsigned i = 0; i < MAX_CAPABILITIES && offset != 0; i++) {
        if (offset % _Alignof(struct vfio_info_cap_header) != 0 || offset > bytes ||
            bytes - offset < sizeof(struct vfio_info_cap_header)) {
            return NULL;
        }
        const void *at = (const char *)answer + offset;
        const struct vfio_info_cap_header *header = at;
        if (header->id == id) {
            return bytes - offset >= min_bytes ? at : NULL;
        }
        offset = header->next;
    }
    return NULL;
}

/* How many elements of a capability's array are really there. */
static size_t elements(const void *answer, size_t bytes, const void *array, size_t element_bytes, size_t claimed)
{
    size_t room = (bytes - (size_t)((const char *)array - (const char *)answer)) / element_bytes;

    return PPU_MIN(claimed, room);
}

/* ---- regions ---- */

static bool inside(const struct vfio_area *area, uint64_t bytes)
{
    return area->bytes != 0 && area->offset <= bytes && area->bytes <= bytes - area->offset;
}

size_t vfio_mappable_areas(const struct vfio_region_info *info, struct vfio_area *areas, size_t max)
{
    size_t count = 0;

    if ((info->flags & VFIO_REGION_INFO_FLAG_MMAP) == 0 || info->size == 0 || max == 0) {
        return 0;
    }
    const struct vfio_region_info_cap_sparse_mmap *sparse = NULL;
    if ((info->flags & VFIO_REGION_INFO_FLAG_CAPS) != 0) {
        sparse =
            vfio_capability(info, info->argsz, info->cap_offset, VFIO_REGION_INFO_CAP_SPARSE_MMAP, sizeof(*sparse));
    }
    if (!sparse) {
        areas[0] = (struct vfio_area){ .offset = 0, .bytes = info->size };
        return 1;
    }
    size_t there = elements(info, info->argsz, sparse->areas, sizeof(sparse->areas[0]), sparse->nr_areas);
    for (size_t i = 0; i < there && count < max; i++) {
        areas[count] = (struct vfio_area){ .offset = sparse->areas[i].offset, .bytes = sparse->areas[i].size };
        count += inside(&areas[count], info->size);
    }
    return count;
}

/* ---- bus addresses ---- */

/* Finds what the device can use of the addresses from `first` to `last`. */
static struct vfio_area usable_area(uint64_t first, uint64_t last)
{
    uint64_t start = PPU_MAX(first, PPU_VFIO_BUS_MIN);
    uint64_t end = last < PPU_VFIO_BUS_LIMIT - 1 ? last + 1 : PPU_VFIO_BUS_LIMIT;

    if (start >= end) {
        return (struct vfio_area){ 0, 0 };
    }
    start = (start + PPU_PAGE_2M - 1) / PPU_PAGE_2M * PPU_PAGE_2M;
    end = end / PPU_PAGE_2M * PPU_PAGE_2M;
    return (struct vfio_area){ .offset = start, .bytes = end > start ? end - start : 0 };
}

bool vfio_bus_range(const struct vfio_iommu_type1_info *info, struct vfio_area *range)
{
    const struct vfio_iommu_type1_info_cap_iova_range *ranges = NULL;

    *range = (struct vfio_area){ 0, 0 };
    if ((info->flags & VFIO_IOMMU_INFO_CAPS) != 0) {
        ranges =
            vfio_capability(info, info->argsz, info->cap_offset, VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE, sizeof(*ranges));
    }
    if (!ranges) {
        return false;
    }
    size_t there = elements(info, info->argsz, ranges->iova_ranges, sizeof(ranges->iova_ranges[0]), ranges->nr_iovas);
    for (size_t i = 0; i < there; i++) {
        struct vfio_area area = usable_area(ranges->iova_ranges[i].start, ranges->iova_ranges[i].end);
        if (area.bytes > range->bytes) {
            *range = area;
        }
    }
    return range->bytes != 0;
}
