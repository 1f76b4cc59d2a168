/* SPDX-License-Identifier: MIT */
#include "dma.h"

#include "hal.h"
#include "ppu/dma.h"

static FW_DMA struct ppu_dma_desc desc;

static uint16_t submit(void)
{
    hal_write(PPU_REG_DMA_SUBMIT, hal_mcu_address(&desc));
    return (uint16_t)desc.status;
}

uint16_t dma_fetch(uint32_t context, ppu_va_t from, void *object, uint32_t len_bytes)
{
    desc = (struct ppu_dma_desc){
        .op = PPU_DMA_COPY,
        .src = from.va,
        .src_space = context,
        .dst = hal_mcu_address(object),
        .dst_space = PPU_SPACE_MCU,
        .len_bytes = len_bytes,
    };
    return submit();
}

uint16_t dma_fetch_to_vram(uint32_t context, ppu_va_t from, ppu_vram_t to, uint32_t len_bytes)
{
    desc = (struct ppu_dma_desc){
        .op = PPU_DMA_COPY,
        .src = from.va,
        .src_space = context,
        .dst = to.off,
        .dst_space = PPU_SPACE_VRAM,
        .len_bytes = len_bytes,
    };
    return submit();
}

uint16_t dma_queue_copy(uint32_t context, ppu_va_t from, ppu_va_t to, uint64_t len_bytes, uint32_t tag)
{
    desc = (struct ppu_dma_desc){
        .op = PPU_DMA_COPY_QUEUED,
        .src = from.va,
        .src_space = context,
        .dst = to.va,
        .dst_space = context,
        .len_bytes = len_bytes,
        .tag = tag,
    };
    return submit();
}

uint16_t dma_release_semaphore(uint32_t context, ppu_va_t at, uint32_t value, uint32_t flags)
{
    desc = (struct ppu_dma_desc){
        .op = PPU_DMA_SEM_RELEASE,
        .flags = flags,
        .dst = at.va,
        .dst_space = context,
        .value = value,
    };
    return submit();
}

uint16_t dma_arm_semaphore(uint32_t context, ppu_va_t at, uint32_t entry, uint32_t tag, uint32_t *payload)
{
    desc = (struct ppu_dma_desc){
        .op = PPU_DMA_SEM_ARM,
        .src = at.va,
        .src_space = context,
        .entry = entry,
        .tag = tag,
    };
    uint16_t status = submit();
    *payload = (uint32_t)desc.result;
    return status;
}

struct dma_failure dma_failure(void)
{
    return (struct dma_failure){ desc.result, (uint8_t)desc.result_access };
}
