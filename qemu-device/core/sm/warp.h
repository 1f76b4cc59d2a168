/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Defines a warp. */
#ifndef QEMU_DEVICE_CORE_SM_WARP_H
#define QEMU_DEVICE_CORE_SM_WARP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ppu/limits.h"
#include "ppu/ring.h"
#include "qemu-device/core/sm/cache_window.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/segment.h"

enum warp_state {
    WARP_FREE = 0,
    WARP_READY = 1,
    WARP_BARRIER = 2, /* every live lane waits at a barrier */
    WARP_SYSTEM = 3,  /* an access to system memory is under way */
    WARP_STALLED = 4, /* tries its instruction again: a ring is full, or a test hook holds it */
    WARP_FAULTED = 5, /* its fault has not been reported yet: the fault ring is full */
    WARP_DONE = 6,    /* no live lane */
};

struct warp {
    uint8_t state;
    uint8_t passes;  /* wave / 32 */
    uint8_t number;  /* within the CTA */
    bool partial;    /* the instruction at pc has been done but for the lanes in `pending` */
    bool held;       /* by a test hook, at a MARK already recorded */
    bool measured;   /* it is in a segment in normal mode, of whose loads `segment_window` is */
    bool sampled;    /* that is predicted: each instruction goes through engine_execute() */
    bool turned;     /* `active` is another set than what lanes are counted for */
    bool yields;     /* it has come to a YIELDN: yield_turns[] holds something */
    bool asked;      /* the firmware was asked to move its token queue, and has not answered yet (E7) */
    bool fresh;      /* it has not had a turn, and was not one that did elsewhere */
    uint8_t section; /* instructions the critical section may still have, 0: in none (B4) */
    uint32_t cta;    /* index of its CTA on the SM */
    uint32_t pc;     /* in instructions from the code base */
    uint64_t word;   /* partial or held: the instruction, as it was when it began */
    struct lanes active;
    struct lanes live; /* have not ended */
    struct lanes pending;
    struct lanes pred[PPU_PREDS];
    uint8_t reason[PPU_MAX_WAVE]; /* enum ppu_token_type or ppu_reason of each lane */
    uint32_t token_cap;
    uint32_t token_first; /* entry at the front */
    uint32_t token_count;
    uint32_t yield_count; /* yield tokens queued: the truth when summary bits are stale */
    uint32_t told;        /* state and tokens that the flight recorder has of it: warp_trace() */
    uint64_t random;      /* state of the generator of yields by chance; not 0 */
    struct cache_window window;
    struct cache_window segment_window; /* of the segment in normal mode that it is in */
    struct segment segment;
    struct ppu_fault_event fault;
    uint32_t sreg[PPU_SREGS];
    uint32_t yield_turns[PPU_MAX_WAVE]; /* of each lane: YIELDNs since it last yielded by one */
    uint32_t wait_pc[PPU_MAX_WAVE];     /* where a disabled lane goes on */
    uint8_t barrier[PPU_MAX_WAVE];      /* number of the barrier that a waiting lane waits at */
};

/* It has begun the instruction at pc and goes on with it: with this one, whatever the code has become meanwhile. */
static inline bool warp_begun(const struct warp *w)
{
    return w->partial || w->held;
}

/* Makes yield_turns[] hold something: most warps never need it. */
static inline void warp_yields(struct warp *w)
{
    if (!w->yields) {
        memset(w->yield_turns, 0, sizeof(w->yield_turns));
        w->yields = true;
    }
}

#endif
