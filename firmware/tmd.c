/* SPDX-License-Identifier: MIT */
#include "tmd.h"

#include <stdbool.h>
#include <string.h>

#include "layout.h"
#include "machine.h"
#include "ppu/limits.h"
#include "ppu/mmu.h"
#include "ppu/token.h"

#define VA_END (1ull << PPU_VA_BITS)

/* What a CTA takes of an SM, in the units of the identity registers. */
struct cta_need {
    uint32_t threads;
    uint32_t passes; /* of PPU_LANES lanes */
    uint64_t vregs;
    uint64_t local_bytes;
};

/* Dimensions are within PPU_MAX_CTA_DIM and the wave is one there is; nothing here overflows. */
static struct cta_need cta_need(const struct ppu_tmd *tmd)
{
    uint32_t threads = tmd->cta[0] * tmd->cta[1] * tmd->cta[2];
    uint32_t lanes = (threads + tmd->wave - 1u) & ~(tmd->wave - 1u);
    return (struct cta_need){
        .threads = threads,
        .passes = lanes / PPU_LANES,
        .vregs = (uint64_t)lanes * tmd->vregs,
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

static bool is_one(const uint32_t grid[3])
{
    return grid[0] == 1 && grid[1] == 1 && grid[2] == 1;
}

/*
 * CHECK(fault, field, what must hold): the first that does not is reported. Later rows rely on earlier ones.
 */
#define TMD_CHECKS(CHECK)                                                                                     \
    CHECK(VERSION, head, tmd->head.version == PPU_TMD_VERSION)                                                \
    CHECK(VERSION, head.size_bytes, tmd->head.size_bytes == sizeof(*tmd))                                     \
    CHECK(KIND, kind, tmd->kind == PPU_TMD_GRID || tmd->kind == PPU_TMD_QUEUE)                                \
    CHECK(PRIORITY, priority, tmd->priority < PPU_PRIORITIES)                                                 \
    CHECK(RESERVED, flags, !(tmd->flags & ~PPU_TMD_FLAGS))                                                    \
    CHECK(CORESIDENT, flags, !(tmd->flags & PPU_TMD_CORESIDENT) || !(tmd->flags & PPU_TMD_MAY_WAIT))          \
    CHECK(CORESIDENT, flags, !(tmd->flags & PPU_TMD_CORESIDENT) || tmd->kind == PPU_TMD_GRID)                 \
    CHECK(RESERVED, reserved0, !tmd->reserved0)                                                               \
    CHECK(RESERVED, reserved1, !tmd->reserved1)                                                               \
    CHECK(RESERVED, reserved2, !tmd->reserved2)                                                               \
    CHECK(CODE, code_va, tmd->code_va && tmd->code_va % 8 == 0 && tmd->code_va < VA_END)                      \
    CHECK(CODE, code_bytes, tmd->code_bytes % 8 == 0 && in(tmd->code_bytes, 8, PPU_MAX_CODE))                 \
    CHECK(CODE, code_bytes, va_range(tmd->code_va, tmd->code_bytes))                                          \
    CHECK(CODE, entry, tmd->entry % 8 == 0 && tmd->entry < tmd->code_bytes)                                   \
    CHECK(WAVE, wave, tmd->wave == 32 || tmd->wave == 64 || tmd->wave == PPU_MAX_WAVE)                        \
    CHECK(CTA, cta[0], in(tmd->cta[0], 1, PPU_MAX_CTA_DIM))                                                   \
    CHECK(CTA, cta[1], in(tmd->cta[1], 1, PPU_MAX_CTA_DIM))                                                   \
    CHECK(CTA, cta[2], in(tmd->cta[2], 1, PPU_MAX_CTA_DIM))                                                   \
    CHECK(CTA, cta, (need = cta_need(tmd)).threads <= PPU_MAX_CTA_THREADS)                                    \
    CHECK(GRID, grid[0], in(tmd->grid[0], 1, PPU_MAX_GRID_X))                                                 \
    CHECK(GRID, grid[1], in(tmd->grid[1], 1, PPU_MAX_GRID_YZ))                                                \
    CHECK(GRID, grid[2], in(tmd->grid[2], 1, PPU_MAX_GRID_YZ))                                                \
    CHECK(GRID, grid, tmd->kind == PPU_TMD_GRID || is_one(tmd->grid))                                         \
    CHECK(QUEUE, queue, tmd->kind == PPU_TMD_QUEUE || !tmd->queue)                                            \
    CHECK(RESOURCES, vregs, in(tmd->vregs, 1, PPU_MAX_VREGS) && need.vregs <= machine.sm_vregs)               \
    CHECK(RESOURCES, cta, need.passes <= machine.sm_warps)                                                    \
    CHECK(RESOURCES, token_count, tmd->token_count <= PPU_MAX_TOKENS)                                         \
    CHECK(RESOURCES, token_count, ppu_token_bytes(need.passes, tmd->token_count) <= layout.sm_tokens)         \
    CHECK(RESOURCES, shared_bytes, in(tmd->shared_bytes, 0, PPU_MAX_SHARED))                                  \
    CHECK(RESOURCES, shared_bytes, tmd->shared_bytes <= machine.sm_shared)                                    \
    CHECK(LOCAL, local_bytes, tmd->local_bytes % 16 == 0 && tmd->local_bytes <= PPU_MAX_LOCAL)                \
    CHECK(LOCAL, local_va, tmd->local_bytes ? tmd->local_va && tmd->local_va % 16 == 0 : !tmd->local_va)      \
    CHECK(LOCAL, local_size, va_range(tmd->local_va, tmd->local_size) && tmd->local_size >= need.local_bytes) \
    CHECK(PARAM, param_bytes, tmd->param_bytes <= PPU_MAX_PARAM)                                              \
    CHECK(PARAM, param_va, tmd->param_va % 16 == 0 && va_range(tmd->param_va, tmd->param_bytes))

static uint32_t word_of(const struct ppu_tmd *tmd, size_t at)
{
    uint32_t word;
    memcpy(&word, (const char *)tmd + at, sizeof(word));
    return word;
}

/* queue_limit and all that follows it is for the firmware to fill in. All words at once: only one that is wrong is
 * looked for. */
static struct tmd_verdict check_reserved(const struct ppu_tmd *tmd)
{
    const size_t from = offsetof(struct ppu_tmd, queue_limit);
    uint32_t any = 0;
#pragma GCC unroll 18
    for (size_t at = from; at < sizeof(*tmd); at += 4) {
        any |= word_of(tmd, at);
    }
    if (!any) {
        return (struct tmd_verdict){ 0, 0 };
    }
    size_t at = from;
    while (!word_of(tmd, at)) {
        at += 4;
    }
    return (struct tmd_verdict){ PPU_FAULT_TMD_RESERVED, (uint16_t)at };
}

struct tmd_verdict tmd_check(const struct ppu_tmd *tmd)
{
    struct cta_need need;
#define CHECK(fault, field, holds)                                                             \
    if (!(holds)) {                                                                            \
        return (struct tmd_verdict){ PPU_FAULT_TMD_##fault, offsetof(struct ppu_tmd, field) }; \
    }
    TMD_CHECKS(CHECK)
#undef CHECK
    return check_reserved(tmd);
}
