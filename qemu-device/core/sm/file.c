/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The register file, the shared memory and the token queues of an SM. Each CTA has one block in each. The distributor
 * counts only totals, so blocks are moved together when no hole at the end is large enough: a CTA that fits by count
 * always fits. Token queues lie in VRAM, in this SM's share of what TOKEN_BASE names, so that whoever stops a warp
 * finds them there (E1).
 */
#include "qemu-device/core/sm/file.h"
#include "ppu/macros.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/warp.h"

#include <stdlib.h>
#include <string.h>

#if SM_FILE_SHADED
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, len) ((void)(at), (void)(len))
#define ASAN_UNPOISON_MEMORY_REGION(at, len) ((void)(at), (void)(len))
#endif

#define FILE_ALIGN 64u

/* ---- what may be accessed, in builds with the address sanitizer ---- */

/* Token queues lie in VRAM, which others copy and clear as a whole: they are forbidden only while a warp runs. */
static void block_shade(const struct sm_file *file, uint32_t id, const struct sm_block *block)
{
    if (id < SM_FILE_OWN) {
        ASAN_POISON_MEMORY_REGION(file->bytes + block->off, block->len);
    }
}

static void block_show(const struct sm_file *file, uint32_t id, const struct sm_block *block)
{
    if (id < SM_FILE_OWN) {
        ASAN_UNPOISON_MEMORY_REGION(file->bytes + block->off, block->len);
    }
}

#if SM_FILE_SHADED
void sm_file_enter(const struct exec *x)
{
    const struct sm *const sm = x->sm;
    const struct dist_task *const task = x->task;

    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        for (uint32_t id = 0; id < SM_FILE_OWN && sm->cta[i].used; id++) {
            block_shade(&sm->file[id], id, &sm->cta[i].block[id]);
        }
    }
    ASAN_POISON_MEMORY_REGION(sm->file[SM_FILE_TOKENS].bytes, sm->file[SM_FILE_TOKENS].cap);
    ASAN_UNPOISON_MEMORY_REGION(x->vreg, (size_t)x->stride * sizeof(uint32_t));
    ASAN_UNPOISON_MEMORY_REGION(x->shared, task->tmd.shared_bytes);
    ASAN_UNPOISON_MEMORY_REGION(sm_file_tokens(sm, x->cta, x->w->number),
                                (size_t)task->token_cap * PPU_TOKEN_WORDS(x->wave) * sizeof(uint32_t));
}

void sm_file_leave(const struct sm *sm)
{
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        for (uint32_t id = 0; id < SM_FILE_OWN && sm->cta[i].used; id++) {
            block_show(&sm->file[id], id, &sm->cta[i].block[id]);
        }
    }
    ASAN_UNPOISON_MEMORY_REGION(sm->file[SM_FILE_TOKENS].bytes, sm->file[SM_FILE_TOKENS].cap);
}
#endif

/* ---- blocks ---- */

static size_t rounded(size_t len)
{
    return ppu_align_up64(len, FILE_ALIGN);
}

static bool file_init(struct sm_file *file, size_t cap)
{
    file->cap = rounded(cap);
    file->bytes = aligned_alloc(FILE_ALIGN, file->cap);
    if (file->bytes) {
        ASAN_POISON_MEMORY_REGION(file->bytes, file->cap);
    }
    return file->bytes;
}

bool sm_file_init(struct sm *sm)
{
    const struct core_config *config = sm->config;

    /* A CTA's shared memory is rounded up; every CTA may waste less than FILE_ALIGN. */
    return file_init(&sm->file[SM_FILE_VREGS], (size_t)config->sm_vregs * sizeof(uint32_t)) &&
           file_init(&sm->file[SM_FILE_SHARED], config->sm_shared + (size_t)config->sm_ctas * FILE_ALIGN);
}

void sm_file_free(struct sm *sm)
{
    for (uint32_t id = 0; id < SM_FILE_OWN; id++) {
        free(sm->file[id].bytes);
        sm->file[id].bytes = NULL;
    }
}

void sm_file_find_tokens(struct sm *sm)
{
    uint32_t bytes = 0, at = core_tokens_share(sm->core, sm->number, &bytes);

    sm->file[SM_FILE_TOKENS] = (struct sm_file){ .bytes = sm->vram + at, .cap = bytes };
}

void sm_file_clear(void *bytes, size_t len)
{
    memset(bytes, 0, len);
}

/* The block with the lowest offset not below `from`; NULL: none. */
static struct sm_block *next_block(struct sm *sm, uint32_t id, size_t from)
{
    struct sm_block *best = NULL;

    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        struct sm_block *block = &sm->cta[i].block[id];
        if (sm->cta[i].used && block->len != 0 && block->off >= from && (!best || block->off < best->off)) {
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

    while ((block = next_block(sm, id, from))) {
        const struct sm_block moved = { to, block->len };

        from = block->off + block->len;
        block_show(file, id, &moved);
        if (id < SM_FILE_OWN) {
            memmove(file->bytes + to, file->bytes + block->off, block->len);
        } else {
            vram_copy(file->bytes + to, file->bytes + block->off, block->len); /* to lower addresses */
        }
        block->off = to;
        to += block->len;
    }
    block_shade(file, id, &(struct sm_block){ to, file->cap - to });
    file->tail = to;
    file->spare = (struct sm_block){ 0, 0 };
}

/* A CTA mostly follows one of its kind: what that left is in the host's caches. `start`:
 * dist_task.start of its task. */
static void take_block(struct sm *sm, uint32_t id, struct sm_block *block, size_t len, uint64_t start)
{
    struct sm_file *file = &sm->file[id];
    bool clear = id < SM_FILE_OWN;

    *block = (struct sm_block){ 0, 0 };
    len = rounded(len);
    if (file->spare.len >= len && len != 0) {
        *block = (struct sm_block){ file->spare.off, len };
        clear = clear && file->spare_for != start;
        file->spare = (struct sm_block){ file->spare.off + len, file->spare.len - len };
    } else {
        if (file->cap - file->tail < len) {
            compact(sm, id);
        }
        *block = (struct sm_block){ file->tail, len };
        file->tail += len;
    }
    block_show(file, id, block);
    if (clear) {
        sm_file_clear(file->bytes + block->off, len);
    }
}

void sm_file_take(struct sm *sm, struct sm_cta *cta)
{
    const struct dist_task *task = cta->cta.task;

    /* What is executed again must find the same, also where nobody reads it. */
    const uint64_t start = sm->core->debug.history ? UINT64_MAX : task->start;
    const uint64_t start_of_vregs = dist_cta_is_whole(&cta->cta) ? start : UINT64_MAX;

    take_block(sm, SM_FILE_VREGS, &cta->block[SM_FILE_VREGS], (size_t)task->cta_vregs[cta->cta.wide] * sizeof(uint32_t),
               start_of_vregs);
    take_block(sm, SM_FILE_SHARED, &cta->block[SM_FILE_SHARED], task->tmd.shared_bytes, start);
    take_block(sm, SM_FILE_TOKENS, &cta->block[SM_FILE_TOKENS], task->cta_tokens, start);
}

void sm_file_renew(struct sm *sm, const struct sm_cta *cta)
{
    const bool written =
        sm->program.start == cta->cta.task->start && sm->program.writes_first && dist_cta_is_whole(&cta->cta);

    for (uint32_t id = 0; id < SM_FILE_OWN; id++) {
        if (id != SM_FILE_VREGS || !written) {
            sm_file_clear(sm->file[id].bytes + cta->block[id].off, cta->block[id].len);
        }
    }
}

void sm_file_shade(const struct sm *sm)
{
    for (uint32_t id = 0; id < SM_FILE_OWN; id++) {
        block_shade(&sm->file[id], id, &(struct sm_block){ 0, sm->file[id].cap });
        for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
            if (sm->cta[i].used) {
                block_show(&sm->file[id], id, &sm->cta[i].block[id]);
            }
        }
    }
}

void sm_file_give(struct sm *sm, struct sm_cta *cta)
{
    for (uint32_t id = 0; id < SM_FILE_COUNT; id++) {
        block_shade(&sm->file[id], id, &cta->block[id]);
        sm->file[id].spare = cta->block[id];
        sm->file[id].spare_for = 0;
        cta->block[id] = (struct sm_block){ 0, 0 };
    }
    if (sm->program.start == cta->cta.task->start && sm->program.writes_first) {
        sm->file[SM_FILE_VREGS].spare_for = cta->cta.task->start;
    }
}
