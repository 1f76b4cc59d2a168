/* SPDX-License-Identifier: MIT */
/*
 * Defines the format of page tables (A9). Four levels of 512 entries, 9 bits of virtual address each, above a 12-bit
 * offset: 48-bit virtual addresses. Tables live in the protected range of VRAM; the driver writes them, with one 64-bit
 * store an entry.
 *
 *   level 3: va[47:39]   level 2: va[38:30]   level 1: va[29:21]   level 0: va[20:12]
 *
 * A 2 MiB page is an entry of level 1. A 64 KiB page fills 16 consecutive
 * entries of level 0 with the same value; each of them works alone. A 4 KiB page
 * is one entry of level 0 and exists in the system aperture only.
 */
#ifndef PPU_MMU_H
#define PPU_MMU_H

#include "ppu/base.h"

#define PPU_VA_BITS 48u
#define PPU_PT_LEVELS 4u
#define PPU_PT_ENTRIES 512u
#define PPU_PT_BYTES (PPU_PT_ENTRIES * 8u)
#define PPU_PT_ALIGN PPU_PT_BYTES

#define PPU_PAGE_4K (4u * PPU_KIB)
#define PPU_PAGE_64K (64u * PPU_KIB)
#define PPU_PAGE_2M (2u * PPU_MIB)

/* Entry bits. A bit not named is reserved and must be zero, else the walk faults. */
#define PPU_PTE_VALID (1ull << 0)
#define PPU_PTE_WRITE (1ull << 1)
#define PPU_PTE_ATOMIC (1ull << 2)
#define PPU_PTE_SYSTEM (1ull << 3) /* aperture: 0 VRAM, 1 system memory */
#define PPU_PTE_SIZE_SHIFT 4u
#define PPU_PTE_SIZE_MASK (3ull << PPU_PTE_SIZE_SHIFT)
#define PPU_PTE_SIZE(s) ((uint64_t)(s) << PPU_PTE_SIZE_SHIFT)
#define PPU_PTE_SW_MASK (0x3full << 6) /* free for software */
#define PPU_PTE_FRAME_MASK 0x000ffffffffff000ull

enum ppu_pte_size {
    PPU_PTE_TABLE = 0, /* frame is the VRAM offset of the next table; levels 3 to 1 */
    PPU_PTE_4K = 1,
    PPU_PTE_64K = 2,
    PPU_PTE_2M = 3,
};

/* Index into the table of `level` for `va`. */
static inline uint32_t ppu_pt_index(uint64_t va, uint32_t level)
{
    return (uint32_t)(va >> (12u + 9u * level)) & (PPU_PT_ENTRIES - 1u);
}

/* Unified addresses (A7): windows of the virtual space that select shared and local memory. */
#define PPU_SHARED_WINDOW 0x0000fffe00000000ull /* offset = low 32 bits */
#define PPU_LOCAL_WINDOW 0x0000ffff00000000ull
#define PPU_WINDOW_MASK 0xffffffff00000000ull

#endif
