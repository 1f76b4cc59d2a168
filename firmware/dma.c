/* SPDX-License-Identifier: MIT */
#include "firmware/dma.h"

#include "firmware/hal.h"
#include "ppu/dma.h"

/* One for each operation, so that fields an operation does not use stay zero and need not be written each time. */
static FW_DMA struct ppu_dma_desc copy_desc;
static FW_DMA struct ppu_dma_desc queued_desc;
static FW_DMA struct ppu_dma_desc release_desc;
static FW_DMA struct ppu_dma_desc arm_desc;

static const struct ppu_dma_desc *last = &copy_desc;

static uint16_t submit_desc(const struct ppu_dma_desc *desc)
{
    last = desc;
    hal_write(PPU_REG_DMA_SUBMIT, hal_mcu_address(desc));
    return (uint16_t)desc->status;
}

static uint16_t fetch(uint32_t context, ppu_va_t from, uint32_t to_space, uint32_t to, uint32_t len_bytes)
{
    copy_desc.op = PPU_DMA_COPY;
    copy_desc.src = from.va;
    copy_desc.src_space = context;
    copy_desc.dst = to;
    copy_desc.dst_space = to_space;
    copy_desc.len_bytes = len_bytes;
    return submit_desc(&copy_desc);
}

uint16_t dma_fetch(uint32_t context, ppu_va_t from, void *object, uint32_t len_bytes)
{
    return fetch(context, from, PPU_SPACE_MCU, hal_mcu_address(object), len_bytes);
}

uint16_t dma_fetch_to_vram(uint32_t context, ppu_va_t from, ppu_vram_t to, uint32_t len_bytes)
{
    return fetch(context, from, PPU_SPACE_VRAM, to.off, len_bytes);
}

uint16_t dma_queue_copy(uint32_t context, ppu_va_t from, ppu_va_t to, uint64_t len_bytes, uint32_t tag)
{
    queued_desc.op = PPU_DMA_COPY_QUEUED;
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
    release_desc.op = PPU_DMA_SEM_RELEASE;
    release_desc.flags = flags;
    release_desc.dst = at.va;
    release_desc.dst_space = context;
    release_desc.value = value;
    return submit_desc(&release_desc);
}

uint16_t dma_arm_semaphore(uint32_t context, ppu_va_t at, uint32_t entry, uint32_t tag, uint32_t *payload)
{
    arm_desc.op = PPU_DMA_SEM_ARM;
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
    return (struct dma_failure){ last->result, (uint8_t)last->result_access };
}
