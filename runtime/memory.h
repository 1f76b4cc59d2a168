/* SPDX-License-Identifier: MIT */
/* Allocates and maps memory; all under the device's memory_lock. */
#ifndef RUNTIME_MEMORY_H
#define RUNTIME_MEMORY_H

#include "runtime/context.h"

/* One memory in one context: a member of the lists of both. */
struct mapping {
    struct ppu_memory *memory;
    struct ppu_context *context;
    uint64_t va;
    bool cleared; /* its page-table entries are; its addresses wait for a flush that was not answered */
    struct mapping *next_of_memory;
    struct mapping *next_of_context;
};

struct ppu_memory {
    struct ppu_device *device;
    enum ppu_memory_kind kind;
    uint64_t bytes;
    uint8_t *host;
    uint64_t vram_offset;            /* of PPU_MEMORY_VRAM */
    struct ppu_system_memory system; /* PPU_MEMORY_SYSTEM */
    bool peer;                       /* it is another device's VRAM, which `system` names */
    struct mapping *mappings;        /* list */
    struct ppu_memory *next_kept;
};

/* The context goes: forgets its mappings without touching page tables. With memory_lock. */
void memory_forget_context(struct ppu_context *context);
/*
 * Frees the memory of an object that has ended: an error would say that the object is still there. So DEVICE_LOST alone
 * is told; without an answer the memory is kept until the device is closed. NULL is none.
 */
enum ppu_err memory_end(struct ppu_memory *memory);
/* The device stands still: gives back what ppu_memory_free() had to keep. */
void memory_free_kept(struct ppu_device *device);

#endif
