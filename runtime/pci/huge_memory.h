/* SPDX-License-Identifier: MIT */
/*
 * Gives system memory on a machine without an IOMMU: huge pages, which stay where they are. The device reaches them at
 * their physical addresses, which the kernel tells root alone.
 */
#ifndef RUNTIME_PCI_HUGE_MEMORY_H
#define RUNTIME_PCI_HUGE_MEMORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "runtime/range.h"
#include "runtime/transport.h"

struct huge_memory {
    uint8_t *base;   /* addresses for all pages that this computer could have; NULL: none */
    uint64_t pages;  /* that have addresses */
    ppu_bus_t *bus;  /* of each page */
    uint32_t *users; /* memories in each page; 0: it is the computer's */
    pthread_mutex_t lock;
    struct range_pool free; /* offsets from base */
};

/* 0 or a number of errno. What was made is freed by huge_memory_fini(). */
int huge_memory_init(struct huge_memory *memory);
void huge_memory_fini(struct huge_memory *memory);

/* NO_MEMORY: the computer has no huge page left. `bytes` is a multiple of 64 KiB. */
enum ppu_err huge_memory_take(struct huge_memory *memory, uint64_t bytes, struct ppu_system_memory *taken);
void huge_memory_give(struct huge_memory *memory, const struct ppu_system_memory *taken);

#endif
