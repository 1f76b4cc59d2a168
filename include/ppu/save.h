/* SPDX-License-Identifier: MIT */
/*
 * Defines save areas (B7, A5), which keep CTAs that left their SM. A task that may wait, or be saved when it is
 * evicted, has an area of `save_count` places, `save_bytes` apart, in VRAM that nobody maps; a CTA is handed out only
 * with a place of its own, so that it can always be saved. The device alone reads and writes what is in a place; the
 * firmware clears the states before a task uses an area for the first time.
 */
#ifndef PPU_SAVE_H
#define PPU_SAVE_H

#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/token.h"

#define PPU_SAVE_ALIGN 64u

enum ppu_save_state {
    PPU_SAVE_FREE = 0,
    PPU_SAVE_WAITING = 1, /* until its children have completed */
    PPU_SAVE_READY = 2,   /* goes on when there is room */
};

/* Begin of a place. The states are true while the task has no slot. */
struct ppu_save {
    uint32_t state; /* enum ppu_save_state */
    uint32_t local_backing;
    uint64_t number; /* of the CTA within the grid */
    uint32_t len_bytes;
    uint32_t wide; /* 1: all its registers are private (D8) */
    uint32_t pc;   /* of WAITING: the instruction at which its first threads wait, from the code's base; for debuggers,
                      not read back */
    uint32_t reserved[9];
};
PPU_ASSERT_SIZE(struct ppu_save, 64);

/*
 * Every address space has an area beside, SWITCH_BYTES long, for CTAs without a place that are taken off their SMs so
 * that others get room. It holds what the SMs hold, and an SM's worth more for each level of rank (SLOT_RANK): CTAs of
 * a slot begin when what has begun of the address space leaves as much free as the levels above may need. The driver
 * gives it VRAM that is mapped nowhere.
 */
#define PPU_SWITCH_ALIGN 4096u
#define PPU_SWITCH_CHUNK 2048u

#define PPU_SAVE_CTA_BYTES 256u
#define PPU_SAVE_WARP_BYTES 2048u

/* Bytes of a place that any CTA with so many warps of `wave` threads and `warp_vregs` registers (ppu_tmd_warp_vregs())
 * each fits in; `tokens` 0: the default. */
static inline uint64_t ppu_save_bytes(uint32_t warps, uint32_t wave, uint32_t warp_vregs, uint32_t tokens,
                                      uint32_t shared_bytes)
{
    uint64_t token_bytes = (uint64_t)(tokens ? tokens : PPU_TOKENS_DEFAULT) * PPU_TOKEN_WORDS(wave) * 4u;
    uint64_t warp_bytes = PPU_SAVE_WARP_BYTES + token_bytes + (uint64_t)warp_vregs * 4u;
    uint64_t bytes = sizeof(struct ppu_save) + PPU_SAVE_CTA_BYTES + warps * warp_bytes + shared_bytes;

    return ppu_align_up64(bytes + PPU_SAVE_ALIGN, PPU_SAVE_ALIGN);
}

#endif
