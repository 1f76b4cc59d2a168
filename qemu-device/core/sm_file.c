/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The register file and the shared memory of an SM. Each CTA has one block in each. The distributor counts only totals,
 * so blocks are moved together when no hole at the end is large enough: a CTA that fits by count always fits.
 */
#include "sm_state.h"

#include <stdlib.h>
#include <string.h>

#define FILE_ALIGN 64u

static size_t rounded(size_t len)
{
    return (len + FILE_ALIGN - 1) & ~(size_t)(FILE_ALIGN - 1);
}

static bool file_init(struct sm_file *file, size_t cap)
{
    file->cap = rounded(cap);
    file->bytes = aligned_alloc(FILE_ALIGN, file->cap);
    return file->bytes != NULL;
}

bool sm_file_init(struct sm *sm)
{
    const struct core_config *config = core_config_of(sm->core);

    /* A CTA's shared memory is rounded up; every CTA may waste less than FILE_ALIGN. */
    return file_init(&sm->file[SM_FILE_VREGS], (size_t)config->sm_vregs * sizeof(uint32_t)) &&
           file_init(&sm->file[SM_FILE_SHARED], config->sm_shared + (size_t)config->sm_ctas * FILE_ALIGN);
}

void sm_file_free(struct sm *sm)
{
    for (uint32_t id = 0; id < SM_FILE_COUNT; id++) {
        free(sm->file[id].bytes);
        sm->file[id].bytes = NULL;
    }
}

/* The block with the lowest offset not below `from`; NULL: none. */
static struct sm_block *next_block(struct sm *sm, uint32_t id, size_t from)
{
    struct sm_block *best = NULL;

    for (uint32_t i = 0; i < core_config_of(sm->core)->sm_ctas; i++) {
        struct sm_block *block = &sm->cta[i].block[id];
        if (sm->cta[i].used && block->len != 0 && block->off >= from && (best == NULL || block->off < best->off)) {
            best = block;
        }
    }
    return best;
}

static void compact(struct sm *sm, uint32_t id)
{
    struct sm_file *file = &sm->file[id];
    struct sm_block *block;
    size_t from = 0, to = 0;

    while ((block = next_block(sm, id, from)) != NULL) {
        from = block->off + block->len;
        memmove(file->bytes + to, file->bytes + block->off, block->len);
        block->off = to;
        to += block->len;
    }
    file->tail = to;
}

static void take(struct sm *sm, uint32_t id, struct sm_block *block, size_t len)
{
    struct sm_file *file = &sm->file[id];

    *block = (struct sm_block){ 0, 0 };
    len = rounded(len);
    if (file->cap - file->tail < len) {
        compact(sm, id);
    }
    *block = (struct sm_block){ file->tail, len };
    memset(file->bytes + block->off, 0, len);
    file->tail += len;
}

void sm_file_take(struct sm *sm, struct sm_cta *cta, size_t vreg_bytes, size_t shared_bytes)
{
    take(sm, SM_FILE_VREGS, &cta->block[SM_FILE_VREGS], vreg_bytes);
    take(sm, SM_FILE_SHARED, &cta->block[SM_FILE_SHARED], shared_bytes);
}

void sm_file_give(struct sm_cta *cta)
{
    for (uint32_t id = 0; id < SM_FILE_COUNT; id++) {
        cta->block[id] = (struct sm_block){ 0, 0 };
    }
}
