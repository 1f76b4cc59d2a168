/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State of the device core, but for the SMs', and the calls between its parts that SMs do not make. Each part of the
 * state is changed by its own file alone. Lock order: host lock, distributor, semaphore table, ring, trace.
 */
#ifndef QEMU_DEVICE_CORE_CORE_STATE_H
#define QEMU_DEVICE_CORE_CORE_STATE_H

#include <pthread.h>

#include "ppu/save.h"
#include "qemu-device/core/internal.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/snapshot.h"

#define CORE_NEVER UINT64_MAX
#define CORE_STEP_MOST_NS 1000000000ull /* no step of SMs or copies is further away than that */
#define CORE_MAX_SM_WARPS 256u
#define CORE_MAX_SM_CTAS CORE_MAX_SM_WARPS
#define CORE_MAX_SM_VREGS (1u << 20)
#define CORE_MAX_SM_SHARED (16u * PPU_MIB)
#define CORE_MAX_SM_THREADS 64u
#define CORE_MAX_RESIDENT (PPU_MAX_SMS * CORE_MAX_SM_CTAS) /* CTAs that can be on SMs at once */

/* ring.c: the producer's side of an event ring; under its lock. */
struct ring {
    pthread_mutex_t lock;
    uint32_t base;
    uint32_t size; /* entries; 0: no ring */
    uint32_t tail;
};

/* trace.c */
struct trace {
    pthread_mutex_t lock;
    uint32_t base;
    uint32_t size; /* records; 0: off; also read without the lock */
    uint32_t next;
};

/* semtab.c: armed words, found by a hash of their place; under the lock. */
#define SEMTAB_BUCKETS 256u
#define SEMTAB_NONE PPU_MAX_ARMED
struct sem_watch {
    bool armed;
    bool system;
    uint64_t place; /* VRAM offset or bus address of the payload */
    uint32_t tag;
    uint32_t next; /* in the same bucket, SEMTAB_NONE at the end */
};
struct semtab {
    pthread_mutex_t lock;
    uint32_t armed_count; /* also read without the lock */
    uint32_t bucket[SEMTAB_BUCKETS];
    struct sem_watch entry[PPU_MAX_ARMED];
};

/* dma.c; under the host lock. */
struct dma_copy {
    uint64_t src;
    uint64_t dst;
    uint32_t src_space;
    uint32_t dst_space;
    uint64_t len_bytes;
    uint64_t done_bytes;
    uint32_t tag;
};
struct dma {
    struct dma_copy queue[PPU_MAX_COPIES]; /* circular */
    uint32_t head;
    uint32_t count;
    uint64_t deadline_ns; /* of the next step */
    bool held;            /* by a test hook */
};

/* Adds what was counted for a CTA; `caches`: those counters, too. */
static inline void counts_add(uint64_t sum[PPU_COUNTERS], const uint64_t count[PPU_COUNTERS], bool caches)
{
    for (uint32_t i = 0; i < PPU_COUNTERS_ALWAYS; i++) {
        sum[i] += count[i];
    }
    for (uint32_t i = PPU_COUNTERS_ALWAYS; caches && i < PPU_COUNTERS; i++) {
        sum[i] += count[i];
    }
}

/* dist.c; under the lock. */
struct dist_slot {
    enum ppu_slot_state state;
    struct dist_task task;
    uint64_t total;               /* CTAs of the grid, or of the entries that the queue has so far */
    uint64_t next;                /* number of the next CTA to hand out */
    uint64_t ctas_done;           /* ended by themselves */
    uint64_t count[PPU_COUNTERS]; /* of CTAs that have left their SMs */
    uint32_t in_flight;           /* CTAs on SMs */
    uint64_t run_ns;              /* while there were any, until run_since_ns */
    uint64_t run_since_ns;        /* while there are some: virtual time at which run_ns was true */
    uint64_t stepped_ns;          /* of a queue task: time it had run when a CTA began or ended last */
    uint8_t rank;                 /* higher ones are handed out first; atomic, written with the lock */
    bool starved;                 /* an SM found no backing for local memory, or no place to save */
    bool told;                    /* an event WAITS was pushed and not answered */
    bool was_planned;             /* a snapshot being loaded: the gang had room */
    uint64_t gang_age;
    uint16_t planned[PPU_MAX_SMS]; /* CTAs of a gang that have room on an SM and were not handed out yet */
    uint64_t local_used[CORE_MAX_RESIDENT / 64];
    uint64_t save_used;    /* places of CTAs that have begun and not ended */
    uint64_t save_ready;   /* saved; may go on */
    uint64_t save_waiting; /* saved; wait for children */
    uint64_t save_told;    /* those of them that the last event WAITS told of */
    struct dist_saved_cta {
        uint64_t number;
        uint32_t local_slot;
    } save[PPU_SAVE_PLACES];
    uint32_t switched; /* CTAs that were taken off their SMs into the address space's area, oldest first */
    struct dist_switched {
        uint64_t number;
        uint32_t local_slot;
        uint32_t chunk; /* the first */
    } * switched_cta;
    uint32_t switched_room; /* elements there */
};
/* dist/switch_area.c: the area of an address space. */
#define SWITCH_NONE UINT32_MAX
struct switch_area {
    uint32_t place;  /* VRAM offset */
    uint32_t chunks; /* 0: there is no area */
    uint32_t first;  /* free chunk; those behind it follow by next[], to beyond the last */
    uint32_t held;   /* chunks that CTAs which have begun may need */
    uint32_t *next;
};
struct dist_flush {
    uint32_t context;
    uint32_t tag;
};
struct dist {
    pthread_mutex_t lock;
    struct dist_slot slot[PPU_MAX_SLOTS];
    uint64_t starts;   /* of tasks, ever */
    uint64_t offering; /* slots with CTAs to hand out; also read without the lock */
    uint64_t killing;  /* slots being killed; also read without the lock */
    uint64_t saving;   /* slots whose CTAs are being saved; also read without the lock */
    uint64_t leaving;  /* gangs that leave their SMs altogether, for others; also read without the lock */
    uint64_t claiming; /* slots that claim a place on each SM; also read without the lock */
    uint16_t present[PPU_MAX_SMS][PPU_MAX_CONTEXTS]; /* CTAs of each address space on an SM */
    struct switch_area area[PPU_MAX_CONTEXTS];
    uint8_t cursor[PPU_MAX_SMS];
    struct dist_room used[PPU_MAX_SMS]; /* by CTAs that are there, or planned */
    uint64_t gangs;                     /* slots whose co-resident grid waits for room; also read without the lock */
    uint64_t gang_clock;                /* gives each its age */
    bool stood_back;                    /* an SM left a CTA to another since the last was handed out */
    bool stirred;                       /* SMs may find a CTA that they did not find before */
    struct dist_flush flush[PPU_MAX_CONTEXTS]; /* circular; the first is under way */
    uint32_t flush_head;
    uint32_t flush_count;
    uint64_t flush_waiting;     /* SMs that have not answered the first */
    struct dist_census *census; /* while a snapshot is loaded; else NULL */
};

struct core {
    struct core_config config;
    struct core_host_ops ops;
    void *opaque;
    uint8_t *vram;
    struct sm_pool *sm_pool;
    bool paused;
    bool reset_deferred;
    uint32_t dma_depth;   /* calls of the host's DMA under way: it may reach back to this function */
    uint32_t events;      /* CORE_EVENT_* for the bottom half; any thread */
    uint64_t clear_at;    /* VRAM below it has been cleared since the reset; all of it: nothing is left to do */
    uint64_t timer_ns;    /* deadline of the MCU's timer */
    uint64_t deadline_ns; /* what the host's timer is set to */
    uint64_t error_window_ns;
    uint32_t error_count; /* guest errors logged in that window */

    uint32_t reg[PPU_REG_SPACE / 4]; /* values of registers that hold one; atomic accesses */
    uint8_t reg_row[PPU_REG_SPACE / 4];

    struct ring ring[PPU_RING_COUNT];
    struct trace trace;
    struct semtab semtab;
    struct dma dma;
    struct dist dist;
    uint32_t hook_held_count;     /* any thread */
    char refusal[SNAP_WHY_BYTES]; /* why the last snapshot was refused */
};

/* What the bottom half has to do. */
#define CORE_EVENT_RING (1u << 0)  /* a ring went from empty to non-empty */
#define CORE_EVENT_ERROR (1u << 1) /* DEVICE_ERROR has a new bit */

/* ---- core.c ---- */
void core_post(struct core *core, uint32_t events); /* [any] for the bottom half */
/* One sentence for whoever debugs the guest, at most a few a second. [lock] */
__attribute__((format(printf, 2, 3))) void core_guest_error(struct core *core, const char *format, ...);
/* All that the MCU has set up, put back to its reset state: it is held, or the function is reset. [lock] */
void core_reset_parts(struct core *core);

/* ---- clear.c [lock] ---- */
void clear_begin(struct core *core);
bool clear_going(const struct core *core);
void clear_step(struct core *core); /* a part, when the MCU is held */
void clear_save(const struct core *core, struct snap *snap);
void clear_load(struct core *core, struct snap *snap);

/* ---- regs.c ---- */
uint32_t reg_get(const struct core *core, uint32_t offset); /* [any] */
void reg_set(struct core *core, uint32_t offset, uint32_t value);
void regs_init(struct core *core);
void regs_reset_host(struct core *core); /* what the host owns */
void regs_reset_mcu(struct core *core);  /* what the MCU owns */

/* ---- mcu.c: bring-up, interrupt lines, vectors, timer [lock] ---- */
void mcu_control(struct core *core, uint32_t value);
void mcu_irq_raise(struct core *core, enum ppu_irq line);
void mcu_irq_clear(struct core *core, uint32_t lines);
void mcu_vector_raise(struct core *core, uint32_t vector);
void mcu_timer_arm(struct core *core);
void mcu_timer_run(struct core *core, uint64_t now_ns);

/* ---- doorbell.c [lock] ---- */
void doorbell_clear(struct core *core, uint32_t word, uint32_t channels);

/* ---- ring.c ---- */
void ring_setup(struct core *core, uint32_t id); /* RING_BASE was written [lock] */
void ring_reset(struct core *core, uint32_t id);

/* ---- trace.c ---- */
void trace_setup(struct core *core); /* TRACE_BASE was written [lock] */
void trace_reset(struct core *core);
void trace_mark(struct core *core, uint32_t mark, uint32_t unit); /* [any] */

/* ---- semtab.c ---- */
void semtab_arm(struct core *core, uint32_t entry, bool system, uint64_t place, uint32_t tag);
void semtab_disarm(struct core *core, uint32_t entry);
void semtab_reset(struct core *core);

/* ---- dma.c [lock] ---- */
void dma_submit(struct core *core, uint32_t mcu_addr);
void dma_cancel(struct core *core, uint32_t tag);
void dma_run(struct core *core, uint64_t now_ns); /* steps that are due */
void dma_release(struct core *core);              /* a test hook let go */
void dma_reset(struct core *core);

/* ---- hooks.c ---- */
void hook_release(struct core *core);
uint32_t hook_alloc_take(struct core *core);       /* 1: this allocation of the firmware fails */
uint32_t hook_ring_limit(const struct core *core); /* UINT32_MAX: none [any] */

/* ---- dist/task.c ---- */
/* Decodes and checks a TMD copy for this machine; 0 or the fault.def code of what is wrong. `total`: CTAs. */
uint16_t dist_task_decode(struct core *core, struct dist_task *task, uint64_t *total);
/* A grid counts x fastest; the CTAs of a queue task stand in a row. */
void dist_cta_id(const struct ppu_tmd *tmd, uint64_t number, uint32_t id[3]);
/* Backings of local memory that a slot can use at once. */
uint32_t dist_local_limit(const struct core *core, const struct dist_task *task);

/* ---- dist/place.c: with the distributor's lock ---- */
bool place_fits(const struct dist_task *task, const struct dist_room *room);
/* True when a co-resident grid of `total` CTAs can be on the SMs at once. */
bool place_gang_fits(const struct core *core, const struct dist_task *task, uint64_t total);
/* Gives gangs that wait their room, as far as there is any. */
void place_plan(struct core *core);
/* SMs may get CTAs of the slot; a gang's when all find room. */
void place_offer(struct core *core, struct dist_slot *slot);
/* They get none any more, and room that was planned is free. */
void place_withdraw(struct core *core, struct dist_slot *slot);
/* True for a gang that has room and CTAs to hand out. */
bool place_is_planned(const struct core *core, const struct dist_slot *slot);
/* This SM, which has room for it, may get a CTA of the slot. */
bool place_allows(struct core *core, const struct dist_slot *slot, uint32_t sm);
void place_take(struct core *core, struct dist_slot *slot, uint32_t sm);
void place_give(struct core *core, const struct dist_slot *slot, uint32_t sm);
/* A CTA was there when the snapshot was taken. */
void place_resident(struct core *core, const struct dist_slot *slot, uint32_t sm);

/* ---- dist/switch_area.c: with the distributor's lock, but for what says otherwise ---- */
uint32_t switch_bytes(const struct core *core); /* [any] of an area on this machine */
/* False: no area can lie there, or the host has no memory. Nothing of the address space runs. */
bool switch_open(struct core *core, uint32_t context, uint32_t place);
void switch_close(struct core *core, uint32_t context);
/* CTAs of the task go there when they are taken off. */
bool switch_has(struct core *core, const struct dist_task *task);
/* A CTA begins; false: it must wait until others have ended. One that was let begin has ended. */
bool switch_hold(struct core *core, const struct dist_task *task);
void switch_let_go(struct core *core, const struct dist_task *task);
/* Chunks for a CTA that has begun, the first of a chain; SWITCH_NONE: there are none, which cannot be. */
uint32_t switch_take(struct core *core, const struct dist_task *task);
/* The same for a snapshot, which says which; false: they cannot be had. */
bool switch_take_at(struct core *core, const struct dist_task *task, const uint32_t *chunk);
void switch_give(struct core *core, const struct dist_task *task, uint32_t first);
/* Whoever has taken a chain reads it without the lock. */
uint32_t switch_next(struct core *core, const struct dist_task *task, uint32_t chunk);
uint8_t *switch_chunk(struct core *core, const struct dist_task *task, uint32_t chunk);

/* ---- dist.c: for SMs that make room ---- */
/* A co-resident grid leaves all SMs, and comes back when there is room for all of it. [sm] */
void dist_gang_leave(struct core *core, uint32_t index);
bool dist_leaving(struct core *core, uint32_t slot); /* [any] */

/* ---- dist.c [lock] ---- */
void dist_rank(struct core *core, uint32_t index, uint32_t value);
/* True: some slot has a task of the address space. */
bool dist_runs(struct core *core, uint32_t context);
/* Nothing of the address space runs. False: see switch_open(). */
bool dist_area(struct core *core, uint32_t context, uint32_t place);
void dist_start(struct core *core, uint32_t index, uint32_t tmd_off);
void dist_control(struct core *core, uint32_t index, uint32_t command);
void dist_limit(struct core *core, uint32_t index, uint32_t limit);
uint32_t dist_state(struct core *core, uint32_t index);
uint64_t dist_run_ns(struct core *core, uint32_t index);
uint64_t dist_still_ns(struct core *core, uint32_t index);
void dist_flush_request(struct core *core, uint32_t context);
void dist_reset(struct core *core);
void dist_free(struct core *core); /* what reset leaves allocated; nothing runs */

/* ---- snapshots of the parts; load functions leave `snap->bad` set when a value cannot be [lock] ---- */
void regs_save(struct core *core, struct snap *snap);
void regs_load(struct core *core, struct snap *snap);
void ring_save(struct core *core, struct snap *snap);
void ring_load(struct core *core, struct snap *snap);
void trace_save(struct core *core, struct snap *snap);
void trace_load(struct core *core, struct snap *snap);
void semtab_save(struct core *core, struct snap *snap);
void semtab_load(struct core *core, struct snap *snap);
void dma_save(struct core *core, struct snap *snap);
void dma_load(struct core *core, struct snap *snap);
void dist_save(struct core *core, struct snap *snap);
void dist_load(struct core *core, struct snap *snap);
void dist_check(struct core *core, struct snap *snap); /* the SMs have their state too: does it fit the slots'? */
void dist_loaded(struct core *core);                   /* it does: tell the SMs what is asked of them */

/* ---- dist/census.c [lock] ---- */
bool census_begin(struct core *core, struct snap *snap); /* no CTA has been seen yet */
bool census_agrees(struct core *core, struct snap *snap);
void census_end(struct core *core);

#endif
