/* SPDX-License-Identifier: MIT */
/* Computes what is shown of a PPU from two samples of it: loads, occupancy, and what tasks and channels do. */
#ifndef TOOLS_TOP_FIGURES_H
#define TOOLS_TOP_FIGURES_H

#include "ppu/channel.h"
#include "tools/top/device.h"

#define FIGURES_UNKNOWN (-1.0)

/* Loads are percent of one processor of the host, or of one SM; FIGURES_UNKNOWN: there is one sample, or no clock. */
struct figures {
    double seconds; /* between the samples; 0: there is one */
    uint32_t sms;
    double sm_load[PPU_MAX_SMS];
    double sm_occupancy[PPU_MAX_SMS]; /* percent of the warps that it holds, now */
    uint32_t gpcs;
    uint32_t gpc_ctas[PPU_MAX_GPCS]; /* on their SMs, now */
    double gpc_l15[PPU_MAX_GPCS];    /* percent of what was looked for in the cache that they share, and found */
    double gpc_tlb[PPU_MAX_GPCS];    /* the same of their TLB */
    double mcu_load;
    double process_load;
    uint32_t threads;
    double thread_load[PPU_MAX_THREADS];
    uint32_t waiting[PPU_PRIORITIES]; /* tasks */
    uint32_t running[PPU_PRIORITIES];
    uint32_t slots;
    uint32_t slots_taken;
    uint64_t faults;
};

struct context_figures {
    uint32_t number;
    double load; /* percent of all SMs */
    uint64_t sm_ns;
    struct view_mapped mapped;
    uint32_t tasks;
    uint32_t channels;
};

enum context_order {
    BY_LOAD,
    BY_MEMORY,
    BY_NUMBER,
    CONTEXT_ORDERS,
};

void figures_compute(const struct device *device, struct figures *figures);
/* The contexts that are open, in an order; returns how many. */
uint32_t figures_contexts(const struct device *device, enum context_order order,
                          struct context_figures contexts[PPU_MAX_CONTEXTS]);
/* Names of states, as in task_state.def, and of channels. */
const char *figures_task_state(uint64_t state);
const char *figures_channel_state(uint64_t state);

static inline bool figures_task_waits(uint64_t state)
{
    return state == PPU_TASK_STATE_HELD || state == PPU_TASK_STATE_ADMITTED || state == PPU_TASK_STATE_READY ||
           state == PPU_TASK_STATE_PARKED;
}

static inline bool figures_task_runs(uint64_t state)
{
    return state == PPU_TASK_STATE_RUNNING || state == PPU_TASK_STATE_STOPPING || state == PPU_TASK_STATE_KILLING;
}

#endif
