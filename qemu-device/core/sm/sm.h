/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Defines an SM, and gives its warps their turns. All of it belongs to the one thread that runs the SM, except what
 * says otherwise; while the pool is paused it belongs to the holder of the host lock.
 */
#ifndef QEMU_DEVICE_CORE_SM_SM_H
#define QEMU_DEVICE_CORE_SM_SM_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/counter.h"
#include "ppu/limits.h"
#include "ppu/token.h"
#include "qemu-device/core/dist/ends.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/found_pages.h"
#include "qemu-device/core/sm/mode.h"
#include "qemu-device/core/sm/pending_adds.h"
#include "qemu-device/core/sm/program.h"
#include "qemu-device/core/sm/share.h"
#include "qemu-device/core/sm/tlb.h"

struct cache_l2;
struct gpc;
struct core;
struct core_config;
struct engine_level_ops;
struct sm_cta;
struct sys_request;
struct tier;
struct tier_heads;
struct warp;

#define SM_ROWS (PPU_MAX_VREGS + 1u) /* of registers; one more, as they are looked up by pairs */

/* What is on an SM, for any thread: atomic, written by the SM's own. */
struct sm_shown {
    uint32_t ctas;
    uint32_t passes;
    uint32_t vregs;
    uint32_t shared_bytes;
};

struct sm {
    struct core *core;
    const struct core_config *config;
    uint8_t *vram;
    const struct engine_level_ops *engine;
    uint32_t number;
    uint32_t attention;                    /* any thread, atomic: look at kills, flushes, pause */
    uint32_t has_work;                     /* any thread, atomic: dist_take() may succeed */
    uint32_t system;                       /* any thread, atomic: requests queued */
    uint32_t system_warp;                  /* whose request the main loop looks at first */
    uint64_t flush[PPU_MAX_CONTEXTS / 64]; /* any thread, atomic */
    uint64_t count[PPU_COUNTERS];          /* atomic, written by the SM's thread: count_settle() */
    uint32_t next_warp;                    /* round robin */
    uint32_t turns;                        /* of warps since a CTA was taken */
    uint32_t since_taken;                  /* warp instructions executed since a CTA was taken, as far as 32 bits go */
    struct sm_share share;
    uint32_t ctas_used;
    uint32_t warps_used;
    struct sm_shown shown;
    bool ends_sections;              /* some CTA does; said anew by each sm_answer() */
    bool tells_warps;                /* a tool wanted records of warps when the SM began to run last */
    struct dist_room used;           /* by CTAs, but for their number */
    uint64_t started[PPU_MAX_SLOTS]; /* dist_task.start of the task whose code was seen last */
    struct sm_file file[SM_FILE_COUNT];
    struct cache_l2 *l2; /* NULL: caches are not modelled */
    struct gpc *gpc;     /* the one that it is in; NULL as l2 */
    struct cache l1;     /* without a model: what samples are shown */
    struct mode mode[PPU_MAX_SLOTS];
    struct sm_cta *cta;      /* sm_ctas */
    struct warp *warp;       /* sm_warps */
    struct sys_request *sys; /* one a warp */
    uint32_t *token_answer;  /* one a warp, atomic: TOKEN_MOVE's entry + 1, until the warp takes it */
    uint32_t rows[PPU_MAX_WAVE_WORDS][SM_ROWS]; /* exec.rows of a warp of n passes in normal mode: of n - 1 */
    uint32_t part_rows[SM_ROWS];                /* of the warp that was in sub-vector mode last */
    uint64_t part_rows_key;                     /* what they are for; 0: nothing */
    struct tlb_entry tlb[SM_TLB_SIZE];
    struct tlb_found found;    /* until translations are dropped */
    struct code_page *code;    /* SM_CODE_PAGES */
    struct code_insn *insns;   /* SM_PAGE_INSNS of each of them */
    struct code_window window; /* of the turn before; until pages change */
    struct code_insn begun;    /* of decode_begun() */
    struct program program;
    struct tier_heads *heads; /* NULL: everything is interpreted */
    uint64_t whole_ctas;      /* atomic: that were run without being placed (whole.h) */
    uint64_t replaced_ctas;   /* atomic: that left their place to the next of their task (in_place.h) */
    struct exec exec;         /* the warp of the turn */
    struct pending_adds pending_adds;
    struct {
        uint64_t random;
        uint32_t gap; /* instructions until the next that is counted */
    } profile;
    struct dist_ends ends; /* that the distributor has not been told of */
};

/* Names what an SM has left to do. */
enum sm_activity {
    SM_IDLE = 0,    /* until somebody wakes it */
    SM_STALLED = 1, /* warps try again after a while */
    SM_BUSY = 2,
};

/* Runs warps for about `budget` instructions; returns how many it executed. */
uint32_t sm_run(struct sm *sm, uint32_t budget, enum sm_activity *activity);
/* The same, but ends when instructions and memory transactions are `work` together, or somewhat more. */
uint32_t sm_run_part(struct sm *sm, uint32_t budget, uint64_t work, enum sm_activity *activity);

/* What follows from a warp's turn happens: its fault, the end of its CTA, that its CTA waits for children. */
void sm_after_turn(struct sm *sm, uint32_t index);
/* A warp that is ready executes so many instructions (debug_run()), and what follows from them happens. */
void sm_turn_of(struct sm *sm, uint32_t index, uint32_t budget);
/* Every warp that waits for room in a ring, or with its fault for a debugger, tries once. */
void sm_retry_stalled(struct sm *sm, uint32_t *executed);
/* The next warp of a context that can run does so, and what follows from them happens; the SM takes CTAs before. */
void sm_turn_in(struct sm *sm, uint32_t context, uint32_t budget);

/* A CTA has come: what tells how long one lasts begins anew. */
static inline void sm_taken(struct sm *sm)
{
    sm->turns = 0;
    sm->since_taken = 0;
}

static inline bool sm_attention(const struct sm *sm)
{
    return __atomic_load_n(&sm->attention, __ATOMIC_RELAXED) != 0;
}

/* There may be a CTA to take, now that this SM has given something back. */
static inline void sm_has_room(struct sm *sm)
{
    if (__atomic_load_n(&sm->has_work, __ATOMIC_RELAXED) == 0) { /* which nobody else makes 0 */
        __atomic_store_n(&sm->has_work, 1, __ATOMIC_SEQ_CST);
    }
}

bool sm_can_run(const struct sm *sm, uint32_t index);
/* Answers kills and flushes that are pending. */
void sm_answer(struct sm *sm);

static inline void sm_attend(struct sm *sm)
{
    if (sm_attention(sm)) {
        sm_answer(sm);
    }
}

void sm_drop_all(struct sm *sm); /* as after reset; the distributor is not told */
/* `l2` and `gpc` NULL: caches are not modelled; `tier` NULL: everything is interpreted. */
bool sm_new(struct sm *sm, struct core *core, uint32_t number, struct cache_l2 *l2, struct gpc *gpc, struct tier *tier);
void sm_free(struct sm *sm);

#endif
