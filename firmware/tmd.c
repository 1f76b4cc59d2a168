/* SPDX-License-Identifier: MIT */
#include "firmware/tmd.h"

#include <stdbool.h>
#include <string.h>

#include "firmware/caps.h"
#include "firmware/layout.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/token.h"

#define VA_END (1ull << PPU_VA_BITS)

/* Holds what a CTA takes of an SM, in the units of the identity registers. */
struct cta_need {
    uint32_t threads;
    uint32_t passes; /* of PPU_LANES lanes */
    uint32_t vregs;
    uint64_t local_bytes;
};

/* Dimensions are within PPU_MAX_CTA_DIM and the wave is one there is; nothing here overflows. */
static struct cta_need cta_need(const struct ppu_tmd *tmd)
{
    uint32_t threads = ppu_tmd_threads(tmd);
    uint32_t lanes = ppu_align_up(threads, tmd->wave);
    return (struct cta_need){
        .threads = threads,
        .passes = lanes / PPU_LANES,
        .vregs = lanes / tmd->wave * ppu_tmd_warp_vregs(tmd, ppu_tmd_is_wide(tmd)),
        .local_bytes = (uint64_t)lanes * tmd->local_bytes,
    };
}

static bool in(uint32_t value, uint32_t least, uint32_t most)
{
    return value >= least && value <= most;
}

static bool va_range(uint64_t va, uint64_t bytes)
{
    return va < VA_END && bytes <= VA_END - va;
}

static bool local_fits(const struct ppu_tmd *tmd, uint64_t bytes)
{
    return va_range(tmd->local_va, tmd->local_size) && tmd->local_size >= bytes;
}

static bool can_coreside(const struct ppu_tmd *tmd)
{
    return tmd->kind == PPU_TMD_GRID && !(tmd->flags & PPU_TMD_MAY_WAIT);
}

static bool is_one(const uint32_t grid[3])
{
    return grid[0] == 1 && grid[1] == 1 && grid[2] == 1;
}

/*
 * SHAPE or EACH(fault, field, what must hold): the first that does not is reported. Later rows rely on earlier ones.
 * SHAPE rows look at nothing but the first SHAPE_WORDS words, which most launches of a kernel have in common.
 */
#define TMD_CHECKS(SHAPE, EACH)                                                                              \
    SHAPE(VERSION, head, tmd->head.version == PPU_TMD_VERSION)                                               \
    SHAPE(VERSION, head.size_bytes, tmd->head.size_bytes == sizeof(*tmd))                                    \
    SHAPE(KIND, kind, tmd->kind == PPU_TMD_GRID || tmd->kind == PPU_TMD_TASKQ)                               \
    SHAPE(PRIORITY, priority, tmd->priority < PPU_PRIORITIES)                                                \
    SHAPE(RESERVED, flags, !(tmd->flags & ~PPU_TMD_FLAGS))                                                   \
    SHAPE(CORESIDENT, flags, !(tmd->flags & PPU_TMD_CORESIDENT) || can_coreside(tmd))                        \
    SHAPE(RESERVED, flags, !(tmd->flags & PPU_TMD_CTA_GROUPS) || (tmd->flags & PPU_TMD_MAY_WAIT))            \
    EACH(RESERVED, reserved2, !tmd->reserved2)                                                               \
    SHAPE(CODE, code_va, tmd->code_va % 8 == 0 && tmd->code_va < VA_END)                                     \
    SHAPE(CODE, code_bytes, tmd->code_bytes % 8 == 0 && in(tmd->code_bytes, 8, PPU_MAX_CODE))                \
    SHAPE(CODE, code_bytes, va_range(tmd->code_va, tmd->code_bytes))                                         \
    SHAPE(CODE, code_va, tmd->code_va)                                                                       \
    SHAPE(CODE, entry, tmd->entry % 8 == 0 && tmd->entry < tmd->code_bytes)                                  \
    SHAPE(WAVE, wave, tmd->wave == 32 || tmd->wave == 64 || tmd->wave == PPU_MAX_WAVE)                       \
    SHAPE(CTA, cta[0], in(tmd->cta[0], 1, PPU_MAX_CTA_DIM))                                                  \
    SHAPE(CTA, cta[1], in(tmd->cta[1], 1, PPU_MAX_CTA_DIM))                                                  \
    SHAPE(CTA, cta[2], in(tmd->cta[2], 1, PPU_MAX_CTA_DIM))                                                  \
    SHAPE(CTA, edge[0], tmd->edge[0] <= tmd->cta[0])                                                         \
    SHAPE(CTA, edge[1], tmd->edge[1] <= tmd->cta[1])                                                         \
    SHAPE(CTA, edge[2], tmd->edge[2] <= tmd->cta[2])                                                         \
    SHAPE(CTA, edge, tmd->kind == PPU_TMD_GRID || !ppu_tmd_is_ragged(tmd))                                   \
    SHAPE(SUBVECTOR, mode, tmd->mode < PPU_MODES)                                                            \
    EACH(SUBVECTOR, miss_rate, ppu_miss_rate_ok(tmd->miss_rate))                                             \
    SHAPE(SUBVECTOR, shared_vregs, ppu_shared_vregs_ok(tmd->vregs, tmd->shared_vregs))                       \
    SHAPE(SUBVECTOR, shared_vregs, (caps.features & PPU_FEATURE_SUBVECTOR) || !ppu_tmd_needs_subvector(tmd)) \
    SHAPE(CTA, cta, (need = cta_need(tmd)).threads <= PPU_MAX_CTA_THREADS)                                   \
    EACH(GRID, grid[0], in(tmd->grid[0], 1, PPU_MAX_GRID_X))                                                 \
    EACH(GRID, grid[1], in(tmd->grid[1], 1, PPU_MAX_GRID_YZ))                                                \
    EACH(GRID, grid[2], in(tmd->grid[2], 1, PPU_MAX_GRID_YZ))                                                \
    EACH(GRID, grid, tmd->kind == PPU_TMD_GRID || is_one(tmd->grid))                                         \
    EACH(TASKQ, taskq, tmd->kind == PPU_TMD_TASKQ || !tmd->taskq)                                            \
    SHAPE(RESOURCES, vregs, in(tmd->vregs, 1, PPU_MAX_VREGS) && need.vregs <= caps.sm_vregs)                 \
    SHAPE(RESOURCES, cta, need.passes <= caps.sm_warps)                                                      \
    SHAPE(RESOURCES, token_count, tmd->token_count <= PPU_MAX_TOKENS)                                        \
    SHAPE(RESOURCES, token_count, ppu_token_bytes(need.passes, tmd->token_count) <= layout.sm_tokens)        \
    SHAPE(RESOURCES, shared_bytes, in(tmd->shared_bytes, 0, PPU_MAX_SHARED))                                 \
    SHAPE(RESOURCES, shared_bytes, tmd->shared_bytes <= caps.sm_shared)                                      \
    SHAPE(LOCAL, local_bytes, tmd->local_bytes % 16 == 0 && tmd->local_bytes <= PPU_MAX_LOCAL)               \
    EACH(LOCAL, local_va, tmd->local_bytes ? tmd->local_va && tmd->local_va % 16 == 0 : !tmd->local_va)      \
    EACH(LOCAL, local_size, !tmd->local_bytes || local_fits(tmd, need.local_bytes))                          \
    EACH(PARAM, param_bytes, tmd->param_bytes <= PPU_MAX_PARAM)                                              \
    EACH(PARAM, param_va, tmd->param_va % 16 == 0 && va_range(tmd->param_va, tmd->param_bytes))

#define SHAPE_WORDS (offsetof(struct ppu_tmd, grid) / sizeof(uint32_t))
#define SHAPES 8u

/* Words that have passed all SHAPE rows. */
static struct shape {
    _Alignas(uint64_t) uint32_t word[SHAPE_WORDS];
    uint64_t local_bytes; /* of its cta_need() */
} shapes[SHAPES];

void tmd_init(void)
{
    memset(shapes, 0, sizeof(shapes)); /* version 0: none */
}

static struct shape *shape_of(const struct ppu_tmd *tmd)
{
    return &shapes[((uint32_t)tmd->code_va / PPU_PAGE_4K ^ tmd->entry / 8u) % SHAPES];
}

/* Two words at a time. */
static inline bool shape_is(const struct shape *shape, const struct ppu_tmd *tmd)
{
    const uint64_t *known = (const uint64_t *)(const void *)shape->word;
    const uint64_t *pair = (const uint64_t *)(const void *)tmd;
    bool same =
        shape->word[0] && shape->word[SHAPE_WORDS - 1] == ((const uint32_t *)(const void *)tmd)[SHAPE_WORDS - 1];
#pragma GCC unroll 8
    for (uint32_t i = 0; i < SHAPE_WORDS / 2; i++) {
        same = same && known[i] == pair[i];
    }
    return same;
}
_Static_assert(SHAPE_WORDS % 2 == 1, "the last word has no other to go with");

#define CHECK(fault, field, holds)                                                             \
    if (!(holds)) {                                                                            \
        return (struct tmd_verdict){ PPU_FAULT_TMD_##fault, offsetof(struct ppu_tmd, field) }; \
    }
#define PASSED(fault, field, holds)
#define AND_HOLDS(fault, field, holds) &&(holds)

static __attribute__((noinline)) struct tmd_verdict check_all(const struct ppu_tmd *tmd, struct shape *shape)
{
    struct cta_need need;
    TMD_CHECKS(CHECK, CHECK)
    memcpy(shape->word, tmd, sizeof(shape->word));
    shape->local_bytes = need.local_bytes;
    return (struct tmd_verdict){ 0, 0 };
}

static inline bool passes(const struct ppu_tmd *tmd, const struct shape *shape)
{
    const struct {
        uint64_t local_bytes;
    } need = { shape->local_bytes };
    return shape_is(shape, tmd) TMD_CHECKS(PASSED, AND_HOLDS);
}

struct tmd_verdict tmd_check(const struct ppu_tmd *tmd)
{
    struct shape *shape = shape_of(tmd);
    return passes(tmd, shape) ? (struct tmd_verdict){ 0, 0 } : check_all(tmd, shape);
}
