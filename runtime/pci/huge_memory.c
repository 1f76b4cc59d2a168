/* SPDX-License-Identifier: MIT */
#include "runtime/pci/huge_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"

#define PAGEMAP "/proc/self/pagemap"
#define PAGEMAP_PRESENT (1ull << 63)
#define PAGEMAP_FRAME ((1ull << 55) - 1)

/* ---- pages ---- */

/* False with errno: the kernel does not say it, EPERM when this process may not know. */
static bool physical_address(const void *at, ppu_bus_t *bus)
{
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t entry = 0;
    int fd = open(PAGEMAP, O_RDONLY | O_CLOEXEC);
    bool read_it = fd >= 0 && pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)at / page_bytes * sizeof(entry))) ==
                                  (ssize_t)sizeof(entry);

    if (fd >= 0) {
        close(fd);
    }
    if (read_it && ((entry & PAGEMAP_PRESENT) == 0 || (entry & PAGEMAP_FRAME) == 0)) {
        errno = EPERM;
        read_it = false;
    }
    bus->bus = (entry & PAGEMAP_FRAME) * page_bytes;
    return read_it;
}

static uint8_t *page_at(const struct huge_memory *memory, uint64_t page)
{
    return memory->base + page * PPU_PAGE_2M;
}

/* The addresses stay ours. */
static void return_page(struct huge_memory *memory, uint64_t page)
{
    (void)mmap(page_at(memory, page), PPU_PAGE_2M, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
               -1, 0);
}

/* Shared, so that a fork does not give this process a copy of a page that the device goes on using. */
static bool fetch_page(struct huge_memory *memory, uint64_t page)
{
    void *at = mmap(page_at(memory, page), PPU_PAGE_2M, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_HUGETLB | MAP_HUGE_2MB | MAP_POPULATE | MAP_FIXED, -1, 0);

    if (at == MAP_FAILED || !physical_address(at, &memory->bus[page])) {
        return_page(memory, page);
        return false;
    }
    return true;
}

static void give_pages(struct huge_memory *memory, uint64_t first, uint64_t end)
{
    for (uint64_t page = first; page < end; page++) {
        if (--memory->users[page] == 0) {
            return_page(memory, page);
        }
    }
}

static bool take_pages(struct huge_memory *memory, uint64_t first, uint64_t end)
{
    for (uint64_t page = first; page < end; page++) {
        if (memory->users[page] == 0 && !fetch_page(memory, page)) {
            give_pages(memory, first, page);
            return false;
        }
        memory->users[page]++;
    }
    return true;
}

/* ---- memories ---- */

/* A memory that is smaller than a page lies in one. */
static uint64_t align_of(uint64_t bytes)
{
    uint64_t align = PPU_PAGE_64K;

    while (align < bytes && align < PPU_PAGE_2M) {
        align *= 2;
    }
    return align;
}

static uint64_t end_page(uint64_t offset, uint64_t bytes)
{
    return (offset + bytes - 1) / PPU_PAGE_2M + 1;
}

enum ppu_err huge_memory_take(struct huge_memory *memory, uint64_t bytes, struct ppu_system_memory *taken)
{
    uint64_t offset = 0;

    pthread_mutex_lock(&memory->lock);
    bool done = range_take(&memory->free, bytes, align_of(bytes), &offset);
    const uint64_t first = offset / PPU_PAGE_2M;
    if (done && !take_pages(memory, first, end_page(offset, bytes))) {
        range_give(&memory->free, offset);
        done = false;
    }
    pthread_mutex_unlock(&memory->lock);
    if (!done) {
        return PPU_ERR_NO_MEMORY;
    }
    taken->host = memory->base + offset;
    taken->bytes = bytes;
    taken->bus.bus = memory->bus[first].bus + offset % PPU_PAGE_2M;
    taken->pages = bytes > PPU_PAGE_2M ? &memory->bus[first] : NULL;
    return PPU_OK;
}

void huge_memory_give(struct huge_memory *memory, const struct ppu_system_memory *taken)
{
    const uint64_t offset = (uint64_t)((uint8_t *)taken->host - memory->base);

    pthread_mutex_lock(&memory->lock);
    give_pages(memory, offset / PPU_PAGE_2M, end_page(offset, taken->bytes));
    range_give(&memory->free, offset);
    pthread_mutex_unlock(&memory->lock);
}

/* ---- all of it ---- */

int huge_memory_init(struct huge_memory *memory)
{
    const uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t bytes = physical / PPU_PAGE_2M * PPU_PAGE_2M;

    memory->pages = bytes / PPU_PAGE_2M;
    memory->bus = calloc(memory->pages, sizeof(*memory->bus));
    memory->users = calloc(memory->pages, sizeof(*memory->users));
    if (!memory->bus || !memory->users || pthread_mutex_init(&memory->lock, NULL) != 0) {
        return ENOMEM;
    }
    /* A page more than there are, to begin at the border of one. */
    uint8_t *at = mmap(NULL, bytes + PPU_PAGE_2M, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        return errno;
    }
    const uint64_t before = ppu_align_up64((uintptr_t)at, PPU_PAGE_2M) - (uintptr_t)at;
    memory->base = at + before;
    if (before > 0) {
        munmap(at, before);
    }
    munmap(memory->base + bytes, PPU_PAGE_2M - before);
    return range_pool_init(&memory->free, 0, bytes) ? 0 : ENOMEM;
}

void huge_memory_fini(struct huge_memory *memory)
{
    if (memory->base) {
        munmap(memory->base, memory->pages * PPU_PAGE_2M);
    }
    range_pool_fini(&memory->free);
    free(memory->users);
    free(memory->bus);
    pthread_mutex_destroy(&memory->lock);
}
