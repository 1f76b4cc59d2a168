/* SPDX-License-Identifier: MIT */
/*
 * Joins the free pieces of the heap that an address space's threads take from (ppu/heap.h). Threads write the heap, so
 * nothing of it is believed: what contradicts itself stays as it is.
 */
#include "ppu/heap.h"

#include <stdlib.h>

#include "ppu/macros.h"
#include "ppu/nest.h"
#include "runtime/context.h"
#include "runtime/memory.h"

struct piece {
    uint32_t at, bytes; /* offset in the heap */
};

struct pieces {
    const struct ppu_heap *heap;
    uint32_t used; /* the heap's, at most its bytes */
    struct piece *list;
    uint32_t count, room;
};

static struct ppu_heap_piece *piece_at(const struct ppu_heap *heap, uint32_t at)
{
    return (struct ppu_heap_piece *)((uintptr_t)heap + at);
}

/* False: there cannot be such a piece, or there is no memory for it here. */
static bool add_piece(struct pieces *pieces, uint64_t at, uint32_t class)
{
    const uint64_t bytes = 1ull << class;

    if (class < PPU_HEAP_MIN_CLASS || at < sizeof(struct ppu_heap) || at % (1u << PPU_HEAP_MIN_CLASS) != 0 ||
        at + bytes > pieces->used || pieces->count >= pieces->used >> PPU_HEAP_MIN_CLASS) {
        return false;
    }
    if (pieces->count == pieces->room) {
        const uint32_t room = PPU_MAX(2 * pieces->room, 1024u);
        struct piece *list = realloc(pieces->list, room * sizeof(*list));
        if (!list) {
            return false;
        }
        pieces->list = list;
        pieces->room = room;
    }
    pieces->list[pieces->count++] = (struct piece){ (uint32_t)at, (uint32_t)bytes };
    return true;
}

static bool find_free(struct pieces *pieces)
{
    for (uint32_t class = 0; class < PPU_HEAP_CLASSES; class ++) {
        uint32_t at = (uint32_t)pieces->heap->free[class];
        while (at != 0) {
            if (!add_piece(pieces, at, class)) {
                return false;
            }
            at = piece_at(pieces->heap, at)->next;
        }
    }
    return true;
}

/* What records keep as private memory of whatever task has them next is as good as free while none has. */
static bool find_kept(struct pieces *pieces, const struct ppu_nest_task *records, uint32_t count, uint64_t heap_va)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t va = records[i].local_va, at = va - heap_va - sizeof(struct ppu_heap_piece);
        const bool within = at < pieces->used;
        if (va != 0 &&
            !(within && at % (1u << PPU_HEAP_MIN_CLASS) == 0 &&
              add_piece(pieces, at, piece_at(pieces->heap, (uint32_t)at)->in_class & (PPU_HEAP_CLASSES - 1)))) {
            return false;
        }
    }
    return true;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Makes longer ones of pieces that touch; false: two have the same bytes. */
static bool join_pieces(struct pieces *pieces)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < pieces->count; i++) {
        const struct piece *next = &pieces->list[i];
        struct piece *last = count != 0 ? &pieces->list[count - 1] : NULL;
        if (last && last->at + last->bytes > next->at) {
            return false;
        }
        if (last && last->at + last->bytes == next->at) {
            last->bytes += next->bytes;
        } else {
            pieces->list[count++] = *next;
        }
    }
    pieces->count = count;
    return true;
}

/* Another head of a list, with the count of changes that tells threads so. */
static uint64_t list_head(uint64_t former, uint32_t at)
{
    return at | ((former >> 32) + 1) << 32;
}

static void put_back(struct ppu_heap *heap, const struct piece *piece)
{
    uint32_t at = piece->at;

    while (at != piece->at + piece->bytes) {
        const uint32_t class = 31u - (uint32_t)__builtin_clz(piece->at + piece->bytes - at);
        *piece_at(heap, at) = (struct ppu_heap_piece){ .next = (uint32_t)heap->free[class], .in_class = class };
        heap->free[class] = list_head(heap->free[class], at);
        at += 1u << class;
    }
}

static void put_all_back(struct ppu_heap *heap, const struct pieces *pieces)
{
    uint32_t count = pieces->count, used = pieces->used;

    if (count != 0 && pieces->list[count - 1].at + pieces->list[count - 1].bytes == used) {
        used = pieces->list[--count].at;
    }
    for (uint32_t class = 0; class < PPU_HEAP_CLASSES; class ++) {
        heap->free[class] = list_head(heap->free[class], 0);
    }
    heap->used = used;
    for (uint32_t i = 0; i < count; i++) {
        put_back(heap, &pieces->list[i]);
    }
}

/* The nest's records, when no task has one; NULL: some has, or the nest is no nest any more. */
static struct ppu_nest_task *free_records(const struct ppu_memory *memory, uint32_t *count)
{
    const struct ppu_nest *nest = ppu_memory_host(memory);

    *count = nest->tasks;
    if (nest->free_tail - nest->free_head != *count || *count > PPU_NEST_MAX_TASKS ||
        PPU_NEST_GROUPS_AT(*count) > ppu_memory_bytes(memory)) {
        return NULL;
    }
    return (struct ppu_nest_task *)((uintptr_t)nest + PPU_NEST_TASKS_AT(*count));
}

/* Bytes that pieces may lie in, as far as the head of the heap and its memory agree. */
static uint32_t heap_bytes(const struct ppu_context *context, const struct ppu_heap *heap)
{
    return (uint32_t)PPU_MIN(heap->bytes, ppu_memory_bytes(context->heap));
}

void ppu_context_join_heap(struct ppu_context *context)
{
    struct ppu_heap *heap = context->heap ? ppu_memory_host(context->heap) : NULL;
    const uint32_t bytes = heap ? heap_bytes(context, heap) : 0;
    struct pieces pieces = { .heap = heap, .used = heap ? PPU_MIN(heap->used, bytes) : 0 };
    uint32_t count = 0;

    if (pieces.used <= bytes / 2) { /* what was in no piece yet is enough */
        return;
    }
    struct ppu_nest_task *records = free_records(context->nest, &count);
    if (records && find_free(&pieces) && find_kept(&pieces, records, count, ppu_memory_va(context->heap, context).va)) {
        qsort(pieces.list, pieces.count, sizeof(pieces.list[0]), compare_pieces);
        if (join_pieces(&pieces)) {
            for (uint32_t i = 0; i < count; i++) {
                records[i].local_va = 0;
                records[i].local_size = 0;
            }
            put_all_back(heap, &pieces);
        }
    }
    free(pieces.list);
}
