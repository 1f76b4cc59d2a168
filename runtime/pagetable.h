/* SPDX-License-Identifier: MIT */
/*
 * Writes the page tables of one context (mmu.h) through the mapped VRAM. A shadow tree remembers which table lies
 * where. Under the device's memory_lock.
 */
#ifndef RUNTIME_PAGETABLE_H
#define RUNTIME_PAGETABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/mmu.h"
#include "runtime/range.h"

struct table_node;

struct page_table {
    uint8_t *vram;
    struct range_pool *pool; /* of table pages, VRAM offsets */
    struct table_node *root;
};

/* Physical side of a mapping. `start` and `bytes` are multiples of 64 KiB. */
struct page_frames {
    uint64_t start; /* VRAM offset or bus address */
    uint64_t bytes;
    uint64_t attributes; /* PPU_PTE_WRITE, PPU_PTE_ATOMIC, PPU_PTE_SYSTEM */
};

/* False: no page or no memory for the root. */
bool page_table_init(struct page_table *table, uint8_t *vram, struct range_pool *pool);
void page_table_fini(struct page_table *table);
/* VRAM offset of the level-3 table. */
uint32_t page_table_root(const struct page_table *table);

/* Maps frames at `va`, 64 KiB aligned, with the largest pages that fit. False: no page for a table; nothing has
 * changed. */
bool page_table_map(struct page_table *table, uint64_t va, const struct page_frames *frames);
/* Clears what was mapped. The caller flushes the MMU before the range is used again. */
void page_table_unmap(struct page_table *table, uint64_t va, uint64_t bytes);

#endif
