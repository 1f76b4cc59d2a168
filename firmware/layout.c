/* SPDX-License-Identifier: MIT */
#include "firmware/layout.h"

#include <string.h>

#include "firmware/caps.h"
#include "firmware/channel.h"
#include "firmware/crash.h"
#include "firmware/hal.h"
#include "firmware/state.h"
#include "ppu/limits.h"
#include "ppu/macros.h"
#include "ppu/mmu.h"
#include "ppu/token.h"

struct layout layout;

#define PT_POOL_MIN (2u * PPU_MIB)
#define PT_POOL_MAX (512u * PPU_MIB)
#define PT_POOL_SHARE 8u           /* one byte of tables and save areas for so many bytes of VRAM */
#define NEST_SHARE (64u * PPU_KIB) /* one task record of nests for so many bytes of VRAM */
#define TOKEN_SHARE 16u            /* one byte of token queues for so many bytes of VRAM, at most */
#define TOKEN_QUEUES_LARGE 4u      /* every warp of an SM may have queues so many times the default */
#define PROTECTED_ALIGN (64u * PPU_KIB)
#define START_RING_ENTRIES 256u
#define TOUCHES_IN_FLIGHT 512u /* of acquires that have passed since; see TOUCHES_A_ROUND in main.c */
#define FAULT_RING_ENTRIES 256u
#define TOKEN_RING_ENTRIES 64u

_Static_assert(sizeof(struct ppu_tmd_copy) <= TMD_STRIDE, "a TMD copy has its stride");
_Static_assert(TASK_RECORDS_ALL < PPU_TASK_MAX, "a handle has room for every record");

static uint32_t power_of_two_from(uint32_t least)
{
    uint32_t power = 1;
    while (power < least) {
        power *= 2;
    }
    return power;
}

static uint32_t share_of_vram(uint32_t share, uint32_t least, uint32_t most)
{
    uint64_t part = caps.vram_bytes / share;
    return part < least ? least : part > most ? most : (uint32_t)part;
}

/* Takes `bytes` at the next multiple of `alignment` from *end. */
static ppu_vram_t reserve_area(uint32_t *end, uint32_t bytes, uint32_t alignment)
{
    ppu_vram_t here = { ppu_align_up(*end, alignment) };
    *end = here.off + bytes;
    return here;
}

/* Never less than the largest CTA needs with queues of the default size. */
static uint32_t sm_token_bytes(void)
{
    uint32_t least = ppu_token_bytes(PPU_MAX_CTA_THREADS / PPU_LANES, 0);
    uint64_t wanted = (uint64_t)TOKEN_QUEUES_LARGE * caps.sm_warps * ppu_token_bytes(1, 0);
    uint64_t most = caps.vram_bytes / TOKEN_SHARE / caps.sms;
    uint64_t bytes = PPU_MIN(wanted, most);
    return bytes < least ? least : (uint32_t)bytes & ~(PPU_TOKEN_ALIGN - 1u);
}

static uint32_t trace_bytes(uint32_t records)
{
    return (uint32_t)sizeof(struct ppu_trace_ring) + records * (uint32_t)sizeof(struct ppu_trace_record);
}

/*
 * Rings that must not fill hold their worst case: a slot has one event that ends or stops it and one that CTAs wait,
 * and each context one flush; each copy and each armed semaphore has one event.
 */
static void choose_ring_sizes(void)
{
    layout.ring_entries[PPU_RING_START] = START_RING_ENTRIES;
    layout.ring_entries[PPU_RING_SLOT] = power_of_two_from(3 * caps.slots + caps.contexts + 1);
    layout.ring_entries[PPU_RING_FAULT] = FAULT_RING_ENTRIES;
    layout.ring_entries[PPU_RING_COPY] = power_of_two_from(2 * caps.copies);
    layout.ring_entries[PPU_RING_TOKEN] = TOKEN_RING_ENTRIES;
    layout.ring_entries[PPU_RING_TOUCH] = power_of_two_from(caps.channels + TOUCHES_IN_FLIGHT);
}

static void lay_out_all(void)
{
    uint32_t end = PROTECTED_ALIGN; /* offset 0 stays unused: it reads as "none" in descriptors */
    layout.fw_info = reserve_area(&end, sizeof(struct ppu_fw_info), 64);
    layout.admin_queue = reserve_area(&end, sizeof(struct ppu_admin_queue), 64);
    layout.error_ring = reserve_area(&end, sizeof(struct ppu_error_ring), 64);
    layout.log = reserve_area(&end, sizeof(struct ppu_log_ring), 64);
    layout.fw_trace = reserve_area(&end, trace_bytes(TRACE_FW_RECORDS), 64);
    layout.dev_trace = reserve_area(&end, trace_bytes(TRACE_DEV_RECORDS), 64);
    for (uint32_t i = 0; i < PPU_RING_COUNT; i++) {
        layout.ring[i] = reserve_area(&end, PPU_RING_BYTES(layout.ring_entries[i]), 64);
    }
    layout.channel_faults = reserve_area(&end, caps.channels * (uint32_t)sizeof(struct channel_fault), 64);
    layout.channel_counts = reserve_area(&end, caps.channels * (uint32_t)sizeof(struct channel_counts), 64);
    layout.groups = reserve_area(&end, caps.contexts * (uint32_t)sizeof(struct ppu_group), 64);
    layout.status = reserve_area(&end, layout.tasks * (uint32_t)sizeof(struct ppu_task_status), 64);
    layout.tmds = reserve_area(&end, (layout.tasks + layout.nest_tasks) * TMD_STRIDE, PPU_TMD_ALIGN);
    layout.params = reserve_area(&end, layout.tasks * PPU_MAX_PARAM, PPU_MAX_PARAM);
    layout.nest_params = reserve_area(&end, layout.nest_tasks * PPU_NEST_MAX_PARAM, PPU_NEST_MAX_PARAM);
    layout.state = reserve_area(&end, state_bytes(), 64);
    layout.tokens = reserve_area(&end, caps.sms * layout.sm_tokens, PPU_TOKEN_ALIGN);
    layout.pt_base = reserve_area(&end, layout.pt_bytes, PPU_PT_ALIGN);
    layout.prot_limit = ppu_align_up(end, PROTECTED_ALIGN);
    layout.heap_base = ppu_align_up(layout.prot_limit, PPU_PAGE_2M);
    FW_ASSERT(layout.heap_base < caps.vram_bytes);
}

static void tell_device(void)
{
    hal_write(PPU_REG_PROT_BASE, 0);
    hal_write(PPU_REG_PROT_LIMIT, layout.prot_limit);
    for (uint32_t i = 0; i < PPU_RING_COUNT; i++) {
        hal_write(PPU_REG_RING_SIZE + 4 * i, layout.ring_entries[i]);
        hal_write(PPU_REG_RING_BASE + 4 * i, layout.ring[i].off);
    }
    hal_write(PPU_REG_TOKEN_BYTES, caps.sms * layout.sm_tokens);
    hal_write(PPU_REG_TOKEN_BASE, layout.tokens.off);
    *(struct ppu_trace_ring *)hal_vram(layout.dev_trace) = (struct ppu_trace_ring){
        .head = { PPU_TRACE_VERSION, sizeof(struct ppu_trace_record) },
        .size = TRACE_DEV_RECORDS,
    };
    hal_write(PPU_REG_TRACE_SIZE, TRACE_DEV_RECORDS);
    hal_write(PPU_REG_TRACE_BASE, layout.dev_trace.off);
}

void layout_init(void)
{
    layout.tasks = TASK_RECORDS;
    layout.nest_tasks = share_of_vram(NEST_SHARE, NEST_RECORDS_MIN, NEST_RECORDS_MAX) & ~(PPU_NEST_MIN_TASKS - 1u);
    layout.records = layout.tasks + layout.nest_tasks;
    layout.pt_bytes = ppu_align_up(share_of_vram(PT_POOL_SHARE, PT_POOL_MIN, PT_POOL_MAX), PPU_PT_BYTES);
    layout.sm_tokens = sm_token_bytes();
    choose_ring_sizes();
    lay_out_all();
    tell_device();
}

void layout_publish(void)
{
    struct ppu_fw_info info = {
        .head = { PPU_FW_INFO_VERSION, sizeof(struct ppu_fw_info) },
        .abi_major = PPU_ABI_MAJOR,
        .abi_minor = PPU_ABI_MINOR,
        .prot_limit = layout.prot_limit,
        .admin_queue = layout.admin_queue.off,
        .error_ring = layout.error_ring.off,
        .fw_trace = layout.fw_trace.off,
        .dev_trace = layout.dev_trace.off,
        .log = layout.log.off,
        .pt_base = layout.pt_base.off,
        .pt_bytes = layout.pt_bytes,
        .heap_base = layout.heap_base,
        .streams = PPU_MAX_STREAMS,
        .tasks = layout.tasks,
        .tmds = layout.tmds.off,
        .tmd_stride = TMD_STRIDE,
        .state = layout.state.off,
    };
    memcpy(info.build_id, hal_build_id(), PPU_BUILD_ID_BYTES);
    memcpy(hal_vram(layout.fw_info), &info, sizeof(info));
    state_publish();
    hal_write(PPU_REG_FW_INFO, layout.fw_info.off);
}
