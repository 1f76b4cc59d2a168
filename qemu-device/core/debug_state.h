/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeps what a debugger has asked for (ppu/debug.h). Breakpoints, watchpoints and the step are changed with the host
 * lock held while the SMs stand still, so SM threads read them without a lock; what SM threads change says so.
 */
#ifndef QEMU_DEVICE_CORE_DEBUG_STATE_H
#define QEMU_DEVICE_CORE_DEBUG_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/debug.h"
#include "qemu-device/core/sm/lanes.h"

struct core;
struct history;

struct debug_break {
    bool set;
    uint32_t context;
    uint64_t address;
    uint32_t lane; /* PPU_DEBUG_ANY_LANE, or the one that must be active */
    bool of_one_cta;
    uint32_t cta[3];
};

struct debug_watch {
    bool set;
    uint32_t context;
    uint64_t address;
    uint32_t bytes;
    uint64_t value; /* that is there; changed by SM threads under `watching` */
};

struct debug_step {
    uint32_t underway;   /* atomic: made 1 by requests, 0 by the SM */
    uint32_t executed;   /* by the SM's thread alone, as `active` */
    struct lanes active; /* of the instruction that is let through */
    struct ppu_debug_at at;
    uint32_t lane;
    bool in_range;
    uint32_t ranges;
    struct ppu_debug_range range[PPU_DEBUG_RANGES];
};

/* What a debugger has to do with a warp; of the SM's thread. */
struct debug_mark {
    uint8_t stopped; /* enum ppu_debug_why: at `pc`, which it passes when it goes on; 0: it is not */
    bool told;       /* its fault stopped it once */
    uint32_t pc;
};

struct debug {
    uint32_t on;                             /* atomic: there is a debugger */
    uint32_t halted[PPU_MAX_CONTEXTS / 32u]; /* atomic: contexts whose warps stand still */
    uint64_t held[PPU_DEBUG_HELD];           /* atomic: tasks that stand alone, as debug_state.c packs them; 0: none */
    uint32_t held_end;                       /* atomic: elements behind are 0; grows until the debugger is gone */
    uint32_t one_task;                       /* 1: a stop stops its task alone */
    uint32_t stop_at;                        /* PPU_DEBUG_AT_* */
    uint32_t stop_context;                   /* where; or PPU_DEBUG_ALL */
    uint32_t stopped_sm;                     /* atomic: where a warp stopped last */
    uint32_t breaks, watches;                /* highest that is set, and 1 more */
    struct debug_break break_at[PPU_DEBUG_BREAKS]; /* by number */
    struct debug_watch watch[PPU_DEBUG_WATCHES];
    struct debug_step step;
    struct debug_mark *mark;  /* of each warp of each SM */
    pthread_mutex_t watching; /* a warp at a time executes while there are watchpoints */
    pthread_mutex_t lock;     /* of what follows */
    uint32_t events;
    struct ppu_debug_event event[PPU_DEBUG_EVENTS];
    /* of the host lock */
    struct history *history; /* NULL: nobody wants to go back */
    uint32_t owner;          /* that is served; 0: none */
    uint32_t alive;
    uint64_t alive_ns;
    uint32_t sessions;
    uint32_t answered; /* the request that was answered last */
};

/* False: out of memory. */
bool debug_init(struct core *core);
void debug_destroy(struct core *core);
/* As if there were no debugger: a reset, or another state was loaded. The SMs stand still. [lock] */
void debug_forget(struct core *core);
/* A context is open no more: nothing of it stands still or is looked for. The SMs stand still. [lock] */
void debug_forget_context(struct core *core, uint32_t context);

/* A warp of a task stops, and with it the context, or the task alone; the event gets its number. `task`: its handle, or
 * PPU_TASK_NULL when no warp has stopped. [sm] */
void debug_stop(struct core *core, uint32_t context, uint32_t task, struct ppu_debug_event *event);
/* Tells the debugger, and stops nothing. [any] */
void debug_tell(struct core *core, uint32_t context, struct ppu_debug_event *event);
/* The context's warps stand still, or go on. Time of a task that stands still does not count. [any] */
void debug_halt(struct core *core, uint32_t context, bool halt);
bool debug_halts(const struct core *core, uint32_t context);

/* A task stands still, whether its context does or not; false: too many do. [any] */
bool debug_hold(struct core *core, uint32_t context, uint32_t task);
/* It does not any more, unless its context does. Without `task` (PPU_TASK_NULL): all of the context. [any] */
void debug_release(struct core *core, uint32_t context, uint32_t task);
/* The task has ended: its handle will be another's. Called with the distributor's lock. */
void debug_ended(struct core *core, uint32_t context, uint32_t task);
/* True: the task stands still, alone or with its context. */
bool debug_stands(const struct core *core, uint32_t context, uint32_t task);
/* True: something of the context stands still. */
bool debug_stands_in(const struct core *core, uint32_t context);
/* Tasks of a context that have a slot stand alone that stood with it (false: too many do, and the context stands on);
 * or the context with those that stood alone. The SMs stand still. [lock] */
bool debug_spread(struct core *core, uint32_t context);
void debug_gather(struct core *core, uint32_t context);

#endif
