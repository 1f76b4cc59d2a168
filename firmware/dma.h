/* SPDX-License-Identifier: MIT */
/*
 * Hands descriptors to the device's memory side (ppu/dma.h). Every function returns 0 or a fault code; after a failure
 * dma_failure() tells where.
 */
#ifndef FIRMWARE_DMA_H
#define FIRMWARE_DMA_H

#include <stdint.h>

#include "ppu/base.h"

struct dma_failure {
    uint64_t address;
    uint8_t access; /* enum ppu_access */
};

void dma_init(void);

/* Copies len_bytes (at most PPU_COPY_SYNC_MAX) of `context` into an FW_DMA object. */
uint16_t dma_fetch(uint32_t context, ppu_va_t from, void *object, uint32_t len_bytes);

/* Copies into VRAM likewise, protected range included. */
uint16_t dma_fetch_to_vram(uint32_t context, ppu_va_t from, ppu_vram_t to, uint32_t len_bytes);

/* Copies an FW_DMA object to memory of `context`. */
uint16_t dma_store(uint32_t context, const void *object, ppu_va_t to, uint32_t len_bytes);

/* Queues a copy within `context`; when it returns 0 an entry of PPU_RING_COPY with `tag` will follow. */
uint16_t dma_queue_copy(uint32_t context, ppu_va_t from, ppu_va_t to, uint64_t len_bytes, uint32_t tag);

/* Writes a semaphore, time included on demand, and reports it to whoever has it armed. */
uint16_t dma_release_semaphore(uint32_t context, ppu_va_t at, uint32_t value, uint32_t flags);

/* Arms entry `entry` of the semaphore table with the word, then reads the word. */
uint16_t dma_arm_semaphore(uint32_t context, ppu_va_t at, uint32_t entry, uint32_t tag, uint32_t *payload);

struct dma_failure dma_failure(void);

#endif
