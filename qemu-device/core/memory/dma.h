/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Implements the copy engine. All [lock]. */
#ifndef QEMU_DEVICE_CORE_MEMORY_DMA_H
#define QEMU_DEVICE_CORE_MEMORY_DMA_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"

struct core;
struct snap;

/* Under the host lock. */
struct dma_copy {
    uint64_t src;
    uint64_t dst;
    uint32_t src_space;
    uint32_t dst_space;
    uint64_t len_bytes;
    uint64_t done_bytes;
    uint32_t tag;
};

struct dma {
    struct dma_copy queue[PPU_MAX_COPIES]; /* circular */
    uint32_t head;
    uint32_t count;
    uint64_t deadline_ns; /* of the next step */
    bool held;            /* by a test hook */
};

void dma_submit(struct core *core, uint32_t mcu_addr);
void dma_cancel(struct core *core, uint32_t tag);
void dma_run(struct core *core, uint64_t now_ns); /* steps that are due */
void dma_release(struct core *core);              /* a test hook let go */
void dma_reset(struct core *core);
void dma_save(struct core *core, struct snap *snap);
void dma_load(struct core *core, struct snap *snap);

#endif
