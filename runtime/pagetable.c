/* SPDX-License-Identifier: MIT */
#include "runtime/pagetable.h"

#include <stdlib.h>

#include "runtime/shared.h"

#define TOP_LEVEL (PPU_PT_LEVELS - 1u)
#define LEVEL_2M 1u /* level whose entries map 2 MiB */
#define SMALL_PAGES (PPU_PAGE_64K / PPU_PAGE_4K)

/* A table page. A child stays when a large page takes its place in the table, for the next small page there. */
struct table_node {
    uint64_t offset; /* in VRAM */
    struct table_node *child[PPU_PT_ENTRIES];
};

static uint64_t *table_entry(const struct page_table *table, const struct table_node *node, uint32_t index)
{
    return (uint64_t *)(void *)(table->vram + node->offset) + index;
}

/* Partner: the page-table walk of the device. */
static void write_entry(const struct page_table *table, const struct table_node *node, uint32_t index, uint64_t entry)
{
    shared_store_release64(table_entry(table, node, index), entry);
}

static struct table_node *node_new(struct page_table *table)
{
    struct table_node *node = calloc(1, sizeof(*node));

    if (!node) {
        return NULL;
    }
    if (!range_take(table->pool, PPU_PT_BYTES, PPU_PT_ALIGN, &node->offset)) {
        free(node);
        return NULL;
    }
    for (uint32_t i = 0; i < PPU_PT_ENTRIES; i++) {
        write_entry(table, node, i, 0);
    }
    return node;
}

/* Depth is at most PPU_PT_LEVELS. */
static void node_free(struct page_table *table, struct table_node *node)
{
    for (uint32_t i = 0; i < PPU_PT_ENTRIES; i++) {
        if (node->child[i]) {
            node_free(table, node->child[i]);
        }
    }
    range_give(table->pool, node->offset);
    free(node);
}

bool page_table_init(struct page_table *table, uint8_t *vram, struct range_pool *pool)
{
    *table = (struct page_table){ .vram = vram, .pool = pool };
    table->root = node_new(table);
    return table->root;
}

void page_table_fini(struct page_table *table)
{
    node_free(table, table->root);
    table->root = NULL;
}

uint32_t page_table_root(const struct page_table *table)
{
    return (uint32_t)table->root->offset;
}

static uint64_t step_bytes(uint64_t va, uint64_t frame, uint64_t left)
{
    bool large = ((va | frame) & (PPU_PAGE_2M - 1)) == 0 && left >= PPU_PAGE_2M;

    return large ? PPU_PAGE_2M : PPU_PAGE_64K;
}

/* Table of `level` for `va`, made when there is none; NULL: no page for it. */
static struct table_node *table_for(struct page_table *table, uint64_t va, uint32_t level)
{
    struct table_node *node = table->root;

    for (uint32_t above = TOP_LEVEL; above > level; above--) {
        struct table_node **child = &node->child[ppu_pt_index(va, above)];
        if (!*child) {
            *child = node_new(table);
        }
        if (!*child) {
            return NULL;
        }
        node = *child;
    }
    return node;
}

/* Makes the tables above `level` point down to it. */
static void link_tables(struct page_table *table, uint64_t va, uint32_t level)
{
    struct table_node *node = table->root;

    for (uint32_t above = TOP_LEVEL; above > level; above--) {
        uint32_t index = ppu_pt_index(va, above);
        uint64_t entry = node->child[index]->offset | PPU_PTE_SIZE(PPU_PTE_TABLE) | PPU_PTE_VALID;
        if (*table_entry(table, node, index) != entry) {
            write_entry(table, node, index, entry);
        }
        node = node->child[index];
    }
}

static bool reserve_tables(struct page_table *table, uint64_t va, const struct page_frames *frames)
{
    for (uint64_t done = 0, step = 0; done < frames->bytes; done += step) {
        step = step_bytes(va + done, frames->start + done, frames->bytes - done);
        if (!table_for(table, va + done, step == PPU_PAGE_2M ? LEVEL_2M : 0)) {
            return false;
        }
    }
    return true;
}

static void write_large(struct page_table *table, uint64_t va, uint64_t entry)
{
    struct table_node *node = table_for(table, va, LEVEL_2M);

    link_tables(table, va, LEVEL_2M);
    write_entry(table, node, ppu_pt_index(va, LEVEL_2M), entry);
}

/* A 64 KiB page is the same entry sixteen times. */
static void write_small(struct page_table *table, uint64_t va, uint64_t entry)
{
    struct table_node *node = table_for(table, va, 0);

    for (uint32_t i = 0; i < SMALL_PAGES; i++) {
        write_entry(table, node, ppu_pt_index(va, 0) + i, entry);
    }
    link_tables(table, va, 0);
}

bool page_table_map(struct page_table *table, uint64_t va, const struct page_frames *frames)
{
    /* Tables first: they stay for later when the next one cannot be had. */
    if (!reserve_tables(table, va, frames)) {
        return false;
    }
    for (uint64_t done = 0, step = 0; done < frames->bytes; done += step) {
        uint64_t entry = (frames->start + done) | frames->attributes | PPU_PTE_VALID;
        step = step_bytes(va + done, frames->start + done, frames->bytes - done);
        if (step == PPU_PAGE_2M) {
            write_large(table, va + done, entry | PPU_PTE_SIZE(PPU_PTE_2M));
        } else {
            write_small(table, va + done, entry | PPU_PTE_SIZE(PPU_PTE_64K));
        }
    }
    return true;
}

/* Only this library writes the tables: reading an entry back is safe. */
static bool is_large(const struct page_table *table, const struct table_node *node, uint32_t index)
{
    return (*table_entry(table, node, index) & PPU_PTE_SIZE_MASK) == PPU_PTE_SIZE(PPU_PTE_2M);
}

void page_table_unmap(struct page_table *table, uint64_t va, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        struct table_node *node = table_for(table, va + done, LEVEL_2M);
        uint32_t index = ppu_pt_index(va + done, LEVEL_2M);
        if (is_large(table, node, index)) {
            write_entry(table, node, index, 0);
            done += PPU_PAGE_2M;
            continue;
        }
        node = node->child[index];
        for (uint32_t i = 0; i < SMALL_PAGES; i++) {
            write_entry(table, node, ppu_pt_index(va + done, 0) + i, 0);
        }
        done += PPU_PAGE_64K;
    }
}
