/* SPDX-License-Identifier: MIT */
/* Gives kernels memory while they run: pieces of the heap of their nest (B14; docs/spec/opencl.md). */
#include "enqueue/heap.h"
#include "enqueue/record.h"

#define MOST_BYTES (1u << 30)
#define ERROR_PIECE (-30) /* CL_INVALID_VALUE */

global void *LIBRARY ppu_heap_take(uint bytes)
{
    record_t own = own_record();

    return own != 0 && bytes <= MOST_BYTES ? (global void *)heap_take(nest_of(own), bytes) : 0;
}

/* The heap can have given this: it lies whole in what has been handed out, and says of itself what it may. */
INLINE bool is_piece(global struct ppu_heap *heap, ulong va)
{
    ulong from = (ulong)heap + sizeof(struct ppu_heap) + sizeof(struct ppu_heap_piece);
    uint used = load(&heap->used);

    if (va % sizeof(struct ppu_heap_piece) != 0 || va < from || va >= (ulong)heap + used) {
        return false;
    }
    global struct ppu_heap_piece *piece = (global struct ppu_heap_piece *)va - 1;
    uint class = piece->in_class;
    return class >= PPU_HEAP_MIN_CLASS && class < PPU_HEAP_CLASSES &&
           (ulong)piece - (ulong)heap + (1ul << class) <= used;
}

int LIBRARY ppu_heap_give(global void *at)
{
    record_t own = own_record();

    if (at == 0) {
        return 0;
    }
    global struct ppu_heap *heap = own != 0 ? (global struct ppu_heap *)nest_of(own)->heap_va : 0;
    if (heap == 0 || !is_piece(heap, (ulong)at)) {
        return ERROR_PIECE;
    }
    heap_give_to(heap, (ulong)at);
    return 0;
}
