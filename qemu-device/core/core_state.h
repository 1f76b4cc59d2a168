/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Defines the state of the device core. Each member is changed by the files of its own noun alone. */
#ifndef QEMU_DEVICE_CORE_CORE_STATE_H
#define QEMU_DEVICE_CORE_CORE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "ppu/regs.h"
#include "ppu/ring.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/debug_state.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/memory/dma.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/semtab.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/snapshot.h"

struct sm_pool;

#define CORE_NEVER UINT64_MAX
#define CORE_STEP_MOST_NS 1000000000ull /* no step of SMs or copies is further away than that */

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
    uint64_t profile; /* place and size of the table (memory/profile_table.h); 0: there is none; atomic */
    struct semtab semtab;
    struct dma dma;
    struct dist dist;
    struct debug debug;
    uint32_t hook_held_count;     /* any thread */
    char refusal[SNAP_WHY_BYTES]; /* why the last snapshot was refused */
};

/* Names what the bottom half has to do. */
#define CORE_EVENT_RING (1u << 0)  /* a ring went from empty to non-empty */
#define CORE_EVENT_ERROR (1u << 1) /* DEVICE_ERROR has a new bit */

#endif
