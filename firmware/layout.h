/* SPDX-License-Identifier: MIT */
/*
 * Lays out the protected range of VRAM, [0, prot_limit). Computed from the size of the machine; told to the driver by
 * struct ppu_fw_info, to the device by its registers.
 */
#ifndef FIRMWARE_LAYOUT_H
#define FIRMWARE_LAYOUT_H

#include "ppu/admin.h"
#include "ppu/base.h"
#include "ppu/boot.h"
#include "ppu/fault.h"
#include "ppu/nest.h"
#include "ppu/ring.h"
#include "ppu/task.h"
#include "ppu/tmd.h"
#include "ppu/trace.h"

#define TASK_RECORDS 1024u /* for what channels launch */
#define NEST_RECORDS_MAX PPU_NEST_MAX_TASKS
#define NEST_RECORDS_MIN 256u
#define TASK_RECORDS_ALL (TASK_RECORDS + NEST_RECORDS_MAX)

#define TRACE_FW_RECORDS 4096u
#define TRACE_DEV_RECORDS 16384u

/* Bytes from one TMD copy to the next. It is no power of two: task_of_tmd() divides to find the record. */
#define TMD_STRIDE 320u

struct layout {
    ppu_vram_t fw_info;
    ppu_vram_t admin_queue;
    ppu_vram_t error_ring;
    ppu_vram_t log;
    ppu_vram_t fw_trace;
    ppu_vram_t dev_trace;
    ppu_vram_t ring[PPU_RING_COUNT];
    uint32_t ring_entries[PPU_RING_COUNT];
    ppu_vram_t channel_faults; /* struct channel_fault, one a channel */
    ppu_vram_t channel_counts; /* struct channel_counts, one a channel */
    ppu_vram_t groups;         /* struct ppu_group, one a context: depth 0 */
    ppu_vram_t status;         /* struct ppu_task_status, one a task record of a channel */
    ppu_vram_t tmds;           /* TMD copies, TMD_STRIDE apart */
    ppu_vram_t params; /* parameter copies, PPU_MAX_PARAM apart; then those of nests, PPU_NEST_MAX_PARAM apart */
    ppu_vram_t nest_params;
    uint32_t records;    /* task records, all together */
    uint32_t tasks;      /* task records for what channels launch */
    uint32_t nest_tasks; /* and those behind them, for nests */
    ppu_vram_t state;    /* struct ppu_state */
    ppu_vram_t tokens;   /* token queues of the SMs (E1) */
    uint32_t sm_tokens;  /* bytes of each SM's */
    ppu_vram_t pt_base;
    uint32_t pt_bytes;
    uint32_t prot_limit;
    uint32_t heap_base;
};

extern struct layout layout;

/* Needs caps. Computes the layout, writes PROT_BASE, PROT_LIMIT and the rings' places. */
void layout_init(void);

/* Writes struct ppu_fw_info and FW_INFO. */
void layout_publish(void);

#endif
