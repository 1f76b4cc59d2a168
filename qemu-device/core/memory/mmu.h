/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks page tables (A9). */
#ifndef QEMU_DEVICE_CORE_MEMORY_MMU_H
#define QEMU_DEVICE_CORE_MEMORY_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/ring.h"

struct core;

struct mmu_page {
    uint16_t fault; /* 0, or why `va` cannot be accessed so */
    bool system;    /* aperture */
    bool write;
    bool atomic;
    uint64_t va;    /* first address of the page */
    uint64_t bytes; /* its size */
    uint64_t frame; /* VRAM offset or bus address of its first byte */
    uint64_t table; /* VRAM offset of the table that names it */
    uint64_t pte;   /* what the table said */
};

/* Takes the neighbours in for which the table says the same: 64 KiB pages of VRAM one behind the other. [any] */
void mmu_widen(const struct core *core, struct mmu_page *page);
/* Translates one address; reads the tables in VRAM afresh. PPU_ACCESS_FETCH counts as a read. [any] */
struct mmu_page mmu_walk(struct core *core, uint32_t context, uint64_t va, enum ppu_access access);

#endif
