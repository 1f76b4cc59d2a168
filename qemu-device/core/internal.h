/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the device core tell each other. Each function stands under the
 * file that has it. [any]: any thread; [lock]: with the host lock held; [sm]: the
 * thread that runs that SM.
 *
 * Lock order: host lock, then the distributor's or the semaphore table's, then a ring's,
 * then the trace's. SM threads take all but the first, and only for a bounded number of steps.
 */
#ifndef QEMU_DEVICE_CORE_INTERNAL_H
#define QEMU_DEVICE_CORE_INTERNAL_H

#include "ppu/dma.h"
#include "ppu/fault.h"
#include "ppu/mmu.h"
#include "ppu/ring.h"
#include "ppu/sem.h"
#include "ppu/tmd.h"
#include "ppu/token.h"
#include "ppu/trace.h"
#include "qemu-device/core/core.h"

/* ---- core.c ---- */
const struct core_config *core_config_of(const struct core *core); /* [any] */
uint8_t *core_vram(const struct core *core);                       /* [any] first byte of VRAM */
uint64_t core_now(const struct core *core);                        /* [any] virtual clock, ns */
void core_kick(struct core *core);                                 /* [any] run core_bottom_half() soon */
void core_timer_request(struct core *core);               /* [lock] deadlines have changed: set the host's timer anew */
void core_device_error(struct core *core, uint32_t bits); /* [any] PPU_DEVERR_* */
bool core_dma(struct core *core, uint64_t bus, void *buf, uint32_t len_bytes, bool write); /* [lock] */
/* True when [off, off + len) lies in VRAM. */
bool core_vram_has(const struct core *core, uint64_t off, uint64_t len_bytes); /* [any] */
/* True when it lies in the protected range altogether. */
bool core_protected_has(const struct core *core, uint64_t off, uint64_t len_bytes); /* [any] */

/* Token queues: true when TOKEN_BASE and TOKEN_BYTES name a place in the protected range, or none. */
bool core_tokens_usable(const struct core *core); /* [any] */
/* An SM's share of it: VRAM offset, and bytes, a multiple of PPU_TOKEN_ALIGN; 0: none. [any] */
uint32_t core_tokens_share(const struct core *core, uint32_t sm, uint32_t *bytes);

/* ---- mmu.c (A9) ---- */
struct mmu_page {
    uint16_t fault; /* 0, or why `va` cannot be accessed so */
    bool system;    /* aperture */
    bool write;
    bool atomic;
    uint64_t va;    /* first address of the page */
    uint64_t bytes; /* its size */
    uint64_t frame; /* VRAM offset or bus address of its first byte */
    uint64_t table; /* VRAM offset of the table that names it */
    uint64_t pte;   /* what the table said */
};
/* Takes the neighbours in for which the table says the same: 64 KiB pages of VRAM one behind the other. [any] */
void mmu_widen(const struct core *core, struct mmu_page *page);
/* Translates one address; reads the tables in VRAM afresh. PPU_ACCESS_FETCH counts as a read. [any] */
struct mmu_page mmu_walk(struct core *core, uint32_t context, uint64_t va, enum ppu_access access);

/* ---- ring.c ---- */
/* Appends PPU_RING_ENTRY_BYTES. False: full (start and fault rings only), try again later. [any] */
bool ring_push(struct core *core, enum ppu_ring_id id, const void *entry);

/* ---- trace.c ---- */
void trace_emit(struct core *core, enum ppu_trace_type type, uint32_t correlation, uint32_t id0, uint32_t id1,
                uint32_t id2); /* [any] */
/* A record for each of `count` CTAs, of now. [any] */
struct dist_cta;
void trace_ctas(struct core *core, enum ppu_trace_type type, uint32_t sm, const struct dist_cta *cta, uint32_t count);

/* ---- semtab.c ---- */
/* A SEM_RELEASE wrote the payload at this place: report and disarm whoever waits for it. [any] */
void semtab_touch(struct core *core, bool system, uint64_t place);

/* ---- hooks.c ---- */
bool hook_walk_fails(struct core *core); /* [any] */
bool hook_copy_fails(struct core *core); /* [lock] */
/* True while a warp or the copy engine must stay at `mark`. Constant false without test hooks. [any] */
bool hook_holds(struct core *core, uint32_t mark);
/* A warp begins (true) or ceases to be held, for HOOK_HELD. [any] */
void hook_count_held(struct core *core, bool held);

/* ---- dist.c: slots and CTA distribution (A5, A6) ---- */
/* What runs in a slot, decoded and checked from its TMD copy; constant while the slot is busy. */
struct dist_task {
    uint32_t slot;
    uint64_t start;   /* one more than that of the task that started before it */
    uint32_t tmd_off; /* VRAM offset of the TMD copy */
    struct ppu_tmd tmd;
    uint32_t cta_threads;
    uint32_t cta_warps;    /* of tmd.wave threads */
    uint32_t cta_passes;   /* warps in passes of 32 lanes, as SM_WARPS counts */
    uint32_t cta_vregs;    /* 32-bit registers over all lanes, as SM_VREGS counts */
    uint32_t token_cap;    /* entries of a warp's token queue */
    uint32_t cta_tokens;   /* bytes of the queues of all warps */
    uint32_t cta_chunks;   /* that its state fits in (PPU_SWITCH_CHUNK) */
    uint32_t local_slots;  /* CTAs whose local memory fits tmd.local_size; UINT32_MAX without local memory */
    const uint8_t *params; /* in VRAM, tmd.param_bytes */
};

/* A CTA handed to an SM. */
#define DIST_NO_SAVE UINT32_MAX
struct dist_cta {
    const struct dist_task *task;
    uint64_t number; /* linear: x fastest */
    uint32_t id[3];
    uint32_t local_slot; /* which backing of local memory it uses */
    uint32_t save;       /* its place in the save area, DIST_NO_SAVE: none */
    uint32_t chunk;      /* of its address space's area: the first of those that have its state; SWITCH_NONE: none */
    bool saved;          /* it has begun, and its state is in that place or those chunks */
    bool left;           /* it has ended, and its room on the SM is free again; nobody has been told yet */
};

/* Free room of an SM. */
struct dist_room {
    uint32_t passes;
    uint32_t ctas;
    uint32_t vregs;
    uint32_t shared_bytes;
    uint32_t token_bytes;
};

/* CTAs that have ended on an SM, and what was counted for each. */
#define DIST_ENDS 16u
struct dist_ends {
    uint32_t held;
    struct dist_cta cta[DIST_ENDS];
    uint64_t count[DIST_ENDS][PPU_COUNTERS];
};

/* Next CTA that fits; false: none now (sm_wake() tells when that may change). The room of those that have ended is
 * free, whoever is told of them later. [sm] */
bool dist_take(struct core *core, uint32_t sm, const struct dist_room *room, struct dist_ends *ends,
               struct dist_cta *out);
/* CTAs have ended by themselves, their memory transactions performed; none is held afterwards. [sm] */
void dist_done(struct core *core, uint32_t sm, struct dist_ends *ends);
/* The CTA was thrown away because its slot is being killed. [sm] */
void dist_killed(struct core *core, uint32_t sm, const struct dist_cta *cta, const uint64_t count[PPU_COUNTERS]);
/*
 * A CTA's fault: fills in slot, task, context and correlation, pushes the event and starts killing the slot.
 * False: the fault ring is full; the warp stalls and tries again. Later faults of a slot being killed are
 * swallowed (true). [sm]
 */
bool dist_fault(struct core *core, uint32_t sm, const struct dist_cta *cta, struct ppu_fault_event *event);
/* The CTA has left the SM, its state is in its place; `waits`: until its children have completed. [sm] */
void dist_saved(struct core *core, uint32_t sm, const struct dist_cta *cta, bool waits,
                const uint64_t count[PPU_COUNTERS]);
/* Chunks for the state of a CTA that has no place; false: it cannot be taken off. [sm] */
bool dist_switch_take(struct core *core, struct dist_cta *cta);
/* The CTA is on an SM again: its chunks are free. [sm] */
void dist_switch_give(struct core *core, struct dist_cta *cta);
/* Copies the state between the CTA's chunks and a buffer, at most what fits. [sm] */
void dist_switch_write(struct core *core, const struct dist_cta *cta, const uint8_t *bytes, uint32_t len);
void dist_switch_read(struct core *core, const struct dist_cta *cta, uint8_t *bytes, uint32_t len);

/* What a slot asks of an SM that has no CTA of its address space. */
struct dist_claim {
    struct dist_task task; /* as it is now */
    uint32_t rank;
    bool gang; /* for all of a co-resident grid: everything of lower rank is in its way */
};
/* True when some slot claims a place. [any] */
bool dist_claiming(struct core *core);
/* The claim of the highest rank on this SM; false: none. [sm] */
bool dist_claim(struct core *core, uint32_t sm, struct dist_claim *claim);
uint32_t dist_rank_of(struct core *core, uint32_t slot); /* [any] */

/* VRAM offset of a CTA's place in the save area. */
uint32_t dist_save_place(const struct dist_cta *cta);
/* True when CTAs of the slot that have a place are to be saved. [any] */
bool dist_saving(struct core *core, uint32_t slot);
/* True when the slot is being killed: its CTAs must be given back with dist_killed(). [any] */
bool dist_killing(struct core *core, uint32_t slot);
/* This SM holds no translation of the context any more (answers sm_flush()). [sm] */
void dist_flushed(struct core *core, uint32_t sm, uint32_t context);

/* ---- sm.c: SMs on host threads or in slices (engine side) ---- */
bool sm_pool_new(struct core *core);    /* SMs paused; false: out of memory */
void sm_pool_free(struct core *core);   /* joins the threads */
void sm_pool_reset(struct core *core);  /* drops all CTAs without telling the distributor; returns paused [lock] */
void sm_pool_pause(struct core *core);  /* returns when every SM stands still [lock] */
void sm_pool_resume(struct core *core); /* [lock] */
void sm_wake(struct core *core);        /* there may be CTAs to take [any] */
/* Attention: give back the slot's CTAs, or save them, as dist_killing() and dist_saving() say. [any] */
void sm_kill(struct core *core, uint32_t slot);
void sm_flush(struct core *core,
              uint32_t context); /* attention: drop translations, answer dist_flushed() once an SM [any] */
/* Does the accesses to system memory that warps are parked on; from core_bottom_half(). [lock] */
void sm_service_system(struct core *core);
/* sm_threads == 0: deadline of the next slice, UINT64_MAX when nothing is resident; and run it. [lock] */
uint64_t sm_slice_deadline(struct core *core);
void sm_slice_run(struct core *core);
uint64_t sm_time_ns(struct core *core, uint32_t context); /* spent on an address space, since reset [any] */
uint64_t sm_count(struct core *core, uint32_t sm, enum ppu_counter counter); /* since reset [any] */
/* Snapshot of warps, CTAs, shared memory, while paused [lock]; see snapshot.h for the byte string. */
struct snap;
void sm_pool_save(struct core *core, struct snap *snap);
bool sm_pool_load(struct core *core, struct snap *snap); /* false: not a state of this machine */
/* dist.c: the task a loaded CTA belongs to, NULL when that slot is free. [lock] */
const struct dist_task *dist_task_of(struct core *core, uint32_t slot);
/* dist/census.c: the SM has a loaded CTA of that task; false: it cannot, as the snapshot is told. [lock] */
bool dist_loaded_cta(struct core *core, uint32_t sm, const struct dist_cta *cta, struct snap *snap);
void sm_pool_text(struct core *core, char *buf, size_t size); /* for core_state_text() [lock] */

/* State of the SM side; core.c keeps the pointer. */
struct sm_pool;
struct sm_pool **core_sm_pool(struct core *core); /* [any] */

#endif
