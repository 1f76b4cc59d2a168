/* SPDX-License-Identifier: MIT */
/* Takes pieces of the heap that a nest has (ppu/heap.h). */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_HEAP_H
#define DEVICE_LIB_OPENCL_ENQUEUE_HEAP_H

#include "ppu/heap.h"
#include "ppu/nest.h"
#include "word.h"

/* 0: it has no such piece left. `bytes` at most 2^30. */
INLINE ulong heap_take(global struct ppu_nest *nest, uint bytes)
{
    global struct ppu_heap *heap = (global struct ppu_heap *)nest->heap_va;
    uint class = max(32u - clz(bytes + 15u), PPU_HEAP_MIN_CLASS), piece = 0;

    if (heap == 0) {
        return 0;
    }
    for (;;) {
        ulong head = load64(&heap->free[class]);
        piece = (uint)head;
        if (piece == 0) {
            break;
        }
        uint next = *(volatile global uint *)((ulong)heap + piece);
        if (replace64(&heap->free[class], head, next | ((head >> 32) + 1) << 32)) {
            break;
        }
    }
    while (piece == 0) {
        uint used = load(&heap->used);
        if (used > heap->bytes || heap->bytes - used < 1u << class) {
            return 0;
        }
        piece = replace(&heap->used, used, used + (1u << class)) ? used : 0;
    }
    global struct ppu_heap_piece *at = (global struct ppu_heap_piece *)((ulong)heap + piece);
    at->in_class = class;
    return (ulong)(at + 1);
}

INLINE void heap_give_to(global struct ppu_heap *heap, ulong va)
{
    global struct ppu_heap_piece *piece = (global struct ppu_heap_piece *)va - 1;
    uint class = piece->in_class & (PPU_HEAP_CLASSES - 1);

    for (;;) {
        ulong head = load64(&heap->free[class]);
        *(volatile global uint *)&piece->next = (uint)head;
        if (replace64(&heap->free[class], head, (uint)((ulong)piece - (ulong)heap) | ((head >> 32) + 1) << 32)) {
            break;
        }
    }
}

INLINE void heap_give(global struct ppu_nest *nest, ulong va)
{
    heap_give_to((global struct ppu_heap *)nest->heap_va, va);
}

#endif
