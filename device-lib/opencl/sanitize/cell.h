/* SPDX-License-Identifier: MIT */
/*
 * Finds cells (struct ppu_sanitizer_cells in ppu/sanitizer.h), in which work-items note what others compare with. They
 * lie behind the launch's printf buffer. A cell that is not to be had means that nothing is reported, never that
 * something wrong is.
 */
#ifndef DEVICE_LIB_OPENCL_SANITIZE_CELL_H
#define DEVICE_LIB_OPENCL_SANITIZE_CELL_H

#include "report.h"

#define PROBES 4u
#define PROBE_STEP 157u /* rows from one to the next; odd */
#define NO_CELL PPU_SANITIZER_CELLS

typedef global struct ppu_sanitizer_cells *cells_t;

INLINE ulong exchange(global ulong *at, ulong value)
{
    return __opencl_atomic_exchange((volatile global atomic_ulong *)at, value, memory_order_relaxed,
                                    memory_scope_device);
}

/* Two halves that were written at different times would be somebody who never was. */
INLINE ulong load64(global ulong *at)
{
    return __opencl_atomic_load((volatile global atomic_ulong *)at, memory_order_relaxed, memory_scope_device);
}

/* Number of the first group: not 0 for kernels that kernels enqueue, in programs that do. */
INLINE uint first_group(void)
{
#ifdef NESTED
    return __ppu_launch(IMPLICIT_TABLES) >> PPU_SANITIZER_FIRST_GROUP;
#else
    return 0;
#endif
}

/* NULL: this launch has none. */
INLINE cells_t cells(void)
{
    if ((__ppu_launch(IMPLICIT_TABLES) & PPU_SANITIZER_HAS_CELLS) == 0 || first_group() == PPU_SANITIZER_NO_GROUPS) {
        return 0;
    }
    return (cells_t)((global uchar *)ranges() + sizeof(struct ppu_sanitizer_table));
}

/* What was in the cell: the key, another, or 0 when it is the key's now. Whoever clears the row must know of it. */
INLINE ulong claim(cells_t all, uint cell, ulong key)
{
    ulong old = 0;

    all->used[cell / PPU_SANITIZER_ROW_CELLS] = 1;
    __opencl_atomic_compare_exchange_strong((volatile global atomic_ulong *)&all->key[cell], &old, key,
                                            memory_order_relaxed, memory_order_relaxed, memory_scope_device);
    return old;
}

/*
 * A key never leaves its cell, and no key is 0. Keys that differ by 1 << width_log2 have neighbouring cells. NO_CELL:
 * there is no room, or there are no cells.
 */
INLINE uint cell_of(cells_t all, ulong key, uint width_log2)
{
    ulong row_key = key >> width_log2 >> 7;
    uint first = (uint)(row_key ^ row_key >> 32) * 0x9e3779b1u >> 22;
    uint column = (uint)(key >> width_log2) % PPU_SANITIZER_ROW_CELLS;

    if (all == 0) {
        return NO_CELL;
    }
#pragma unroll
    for (uint i = 0; i < PROBES; i++) {
        uint row = (first + i * PROBE_STEP) % PPU_SANITIZER_CELL_ROWS;
        uint cell = row * PPU_SANITIZER_ROW_CELLS + column;
        ulong old = all->key[cell];
        if (old == 0) {
            old = claim(all, cell, key);
        }
        if (old == key || old == 0) {
            return cell;
        }
    }
    return NO_CELL;
}

INLINE uint group_number(void)
{
    return first_group() +
           (__ppu_sr(PPU_SR_CTA_Z) * __ppu_sr(PPU_SR_NCTA_Y) + __ppu_sr(PPU_SR_CTA_Y)) * __ppu_sr(PPU_SR_NCTA_X) +
           __ppu_sr(PPU_SR_CTA_X);
}

/* Counts those of this group. */
INLINE uint work_items(void)
{
    return __ppu_sr(PPU_SR_SIZE_X) * __ppu_sr(PPU_SR_SIZE_Y) * __ppu_sr(PPU_SR_SIZE_Z);
}

INLINE uint cell_of_group(cells_t all, uint group)
{
    return cell_of(all, PPU_SANITIZER_KEY_GROUP | group, 0);
}

INLINE uint group_cell(cells_t all)
{
    return cell_of_group(all, group_number());
}

#endif
