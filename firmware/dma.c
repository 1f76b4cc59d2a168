/* SPDX-License-Identifier: MIT */
#include "firmware/dma.h"

#include "firmware/hal.h"
#include "ppu/dma.h"

/* One for each operation, so that fields which are always the same need not be written each time. */
static FW_DMA struct ppu_dma_desc fetch_desc;
static FW_DMA struct ppu_dma_desc params_desc;
static FW_DMA struct ppu_dma_desc store_desc;
static FW_DMA struct ppu_dma_desc queued_desc;
static FW_DMA struct ppu_dma_desc release_desc;
static FW_DMA struct ppu_dma_desc arm_desc;

static const struct ppu_dma_desc *failed = &fetch_desc; /* the last that did */

void dma_init(void)
{
    fetch_desc = (struct ppu_dma_desc){ .op = PPU_DMA_COPY, .dst_space = PPU_SPACE_MCU };
    params_desc = (struct ppu_dma_desc){ .op = PPU_DMA_COPY, .dst_space = PPU_SPACE_VRAM };
    store_desc = (struct ppu_dma_desc){ .op = PPU_DMA_COPY, .src_space = PPU_SPACE_MCU };
    queued_desc = (struct ppu_dma_desc){ .op = PPU_DMA_COPY_QUEUED };
    release_desc = (struct ppu_dma_desc){ .op = PPU_DMA_SEM_RELEASE };
    arm_desc = (struct ppu_dma_desc){ .op = PPU_DMA_SEM_ARM };
}

static inline uint16_t submit_desc(const struct ppu_dma_desc *desc)
{
    hal_write(PPU_REG_DMA_SUBMIT, hal_mcu_address(desc));
    uint16_t status = (uint16_t)desc->status;
    if (status) {
        failed = desc;
    }
    return status;
}

uint16_t dma_fetch(uint32_t context, ppu_va_t from, void *object, uint32_t len_bytes)
{
    fetch_desc.src = from.va;
    fetch_desc.src_space = context;
    fetch_desc.dst = hal_mcu_address(object);
    fetch_desc.len_bytes = len_bytes;
    return submit_desc(&fetch_desc);
}

uint16_t dma_fetch_to_vram(uint32_t context, ppu_va_t from, ppu_vram_t to, uint32_t len_bytes)
{
    params_desc.src = from.va;
    params_desc.src_space = context;
    params_desc.dst = to.off;
    params_desc.len_bytes = len_bytes;
    return submit_desc(&params_desc);
}

uint16_t dma_store(uint32_t context, const void *object, ppu_va_t to, uint32_t len_bytes)
{
    store_desc.src = hal_mcu_address(object);
    store_desc.dst = to.va;
    store_desc.dst_space = context;
    store_desc.len_bytes = len_bytes;
    return submit_desc(&store_desc);
}

uint16_t dma_queue_copy(uint32_t context, ppu_va_t from, ppu_va_t to, uint64_t len_bytes, uint32_t tag)
{
    queued_desc.src = from.va;
    queued_desc.src_space = context;
    queued_desc.dst = to.va;
    queued_desc.dst_space = context;
    queued_desc.len_bytes = len_bytes;
    queued_desc.tag = tag;
    return submit_desc(&queued_desc);
}

uint16_t dma_release_semaphore(uint32_t context, ppu_va_t at, uint32_t value, uint32_t flags)
{
    release_desc.flags = flags;
    release_desc.dst = at.va;
    release_desc.dst_space = context;
    release_desc.value = value;
    return submit_desc(&release_desc);
}

uint16_t dma_arm_semaphore(uint32_t context, ppu_va_t at, uint32_t entry, uint32_t tag, uint32_t *payload)
{
    arm_desc.src = at.va;
    arm_desc.src_space = context;
    arm_desc.entry = entry;
    arm_desc.tag = tag;
    uint16_t status = submit_desc(&arm_desc);
    *payload = (uint32_t)arm_desc.result;
    return status;
}

struct dma_failure dma_failure(void)
{
    return (struct dma_failure){ failed->result, (uint8_t)failed->result_access };
}
