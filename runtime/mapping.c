/* SPDX-License-Identifier: MIT */
#include "runtime/mapping.h"

#include <stddef.h>
#include <sys/mman.h>

#include "ppu/mmu.h"

/* More is reserved than needed; what lies before and behind is given back. */
uint8_t *mapping_of_file(int fd, uint64_t bytes)
{
    uint64_t reserved = bytes + PPU_PAGE_2M;
    uint8_t *start = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (start == MAP_FAILED) {
        return NULL;
    }
    uint64_t skip = -(uintptr_t)start & (PPU_PAGE_2M - 1);
    uint8_t *memory = mmap(start + skip, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
    if (memory == MAP_FAILED) {
        munmap(start, reserved);
        return NULL;
    }
    if (skip > 0) {
        munmap(start, skip);
    }
    munmap(memory + bytes, reserved - skip - bytes);
    return memory;
}

uint8_t *mapping_of_device(int fd, uint64_t bytes)
{
    uint8_t *memory = mapping_of_file(fd, bytes);

    if (memory) {
        madvise(memory, bytes, MADV_DONTFORK);
    }
    return memory;
}
