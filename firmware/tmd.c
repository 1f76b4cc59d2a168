/* SPDX-License-Identifier: MIT */
#include "firmware/tmd.h"

#include <stdbool.h>

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
        .vregs = lanes / tmd->wave * ppu_warp_vregs(tmd->wave, tmd->vregs, tmd->shared_vregs),
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
 * CHECK(fault, field, what must hold): the first that does not is reported. Later rows rely on earlier ones.
 */
#define TMD_CHECKS(CHECK)                                                                                    \
    CHECK(VERSION, head, tmd->head.version == PPU_TMD_VERSION)                                               \
    CHECK(VERSION, head.size_bytes, tmd->head.size_bytes == sizeof(*tmd))                                    \
    CHECK(KIND, kind, tmd->kind == PPU_TMD_GRID || tmd->kind == PPU_TMD_TASKQ)                               \
    CHECK(PRIORITY, priority, tmd->priority < PPU_PRIORITIES)                                                \
    CHECK(RESERVED, flags, !(tmd->flags & ~PPU_TMD_FLAGS))                                                   \
    CHECK(CORESIDENT, flags, !(tmd->flags & PPU_TMD_CORESIDENT) || can_coreside(tmd))                        \
    CHECK(RESERVED, flags, !(tmd->flags & PPU_TMD_CTA_GROUPS) || (tmd->flags & PPU_TMD_MAY_WAIT))            \
    CHECK(RESERVED, reserved2, !tmd->reserved2)                                                              \
    CHECK(CODE, code_va, tmd->code_va % 8 == 0 && tmd->code_va < VA_END)                                     \
    CHECK(CODE, code_bytes, tmd->code_bytes % 8 == 0 && in(tmd->code_bytes, 8, PPU_MAX_CODE))                \
    CHECK(CODE, code_bytes, va_range(tmd->code_va, tmd->code_bytes))                                         \
    CHECK(CODE, code_va, tmd->code_va)                                                                       \
    CHECK(CODE, entry, tmd->entry % 8 == 0 && tmd->entry < tmd->code_bytes)                                  \
    CHECK(WAVE, wave, tmd->wave == 32 || tmd->wave == 64 || tmd->wave == PPU_MAX_WAVE)                       \
    CHECK(CTA, cta[0], in(tmd->cta[0], 1, PPU_MAX_CTA_DIM))                                                  \
    CHECK(CTA, cta[1], in(tmd->cta[1], 1, PPU_MAX_CTA_DIM))                                                  \
    CHECK(CTA, cta[2], in(tmd->cta[2], 1, PPU_MAX_CTA_DIM))                                                  \
    CHECK(CTA, edge[0], tmd->edge[0] <= tmd->cta[0])                                                         \
    CHECK(CTA, edge[1], tmd->edge[1] <= tmd->cta[1])                                                         \
    CHECK(CTA, edge[2], tmd->edge[2] <= tmd->cta[2])                                                         \
    CHECK(CTA, edge, tmd->kind == PPU_TMD_GRID || !ppu_tmd_is_ragged(tmd))                                   \
    CHECK(SUBVECTOR, mode, tmd->mode < PPU_MODES)                                                            \
    CHECK(SUBVECTOR, miss_rate, ppu_miss_rate_ok(tmd->miss_rate))                                            \
    CHECK(SUBVECTOR, shared_vregs, ppu_shared_vregs_ok(tmd->vregs, tmd->shared_vregs))                       \
    CHECK(SUBVECTOR, shared_vregs, (caps.features & PPU_FEATURE_SUBVECTOR) || !ppu_tmd_needs_subvector(tmd)) \
    CHECK(CTA, cta, (need = cta_need(tmd)).threads <= PPU_MAX_CTA_THREADS)                                   \
    CHECK(GRID, grid[0], in(tmd->grid[0], 1, PPU_MAX_GRID_X))                                                \
    CHECK(GRID, grid[1], in(tmd->grid[1], 1, PPU_MAX_GRID_YZ))                                               \
    CHECK(GRID, grid[2], in(tmd->grid[2], 1, PPU_MAX_GRID_YZ))                                               \
    CHECK(GRID, grid, tmd->kind == PPU_TMD_GRID || is_one(tmd->grid))                                        \
    CHECK(TASKQ, taskq, tmd->kind == PPU_TMD_TASKQ || !tmd->taskq)                                           \
    CHECK(RESOURCES, vregs, in(tmd->vregs, 1, PPU_MAX_VREGS) && need.vregs <= caps.sm_vregs)                 \
    CHECK(RESOURCES, cta, need.passes <= caps.sm_warps)                                                      \
    CHECK(RESOURCES, token_count, tmd->token_count <= PPU_MAX_TOKENS)                                        \
    CHECK(RESOURCES, token_count, ppu_token_bytes(need.passes, tmd->token_count) <= layout.sm_tokens)        \
    CHECK(RESOURCES, shared_bytes, in(tmd->shared_bytes, 0, PPU_MAX_SHARED))                                 \
    CHECK(RESOURCES, shared_bytes, tmd->shared_bytes <= caps.sm_shared)                                      \
    CHECK(LOCAL, local_bytes, tmd->local_bytes % 16 == 0 && tmd->local_bytes <= PPU_MAX_LOCAL)               \
    CHECK(LOCAL, local_va, tmd->local_bytes ? tmd->local_va && tmd->local_va % 16 == 0 : !tmd->local_va)     \
    CHECK(LOCAL, local_size, !tmd->local_bytes || local_fits(tmd, need.local_bytes))                         \
    CHECK(PARAM, param_bytes, tmd->param_bytes <= PPU_MAX_PARAM)                                             \
    CHECK(PARAM, param_va, tmd->param_va % 16 == 0 && va_range(tmd->param_va, tmd->param_bytes))

struct tmd_verdict tmd_check(const struct ppu_tmd *tmd)
{
    struct cta_need need;
#define CHECK(fault, field, holds)                                                             \
    if (!(holds)) {                                                                            \
        return (struct tmd_verdict){ PPU_FAULT_TMD_##fault, offsetof(struct ppu_tmd, field) }; \
    }
    TMD_CHECKS(CHECK)
#undef CHECK
    return (struct tmd_verdict){ 0, 0 };
}
