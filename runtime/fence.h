/* SPDX-License-Identifier: MIT */
/*
 * Keeps the fences of a context's streams: semaphores that events of a stream count up to, one for each TMDQ, many in
 * one piece of VRAM. They end with the context.
 */
#ifndef RUNTIME_FENCE_H
#define RUNTIME_FENCE_H

#include <pthread.h>

#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/sem.h"
#include "ppu/task.h"
#include "runtime/include/ppu.h"

struct ppu_context;

#define FENCES_A_PIECE ((uint32_t)(PPU_PAGE_64K / sizeof(struct ppu_sem)))

struct fence_piece {
    struct ppu_memory *memory; /* NULL: no event has needed it */
    uint32_t *last;            /* value of each fence's last event, whichever stream of the TMDQ has had it */
};

struct fences {
    pthread_mutex_t lock;
    struct fence_piece piece[PPU_MAX_STREAMS / FENCES_A_PIECE + 1];
};

struct fence {
    const struct ppu_sem *sem; /* NULL: not known yet */
    ppu_va_t va;
    uint32_t *last;
};

void fences_init(struct fences *fences);
/* The context has ended and maps nothing any more. */
void fences_fini(struct fences *fences);

/* Finds the fence of a TMDQ, in new memory where there is none. Errors: NO_MEMORY, NO_VRAM. */
enum ppu_err fence_find(struct ppu_context *context, uint32_t tmdq, struct fence *fence);

#endif
