/* SPDX-License-Identifier: MIT */
#include "runtime/fence.h"

#include <stdlib.h>

#include "runtime/context.h"

void fences_init(struct fences *fences)
{
    pthread_mutex_init(&fences->lock, NULL);
}

void fences_fini(struct fences *fences)
{
    for (uint32_t i = 0; i < PPU_ARRAY_SIZE(fences->piece); i++) {
        ppu_memory_free(fences->piece[i].memory);
        free(fences->piece[i].last);
    }
    pthread_mutex_destroy(&fences->lock);
}

/* The memory is zero, as the values are. */
static enum ppu_err make_piece(struct ppu_context *context, struct fence_piece *piece)
{
    uint32_t *last = calloc(FENCES_A_PIECE, sizeof(last[0]));

    if (!last) {
        return PPU_ERR_NO_MEMORY;
    }
    enum ppu_err err =
        ppu_memory_create(context, PPU_MEMORY_VRAM, FENCES_A_PIECE * sizeof(struct ppu_sem), &piece->memory);
    if (err == PPU_OK) {
        piece->last = last;
    } else {
        free(last);
    }
    return err;
}

enum ppu_err fence_find(struct ppu_context *context, uint32_t tmdq, struct fence *fence)
{
    struct fences *fences = &context->fences;
    struct fence_piece *piece = &fences->piece[tmdq / FENCES_A_PIECE];
    uint32_t at = tmdq % FENCES_A_PIECE;

    pthread_mutex_lock(&fences->lock);
    enum ppu_err err = piece->memory ? PPU_OK : make_piece(context, piece);
    pthread_mutex_unlock(&fences->lock);
    if (err == PPU_OK) {
        fence->sem = (const struct ppu_sem *)ppu_memory_host(piece->memory) + at;
        fence->va = (ppu_va_t){ ppu_memory_va(piece->memory, context).va + at * sizeof(struct ppu_sem) };
        fence->last = &piece->last[at];
    }
    return err;
}
