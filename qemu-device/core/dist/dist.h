/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Defines the state of the distributor, under its lock. */
#ifndef QEMU_DEVICE_CORE_DIST_DIST_H
#define QEMU_DEVICE_CORE_DIST_DIST_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ppu/limits.h"
#include "qemu-device/core/dist/flush.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/switch_area.h"

struct core;

struct dist {
    pthread_mutex_t lock;
    struct dist_slot slot[PPU_MAX_SLOTS];
    uint64_t starts;     /* of tasks, ever */
    uint64_t offering;   /* slots with CTAs to hand out; also read without the lock */
    uint64_t killing;    /* slots being killed; also read without the lock */
    uint64_t saving;     /* slots whose CTAs are being saved; also read without the lock */
    uint64_t leaving;    /* gangs that leave their SMs altogether, for others; also read without the lock */
    uint64_t claiming;   /* slots that claim a place on each SM; also read without the lock */
    uint64_t preempting; /* slots that take places of lower ranks of their address space; also read without the lock */
    uint16_t present[PPU_MAX_SMS][PPU_MAX_CONTEXTS]; /* CTAs of each address space on an SM */
    struct switch_area area[PPU_MAX_CONTEXTS];
    uint8_t cursor[PPU_MAX_SMS];
    struct dist_room used[PPU_MAX_SMS]; /* by CTAs that are there, or planned */
    uint32_t gpc_ctas[PPU_MAX_GPCS];    /* CTAs of `used`, in sum for each GPC */
    uint64_t all_ctas;                  /* and for all */
    uint64_t gangs;                     /* slots whose co-resident grid waits for room; also read without the lock */
    uint64_t gang_clock;                /* gives each its age */
    bool stood_back;                    /* an SM left a CTA to another since the last was handed out */
    bool stirred;                       /* SMs may find a CTA that they did not find before */
    struct dist_flush flush[PPU_MAX_CONTEXTS]; /* circular; the first is under way */
    uint32_t flush_head;
    uint32_t flush_count;
    uint64_t flush_waiting[PPU_MAX_SMS / 64u]; /* a bit for each SM that has not answered the first */
    uint32_t flush_left;                       /* bits that are set there */
    struct dist_census *census;                /* while a snapshot is loaded; else NULL */
};

void dist_reset(struct core *core);
void dist_free(struct core *core); /* what reset leaves allocated; nothing runs */
/* SMs may find a CTA that they did not find before; false the next time. [lock] */
bool dist_take_stirred(struct dist *dist);

#endif
