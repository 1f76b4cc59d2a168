/* SPDX-License-Identifier: MIT */
/* Takes pieces of the heap that a nest has, and gives them back (ppu/heap.h; as device-lib/asm/heap.s does). */
#ifndef DEVICE_LIB_OPENCL_ENQUEUE_HEAP_H
#define DEVICE_LIB_OPENCL_ENQUEUE_HEAP_H

#include "ppu/heap.h"
#include "ppu/nest.h"
#include "word.h"

typedef global struct ppu_heap *heap_t;

INLINE volatile global struct ppu_heap_piece *heap_at(heap_t heap, uint offset)
{
    return (volatile global struct ppu_heap_piece *)((ulong)heap + offset);
}

INLINE void heap_push(heap_t heap, uint class, uint piece)
{
    ulong head;

    do {
        head = load64(&heap->free[class]);
        heap_at(heap, piece)->next = (uint)head;
    } while (!replace64(&heap->free[class], head, piece | ((head >> 32) + 1) << 32));
}

/* 0: the class has no free piece. */
INLINE uint heap_pop(heap_t heap, uint class)
{
    for (;;) {
        ulong head = load64(&heap->free[class]);
        if ((uint)head == 0) {
            return 0;
        }
        uint next = heap_at(heap, (uint)head)->next; /* whatever it is when the piece has been taken meanwhile */
        if (replace64(&heap->free[class], head, next | ((head >> 32) + 1) << 32)) {
            return (uint)head;
        }
    }
}

/* Memory that was in no piece yet. */
INLINE uint heap_new(heap_t heap, uint class)
{
    for (;;) {
        uint used = load(&heap->used);
        if (used > heap->bytes || heap->bytes - used < 1u << class) {
            return 0;
        }
        if (replace(&heap->used, used, used + (1u << class))) {
            return used;
        }
    }
}

/* The smallest class, from this one on, that has a free piece. */
INLINE uint heap_free_class(heap_t heap, uint class)
{
    __attribute__((opencl_unroll_hint(1))) while (class < PPU_HEAP_CLASSES &&
                                                  load((global uint *)&heap->free[class]) == 0)
    {
        class ++;
    }
    return class;
}

/*
 * Halves the smallest of the larger pieces. A thread that finds none looks again as long as another one has pieces in
 * its hands, but not for ever: that one may have been ended.
 */
INLINE uint heap_halve(heap_t heap, uint class)
{
    __attribute__((opencl_unroll_hint(1))) for (uint look = 0; look < PPU_HEAP_LOOKS; look++)
    {
        const uint ended = load(&heap->ended);
        uint from = heap_free_class(heap, class);
        if (from == PPU_HEAP_CLASSES) {
            if (load(&heap->begun) == ended) {
                return 0;
            }
            continue;
        }
        add(&heap->begun, 1);
        const uint piece = heap_pop(heap, from);
        __attribute__((opencl_unroll_hint(1))) while (piece != 0 && from > class)
        {
            from--;
            heap_at(heap, piece + (1u << from))->in_class = from;
            heap_push(heap, from, piece + (1u << from));
        }
        add(&heap->ended, 1);
        if (piece != 0) {
            return piece;
        }
    }
    exchange(&heap->ended, load(&heap->begun));
    return 0;
}

/* 0: it has no such piece left. `bytes` at most 2^30. */
INLINE ulong heap_take(global struct ppu_nest *nest, uint bytes)
{
    heap_t heap = (heap_t)nest->heap_va;
    const uint class = max(32u - clz(bytes + 15u), PPU_HEAP_MIN_CLASS);

    if (heap == 0) {
        return 0;
    }
    uint piece = heap_pop(heap, class);
    if (piece == 0) {
        piece = heap_new(heap, class);
    }
    if (piece == 0) {
        piece = heap_halve(heap, class);
    }
    if (piece == 0) {
        return 0;
    }
    heap_at(heap, piece)->in_class = class;
    return (ulong)(heap_at(heap, piece) + 1);
}

INLINE void heap_give_to(heap_t heap, ulong va)
{
    const uint piece = (uint)(va - (ulong)heap) - (uint)sizeof(struct ppu_heap_piece);

    heap_push(heap, heap_at(heap, piece)->in_class & (PPU_HEAP_CLASSES - 1), piece);
}

INLINE void heap_give(global struct ppu_nest *nest, ulong va)
{
    heap_give_to((heap_t)nest->heap_va, va);
}

#endif
