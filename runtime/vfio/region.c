/* SPDX-License-Identifier: MIT */
#include "runtime/vfio/region.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Stores to memory come before a store to the device that follows, loads from memory after a load
 * from the device. C's fences order memory alone.
 */
#if defined(__aarch64__)
#define BEFORE_DEVICE_STORE() __asm__ volatile("dmb oshst" ::: "memory")
#define AFTER_DEVICE_LOAD() __asm__ volatile("dmb oshld" ::: "memory")
#elif defined(__x86_64__)
#define BEFORE_DEVICE_STORE() __asm__ volatile("sfence" ::: "memory")
#define AFTER_DEVICE_LOAD() __asm__ volatile("lfence" ::: "memory")
#else
#define BEFORE_DEVICE_STORE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define AFTER_DEVICE_LOAD() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

/* The kernel's answer with its chain; to be freed; NULL with errno. */
static struct vfio_region_info *region_info(int device, uint32_t index)
{
    uint32_t bytes = sizeof(struct vfio_region_info);

    for (;;) {
        struct vfio_region_info *info = calloc(1, bytes);
        if (!info) {
            return NULL;
        }
        info->argsz = bytes;
        info->index = index;
        if (ioctl(device, VFIO_DEVICE_GET_REGION_INFO, info) != 0) {
            free(info);
            return NULL;
        }
        if (info->argsz <= bytes) {
            return info;
        }
        bytes = info->argsz; /* there is more to tell than fits */
        free(info);
    }
}

static void map_area(struct vfio_region *region, const struct vfio_area *area)
{
    void *mapped = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, region->device,
                        (off_t)(region->file_base + area->offset));

    if (mapped != MAP_FAILED) {
        madvise(mapped, area->bytes, MADV_DONTFORK); /* a child would keep the device when we have closed it */
        region->area[region->areas] = *area;
        region->mapped[region->areas] = mapped;
        region->areas++;
    }
}

static void map_areas(struct vfio_region *region, const struct vfio_region_info *info)
{
    struct vfio_area areas[VFIO_REGION_AREAS];
    size_t count = vfio_mappable_areas(info, areas, VFIO_REGION_AREAS);

    for (size_t i = 0; i < count; i++) {
        map_area(region, &areas[i]);
    }
}

bool vfio_region_open(struct vfio_region *region, int device, uint32_t index)
{
    struct vfio_region_info *info = region_info(device, index);

    *region = (struct vfio_region){ .device = device };
    if (!info) {
        return false;
    }
    region->file_base = info->offset;
    region->bytes = info->size;
    map_areas(region, info);
    free(info);
    if (region->bytes == 0) {
        errno = ENODEV;
    }
    return region->bytes != 0;
}

bool vfio_region_open_file(struct vfio_region *region, int file)
{
    struct stat status;

    *region = (struct vfio_region){ .device = file };
    if (fstat(file, &status) != 0) {
        return false;
    }
    region->bytes = (uint64_t)status.st_size;
    map_area(region, &(struct vfio_area){ 0, region->bytes });
    return true;
}

void vfio_region_close(struct vfio_region *region)
{
    for (uint32_t i = 0; i < region->areas; i++) {
        munmap(region->mapped[i], region->area[i].bytes);
    }
    region->areas = 0;
}

/* Where the bytes are mapped; NULL: they are not. */
static uint8_t *mapped_at(const struct vfio_region *region, uint64_t offset, uint64_t bytes)
{
    for (uint32_t i = 0; i < region->areas; i++) {
        const struct vfio_area *area = &region->area[i];
        if (offset >= area->offset && offset - area->offset < area->bytes &&
            bytes <= area->bytes - (offset - area->offset)) {
            return region->mapped[i] + (offset - area->offset);
        }
    }
    return NULL;
}

static bool in_region(const struct vfio_region *region, uint64_t offset, uint64_t bytes)
{
    return offset <= region->bytes && bytes <= region->bytes - offset;
}

static void file_read(const struct vfio_region *region, uint64_t offset, void *value, size_t bytes)
{
    if (!in_region(region, offset, bytes) ||
        pread(region->device, value, bytes, (off_t)(region->file_base + offset)) != (ssize_t)bytes) {
        for (size_t i = 0; i < bytes; i++) {
            ((uint8_t *)value)[i] = 0xff;
        }
    }
}

static void file_write(const struct vfio_region *region, uint64_t offset, const void *value, size_t bytes)
{
    if (in_region(region, offset, bytes)) {
        ssize_t ignored = pwrite(region->device, value, bytes, (off_t)(region->file_base + offset));
        (void)ignored; /* a device that has gone drops writes */
    }
}

uint32_t vfio_region_read32(const struct vfio_region *region, uint64_t offset)
{
    uint8_t *mapped = mapped_at(region, offset, sizeof(uint32_t));
    uint32_t value;

    if (mapped) {
        value = *(volatile uint32_t *)(void *)mapped;
    } else {
        file_read(region, offset, &value, sizeof(value));
    }
    AFTER_DEVICE_LOAD();
    return value;
}

void vfio_region_write32(const struct vfio_region *region, uint64_t offset, uint32_t value)
{
    uint8_t *mapped = mapped_at(region, offset, sizeof(uint32_t));

    BEFORE_DEVICE_STORE();
    if (mapped) {
        *(volatile uint32_t *)(void *)mapped = value;
    } else {
        file_write(region, offset, &value, sizeof(value));
    }
}

uint16_t vfio_region_read16(const struct vfio_region *region, uint64_t offset)
{
    uint16_t value;

    file_read(region, offset, &value, sizeof(value));
    return value;
}

void vfio_region_write16(const struct vfio_region *region, uint64_t offset, uint16_t value)
{
    file_write(region, offset, &value, sizeof(value));
}
