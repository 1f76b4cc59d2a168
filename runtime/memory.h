/* SPDX-License-Identifier: MIT */
/* Memory and its mappings; all under the device's memory_lock. */
#ifndef PPU_RUNTIME_MEMORY_H
#define PPU_RUNTIME_MEMORY_H

#include "context.h"

/* One memory in one context: a member of the lists of both. */
struct mapping {
    struct ppu_memory *memory;
    struct ppu_context *context;
    uint64_t va;
    struct mapping *next_of_memory;
    struct mapping *next_of_context;
};

struct ppu_memory {
    struct ppu_device *device;
    enum ppu_memory_kind kind;
    uint64_t bytes;
    uint8_t *host;
    uint64_t place;                  /* PPU_MEMORY_VRAM: offset */
    struct ppu_system_memory system; /* PPU_MEMORY_SYSTEM */
    struct mapping *mappings;        /* list */
    struct ppu_memory *next_kept;
};

/* The context goes: forgets its mappings without touching page tables. With memory_lock. */
void memory_forget_context(struct ppu_context *context);
/* The device stands still: gives back what ppu_memory_free() had to keep. */
void memory_free_kept(struct ppu_device *device);

#endif
