/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches translations of an SM (TLB). */
#ifndef QEMU_DEVICE_CORE_SM_TLB_H
#define QEMU_DEVICE_CORE_SM_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/mmu.h"
#include "ppu/ring.h"

struct translation;
struct sm;

#define SM_TLB_SIZE 512u
#define TLB_VALID (1ull << 11) /* below the page offset, above the context number */

struct tlb_entry {
    uint64_t tag;  /* page address | context | TLB_VALID; 0: none */
    uint64_t mask; /* address bits that the tag compares */
    uint64_t frame;
    bool system;
    bool write;
    bool atomic;
};

/* 64 KiB pages two apart by a power of two must not share an entry. */
static inline uint32_t sm_tlb_index(uint64_t va)
{
    uint64_t page = va / PPU_PAGE_64K;

    return (uint32_t)((page ^ page >> 9) % SM_TLB_SIZE);
}

/* 0, or the fault code of an access of at most 16 bytes inside one page. */
uint16_t sm_translate(struct sm *sm, uint32_t context, uint64_t va, enum ppu_access access, struct translation *out);
void sm_tlb_drop(struct sm *sm, uint32_t context);
void sm_tlb_drop_all(struct sm *sm);

#endif
