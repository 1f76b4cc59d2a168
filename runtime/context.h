/* SPDX-License-Identifier: MIT */
/* Keeps an address space: its number, its page tables, its virtual addresses, what is mapped. */
#ifndef RUNTIME_CONTEXT_H
#define RUNTIME_CONTEXT_H

#include "runtime/device.h"
#include "runtime/fence.h"
#include "runtime/pagetable.h"

struct mapping;
struct tmdqs;

struct ppu_context {
    struct ppu_device *device;
    uint32_t id;
    struct tmdqs *tmdqs; /* of its streams */
    struct fences fences;
    /* The device's memory_lock guards these. */
    struct page_table table;
    struct range_pool addresses;
    struct mapping *mappings; /* list */
    struct ppu_memory *nest;  /* nest.h; NULL: threads cannot launch */
    struct ppu_memory *heap;  /* of those threads; NULL: none */
    uint64_t area;            /* where CTAs go that the device takes off SMs: offset in VRAM */
    bool has_area;
    uint64_t nest_saves; /* its nest's save area: offset in VRAM, mapped nowhere */
    bool has_saves;
};

#endif
