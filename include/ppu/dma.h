/* SPDX-License-Identifier: MIT */
/*
 * Defines the descriptors that the MCU hands to the device's memory side: copies, address probes and semaphores. The
 * MCU fills one in its own memory and writes its address to DMA_SUBMIT; when the store completes, `status` (and what
 * the operation returns) is there. A COPY_QUEUED that was accepted ends with an entry of PPU_RING_COPY.
 */
#ifndef PPU_DMA_H
#define PPU_DMA_H

#include "ppu/base.h"

enum ppu_dma_op {
    PPU_DMA_COPY = 1,        /* at most PPU_COPY_SYNC_MAX bytes, at once */
    PPU_DMA_COPY_QUEUED = 2, /* any length, in steps; event with `tag` */
    PPU_DMA_PROBE = 3,       /* translate src; physical address into `result`, aperture into `result_space` */
    PPU_DMA_SEM_RELEASE = 4, /* write `value` (and time, flag bit 0) to the semaphore at dst; touches it */
    PPU_DMA_SEM_ARM = 5,     /* arm table entry `entry` with the word at src and `tag`, then read it into `result` */
};

/* Address spaces of a descriptor's addresses. */
#define PPU_SPACE_VRAM 0x80000000u /* VRAM offset, protected range included */
#define PPU_SPACE_MCU 0x80000001u  /* the MCU's DTCM */
#define PPU_SPACE_BUS 0x80000002u  /* system memory, as the PCI function addresses it */
/* below PPU_MAX_CONTEXTS: virtual address of that context, checked by the MMU */

#define PPU_DMA_FLAG_TIME (1u << 0)

struct ppu_dma_desc {
    uint32_t op; /* enum ppu_dma_op */
    uint32_t flags;
    uint64_t src;
    uint64_t dst;
    uint32_t src_space;
    uint32_t dst_space;
    uint64_t len_bytes;
    uint32_t tag;
    uint32_t value;
    uint32_t entry;
    /* The device writes these. */
    uint32_t status; /* fault.def; 0: done or, when queued, accepted */
    uint64_t result; /* on a failure: the address that failed */
    uint32_t result_space;
    uint32_t result_access; /* enum ppu_access of the side that failed */
};
PPU_ASSERT_SIZE(struct ppu_dma_desc, 72);
PPU_ASSERT_OFFSET(struct ppu_dma_desc, status, 52);

#endif
