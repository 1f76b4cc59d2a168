/* SPDX-License-Identifier: MIT */
/*
 * Defines the task metadata descriptor (TMD; A6, A11). The host or a thread fills in the launcher's part, in memory
 * that its context maps. The firmware copies that once, checks the copy, adds what only it may say (the last block of
 * fields), and stores it in the protected range; the device runs from that copy only.
 */
#ifndef PPU_TMD_H
#define PPU_TMD_H

#include "ppu/base.h"
#include "ppu/counter.h"
#include "ppu/limits.h"

#define PPU_TMD_VERSION 1u
#define PPU_TMD_ALIGN 64u
#define PPU_SHARED_VREGS_ALIGN 4u

enum ppu_tmd_kind {
    PPU_TMD_GRID = 1,  /* grid[0] x grid[1] x grid[2] CTAs */
    PPU_TMD_TASKQ = 2, /* a CTA for each entry of a circular queue (ppu/taskq.h); grid is 1, 1, 1 */
};

/* Bits of ppu_tmd.flags; the rest is zero. */
#define PPU_TMD_HEAD (1u << 0)     /* insert at the head of the priority's list (A4) */
#define PPU_TMD_MAY_WAIT (1u << 1) /* threads may wait for children (B7) */
#define PPU_TMD_LAUNCH (1u << 2)   /* threads may launch tasks (B1) */
#define PPU_TMD_SAVE (1u << 3)     /* when evicted, its CTAs are saved instead of drained (A5) */
#define PPU_TMD_NEST (PPU_TMD_MAY_WAIT | PPU_TMD_LAUNCH | PPU_TMD_SAVE) /* only in a context with a nest (nest.h) */
/* All CTAs are on SMs at the same time, so that threads of one may wait for those of another; not with MAY_WAIT, grids
 * only. */
#define PPU_TMD_CORESIDENT (1u << 4)
/* Its warps begin in sub-vector mode, with all registers that parts share: segments are what lies outside `svleave` ...
 * `sventer` (D6). */
#define PPU_TMD_SUBVECTOR (1u << 5)
/* Each CTA is a thread-group context: its threads wait for what they launched themselves (B3, B7); with MAY_WAIT. */
#define PPU_TMD_CTA_GROUPS (1u << 6)
/* Segments that leave their mode open share registers (`sventer 256 + n`). So each CTA is narrow or wide (D8): a narrow
 * one runs them part by part; a wide one has `shared_vregs` more private registers, and runs them in either mode. */
#define PPU_TMD_MAY_SHARE (1u << 7)
#define PPU_TMD_FLAGS \
    (PPU_TMD_HEAD | PPU_TMD_NEST | PPU_TMD_CORESIDENT | PPU_TMD_SUBVECTOR | PPU_TMD_CTA_GROUPS | PPU_TMD_MAY_SHARE)

/* ppu_tmd.mode: of segments that leave the choice open (D6). */
enum ppu_tmd_mode {
    PPU_MODE_AUTO = 0,      /* the control unit chooses (D8) */
    PPU_MODE_NORMAL = 1,    /* each instruction for all parts */
    PPU_MODE_SUBVECTOR = 2, /* the segment for one part after the other */
    PPU_MODES = 3,
};

/* ppu_tmd.miss_rate: what the program says of its warps' first-level cache misses (D8). */
#define PPU_MISS_UNSAID 0u
#define PPU_MISS_RATE(of_1024) (1u + (of_1024)) /* so many of 1,024 loaded lines, 0 to 1,024 */
#define PPU_MISS_BELOW 0xfffeu                  /* below the control unit's threshold, whatever that is */
#define PPU_MISS_ABOVE 0xffffu                  /* at or above it */
#define PPU_MISS_RATE_MOST PPU_MISS_RATE(1024u)

struct ppu_tmd {
    struct ppu_struct_header head; /* PPU_TMD_VERSION, sizeof(struct ppu_tmd) */
    uint8_t kind;                  /* enum ppu_tmd_kind */
    uint8_t priority;              /* 0 to PPU_PRIORITIES - 1; capped by the channel's */
    uint16_t flags;
    uint64_t code_va;    /* program image's first instruction; 8-byte aligned */
    uint32_t code_bytes; /* fetches beyond it fault; multiple of 8 */
    uint32_t entry;      /* byte offset of the first instruction to run; multiple of 8 */

    uint16_t vregs;        /* vector registers a lane, 1 to 256: private ones of each part */
    uint8_t wave;          /* threads a warp: 32, 64 or 128 */
    uint8_t mode;          /* enum ppu_tmd_mode */
    uint16_t token_count;  /* entries of a warp's token queue; 0: the default (E7) */
    uint16_t shared_vregs; /* vector registers behind those that the parts of a warp share in sub-vector mode (D4); not
                              0: vregs is a multiple of PPU_SHARED_VREGS_ALIGN, and both together are at most 256 */
    uint32_t shared_bytes; /* a CTA */
    uint32_t local_bytes;  /* a thread; multiple of 16 */

    uint16_t cta[3];  /* threads a CTA in x, y, z; each 1 to 1,024, product at most 1,024 */
    uint16_t edge[3]; /* threads of the last CTA in x, y, z, at most cta; 0: as many as cta. Grids only */
    uint32_t grid[3]; /* CTAs in x, y, z */

    uint64_t param_va;    /* parameters, copied when the task starts; 16-byte aligned */
    uint32_t param_bytes; /* 0 to PPU_MAX_PARAM */
    uint32_t correlation; /* 0: the command block's */

    uint64_t watchdog_ns; /* time limit; 0: the policy's (LIMIT_MS), or that of the task's parent, which cap it too */
    uint64_t local_va;    /* backing of local memory, mapped writable; 0 when local_bytes is 0 */
    uint64_t local_size;  /* bytes at local_va; bounds how many CTAs run at once */
    uint32_t taskq;       /* number of the queue (ppu/taskq.h) of a queue task; 0 for a grid */
    uint16_t miss_rate;   /* PPU_MISS_* (D8) */
    uint16_t reserved2;
    uint64_t addresses; /* bit n: 8 bytes at 8 n of the parameters are an address, of global memory (B14) */

    /* The firmware sets what is below in the copy. What the host or a thread leaves here is not read. */
    uint64_t taskq_limit;        /* entries published: so many CTAs may begin; SLOT_LIMIT adds to it */
    uint16_t context;            /* address space */
    uint16_t channel;            /* that started the tree */
    uint32_t task;               /* handle of the task record */
    uint32_t parent_correlation; /* 0 when launched by a channel */
    uint32_t groups_vram;        /* VRAM offset of a struct ppu_cta_group a place; 0 without CTA_GROUPS */
    uint32_t params_vram;        /* VRAM offset of the parameter copy in the protected range */
    uint32_t save_vram;          /* VRAM offset of its save area (save.h) */
    uint32_t save_bytes;         /* of one place in there */
    uint8_t save_count;          /* places, at most PPU_SAVE_PLACES; 0: its CTAs cannot be saved */
    uint8_t resume;              /* 1: CTAs that waited go on when the slot starts */
    uint16_t depth;              /* grids above it, its own included: 1 when launched by a channel (B2) */

    /* These say what is done. They are 0 at first; the device writes them when the slot becomes free. */
    uint64_t next_cta;
    uint64_t ctas_done;
    uint64_t warp_insns;

    uint64_t nest_va; /* its struct ppu_nest_task; 0: it cannot launch */
};
PPU_ASSERT_SIZE(struct ppu_tmd, 192);
PPU_ASSERT_OFFSET(struct ppu_tmd, vregs, 24);
PPU_ASSERT_OFFSET(struct ppu_tmd, cta, 40);
PPU_ASSERT_OFFSET(struct ppu_tmd, grid, 52);
PPU_ASSERT_OFFSET(struct ppu_tmd, param_va, 64);
PPU_ASSERT_OFFSET(struct ppu_tmd, watchdog_ns, 80);
PPU_ASSERT_OFFSET(struct ppu_tmd, taskq, 104);
PPU_ASSERT_OFFSET(struct ppu_tmd, addresses, 112);
PPU_ASSERT_OFFSET(struct ppu_tmd, taskq_limit, 120);
PPU_ASSERT_OFFSET(struct ppu_tmd, context, 128);
PPU_ASSERT_OFFSET(struct ppu_tmd, next_cta, 160);

/* A copy in the protected range. */
struct ppu_tmd_copy {
    struct ppu_tmd tmd;
    uint64_t count[PPU_COUNTERS]; /* of CTAs that left their SMs; written by the device with what is done, read when
                                     next_cta is not 0 */
};

/* Threads of a CTA that is whole. The fields have been checked. */
static inline uint32_t ppu_tmd_threads(const struct ppu_tmd *tmd)
{
    return (uint32_t)tmd->cta[0] * tmd->cta[1] * tmd->cta[2];
}

/* Threads of the last CTA of a dimension. */
static inline uint32_t ppu_tmd_last(const struct ppu_tmd *tmd, uint32_t dim)
{
    return tmd->edge[dim] != 0 ? tmd->edge[dim] : tmd->cta[dim];
}

/* Threads in a dimension of the CTA that is number `at` there. */
static inline uint32_t ppu_tmd_size(const struct ppu_tmd *tmd, uint32_t dim, uint32_t at)
{
    return at == tmd->grid[dim] - 1 ? ppu_tmd_last(tmd, dim) : tmd->cta[dim];
}

/* True when some CTA is not whole. */
static inline int ppu_tmd_is_ragged(const struct ppu_tmd *tmd)
{
    return ppu_tmd_last(tmd, 0) != tmd->cta[0] || ppu_tmd_last(tmd, 1) != tmd->cta[1] ||
           ppu_tmd_last(tmd, 2) != tmd->cta[2];
}

/* 32-bit registers of a warp, over all its lanes (D4). */
static inline uint32_t ppu_warp_vregs(uint32_t wave, uint32_t vregs, uint32_t shared_vregs)
{
    return wave * vregs + PPU_LANES * shared_vregs;
}

/* Computes the same of a task's warps; `wide`: of a CTA that is (D8). */
static inline uint32_t ppu_tmd_warp_vregs(const struct ppu_tmd *tmd, int wide)
{
    return wide ? tmd->wave * ((uint32_t)tmd->vregs + tmd->shared_vregs)
                : ppu_warp_vregs(tmd->wave, tmd->vregs, tmd->shared_vregs);
}

/* True when each CTA is wide: warps have one part, or the launch has chosen normal mode. */
static inline int ppu_tmd_is_wide(const struct ppu_tmd *tmd)
{
    return (tmd->flags & PPU_TMD_MAY_SHARE) != 0 && (tmd->wave == PPU_LANES || tmd->mode == PPU_MODE_NORMAL);
}

/* True when CTAs may be wide. A grid all of whose CTAs must find room at once has narrow ones if it may choose. */
static inline int ppu_tmd_may_be_wide(const struct ppu_tmd *tmd)
{
    return ppu_tmd_is_wide(tmd) || ((tmd->flags & PPU_TMD_MAY_SHARE) != 0 && tmd->mode == PPU_MODE_AUTO &&
                                    (tmd->flags & PPU_TMD_CORESIDENT) == 0);
}

/* True when so many private and shared registers go together. */
static inline int ppu_shared_vregs_ok(uint32_t vregs, uint32_t shared_vregs)
{
    return shared_vregs == 0 || (vregs % PPU_SHARED_VREGS_ALIGN == 0 && vregs + shared_vregs <= PPU_MAX_VREGS);
}

/* True when it is one of PPU_MISS_*. */
static inline int ppu_miss_rate_ok(uint32_t miss_rate)
{
    return miss_rate <= PPU_MISS_RATE_MOST || miss_rate >= PPU_MISS_BELOW;
}

/* True when only a device with PPU_FEATURE_SUBVECTOR can run it. */
static inline int ppu_tmd_needs_subvector(const struct ppu_tmd *tmd)
{
    return (tmd->flags & PPU_TMD_SUBVECTOR) != 0 || tmd->shared_vregs != 0;
}

#define PPU_TMD_LAUNCHER_BYTES ((uint32_t)offsetof(struct ppu_tmd, taskq_limit)) /* what a launcher fills in */

#endif
