/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps a slot of the task table: its task, its CTAs, and what the MCU asks of it. */
#ifndef QEMU_DEVICE_CORE_DIST_SLOT_H
#define QEMU_DEVICE_CORE_DIST_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/counter.h"
#include "ppu/limits.h"
#include "ppu/regs.h"
#include "ppu/save.h"
#include "qemu-device/core/config_limits.h"
#include "qemu-device/core/dist/task.h"

struct core;

uint32_t dist_rank_of(struct core *core, uint32_t slot); /* [any] */
/* The task a loaded CTA belongs to, NULL when that slot is free. [lock] */
const struct dist_task *dist_task_of(struct core *core, uint32_t slot);

/* Under the lock. */
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
    bool stands;                  /* a debugger has stopped it: its time does not count; not in snapshots */
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
        uint32_t local_backing;
        uint32_t wide; /* 0 or 1 */
    } save[PPU_SAVE_PLACES];
    uint32_t switched; /* CTAs that were taken off their SMs into the address space's area, oldest first */
    struct dist_switched {
        uint64_t number;
        uint32_t local_backing;
        uint32_t chunk; /* the first */
        bool wide;
    } * switched_cta;
    uint32_t switched_room; /* elements there */
};

struct ppu_debug_task;
/* Describes the task of a slot to debuggers; false: it has none. [any] */
bool dist_describe(struct core *core, uint32_t index, struct ppu_debug_task *task);

void dist_rank(struct core *core, uint32_t index, uint32_t value);
/* True: some slot has a task of the address space. */
bool dist_runs(struct core *core, uint32_t context);
void dist_start(struct core *core, uint32_t index, uint32_t tmd_off);
void dist_control(struct core *core, uint32_t index, uint32_t command);
void dist_limit(struct core *core, uint32_t index, uint32_t limit);
uint32_t dist_state(struct core *core, uint32_t index);
/* SLOT_LINGER has changed. */
void dist_linger(struct core *core);
/* Slots that have CTAs to hand out, as bits: word 0 or 1. */
uint32_t dist_waiting(struct core *core, uint32_t word);
enum ppu_slot_state dist_shown(struct core *core, uint32_t index, uint32_t *ctas); /* and how many are on SMs */
uint64_t dist_run_ns(struct core *core, uint32_t index);
uint64_t dist_still_ns(struct core *core, uint32_t index);

#endif
