/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the page of an address among those found before. */
#ifndef QEMU_DEVICE_CORE_SM_PAGE_LOOKUP_H
#define QEMU_DEVICE_CORE_SM_PAGE_LOOKUP_H

#include <stdint.h>
#include <string.h>

#include "ppu/mmu.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/tlb.h"

/* Pages of a context, which is named as in tags. */
static inline struct tlb_found *sm_tlb_found(struct sm *sm, uint64_t key)
{
    if (sm->found.key != key) {
        memset(&sm->found, 0, sizeof(sm->found));
        sm->found.key = key;
    }
    return &sm->found;
}

/* The page that an address has just been found in, in VRAM. */
static inline struct page exec_page(const struct exec *x, uint64_t va)
{
    const struct tlb_entry *entry = &x->sm->tlb[sm_tlb_index(va)];
    const uint64_t below = PPU_PAGE_4K - 1;

    return (struct page){ entry->tag & ~below, (~entry->mask | below) + 1, x->vram + entry->frame };
}

#endif
