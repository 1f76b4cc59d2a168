/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/slot_life.h"
#include "ppu/counter.h"
#include "ppu/fault.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "ppu/tmd.h"
#include "ppu/trace.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta_group.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/local_memory.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/progress.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/switched.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/regs.h"

#include <string.h>

static void push_event(struct core *core, const struct dist_slot *slot, enum ppu_slot_event_kind kind, uint32_t arg)
{
    const struct ppu_slot_event event = {
        .kind = kind,
        .slot = slot->task.slot,
        .task = slot->task.tmd_off,
        .arg = arg,
        .time_ns = core_now(core),
        .ctas_done = slot->ctas_done,
        .warp_insns = slot->count[PPU_COUNTER_INSNS],
    };

    trace_mark(core, PPU_MARK_SLOT_EVENT, PPU_TRACE_UNIT_MCU);
    ring_push(core, PPU_RING_SLOT, &event);
}

static void trace_counts(struct core *core, const struct dist_slot *slot)
{
    for (uint32_t i = 0; i < PPU_COUNTERS; i++) {
        if (slot->count[i] != 0) {
            trace_emit(core, PPU_TRACE_TASK_COUNT, slot->task.tmd.correlation, i, (uint32_t)slot->count[i],
                       (uint32_t)(slot->count[i] >> 32));
        }
    }
}

static void slot_free(struct core *core, struct dist_slot *slot, enum ppu_slot_event_kind kind)
{
    switched_drop(core, slot);
    mask_clear(&core->dist.claiming, bit(slot->task.slot));
    mask_clear(&core->dist.preempting, bit(slot->task.slot));
    mask_clear(&core->dist.leaving, bit(slot->task.slot));
    mask_clear(&core->dist.killing, bit(slot->task.slot));
    mask_clear(&core->dist.saving, bit(slot->task.slot));
    slot->state = PPU_SLOT_FREE;
    if (kind == PPU_SLOT_DONE || kind == PPU_SLOT_KILLED) {
        debug_ended(core, slot->task.tmd.context, slot->task.tmd.task);
    }
    place_withdraw(core, slot);
    progress_write(core, slot);
    trace_counts(core, slot);
    push_event(core, slot, kind, kind == PPU_SLOT_PARKED ? (uint32_t)__builtin_popcountll(slot->save_waiting) : 0);
}

bool slot_can_go_on(const struct core *core, struct dist_slot *slot)
{
    return slot->save_ready != 0 || slot->switched != 0 ||
           (slot->next < slot->total && save_exists(slot) && local_exists(core, slot));
}

bool slot_is_queue(const struct dist_slot *slot)
{
    return slot->task.tmd.kind == PPU_TMD_TASKQ;
}

/* A queue may get more entries; only the firmware knows that it will not. */
static bool slot_is_done(const struct dist_slot *slot)
{
    return !slot_is_queue(slot) && slot->next == slot->total && slot->save_used == 0 && slot->switched == 0;
}

bool slot_lingers(struct core *core, const struct dist_slot *slot)
{
    return slot->state == PPU_SLOT_RUNNING && slot->save_waiting != 0 && !slot_is_queue(slot) &&
           reg_get(core, PPU_REG_SLOT_LINGER) != 0;
}

void slot_settle(struct core *core, struct dist_slot *slot)
{
    if (slot->in_flight != 0) {
        return;
    }
    if (slot->state == PPU_SLOT_KILLING) {
        slot_free(core, slot, PPU_SLOT_KILLED);
    } else if (slot_is_done(slot)) {
        slot_free(core, slot, PPU_SLOT_DONE);
    } else if (slot->state == PPU_SLOT_STOPPING && slot->switched == 0) {
        slot_free(core, slot, PPU_SLOT_STOPPED);
    } else if (!slot_can_go_on(core, slot) && slot_lingers(core, slot)) {
        mask_clear(&core->dist.offering, bit(slot->task.slot)); /* CTAs that lack a place to be saved in */
    } else if (!slot_can_go_on(core, slot)) {
        slot_free(core, slot, PPU_SLOT_PARKED);
    }
}

void slot_tell(struct core *core, struct dist_slot *slot)
{
    if (slot->state != PPU_SLOT_FREE && !slot->told && slot->save_waiting != 0 && !cta_groups_exist(&slot->task.tmd)) {
        slot->told = true;
        slot->save_told = slot->save_waiting;
        push_event(core, slot, PPU_SLOT_WAITS, 0);
    }
}

/* The CTAs that RESUME is for: those without children where each has its own, else those that the firmware knew of. */
static uint64_t resumed(const struct core *core, const struct dist_slot *slot)
{
    if (cta_groups_exist(&slot->task.tmd)) {
        return cta_groups_idle(core, &slot->task, slot->save_waiting);
    }
    return slot->told ? slot->save_told : 0;
}

void slot_resume(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_FREE || slot->state == PPU_SLOT_KILLING) {
        return;
    }
    uint64_t go_on = resumed(core, slot);
    if (go_on == 0) {
        return;
    }
    slot->told = false;
    slot->save_told = 0;
    slot->save_ready |= go_on;
    slot->save_waiting &= ~go_on;
    if (slot->state == PPU_SLOT_RUNNING) {
        place_offer(core, slot);
    }
    slot_tell(core, slot);
}

/* Every CTA of a gang that has begun must run, or those that do would wait for the others. */
static bool slot_must_drain_all(struct core *core, const struct dist_slot *slot)
{
    return slot->in_flight != 0 && place_is_planned(core, slot) && !dist_saving(core, slot->task.slot);
}

void slot_stop(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_RUNNING) {
        slot->state = PPU_SLOT_STOPPING;
        if (!slot_must_drain_all(core, slot)) {
            place_withdraw(core, slot);
        }
        if (slot->switched != 0 && !place_is_planned(core, slot)) { /* they have begun, and end first */
            place_offer(core, slot);
        }
        slot_settle(core, slot);
    }
}

void slot_save_all(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_RUNNING && slot->task.tmd.save_count != 0) {
        mask_set(&core->dist.saving, bit(slot->task.slot));
    }
    slot_stop(core, slot);
}

void slot_kill(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_RUNNING || slot->state == PPU_SLOT_STOPPING) {
        slot->state = PPU_SLOT_KILLING;
        place_withdraw(core, slot);
        mask_clear(&core->dist.saving, bit(slot->task.slot));
        mask_set(&core->dist.killing, bit(slot->task.slot));
        slot_settle(core, slot);
    }
}

/* Copies the TMD copy once and decodes that; 0 or a fault code. */
static uint16_t slot_read(struct core *core, struct dist_slot *slot, uint32_t tmd_off)
{
    uint16_t code = dist_task_copy_check(core, tmd_off);

    slot->task.tmd_off = tmd_off;
    if (code != PPU_FAULT_NONE) {
        return code;
    }
    vram_copy((uint8_t *)&slot->task.tmd, core->vram + tmd_off, sizeof(struct ppu_tmd));
    return dist_task_decode(core, &slot->task, &slot->total);
}

void slot_begin(struct core *core, struct dist_slot *slot, uint32_t tmd_off)
{
    slot->next = 0;
    slot->ctas_done = 0;
    slot->run_ns = slot->stepped_ns = 0;
    memset(slot->count, 0, sizeof(slot->count));
    slot->starved = false;
    slot->told = false;
    slot->was_planned = false;
    memset(slot->planned, 0, core->config.sms * sizeof(slot->planned[0]));
    slot->save_used = slot->save_ready = slot->save_waiting = slot->save_told = 0;
    local_clear(core, slot);
    slot->switched = 0;
    slot->task.start = ++core->dist.starts;
    uint16_t code = slot_read(core, slot, tmd_off);
    if (code == PPU_FAULT_NONE && !progress_read(core, slot)) {
        code = PPU_FAULT_TMD_SAVE;
    }
    if (code != PPU_FAULT_NONE) {
        push_event(core, slot, PPU_SLOT_REFUSED, code);
        return;
    }
    __atomic_store_n(&slot->rank, slot->task.tmd.priority, __ATOMIC_RELAXED);
    slot->stands = debug_stands(core, slot->task.tmd.context, slot->task.tmd.task);
    slot->state = PPU_SLOT_RUNNING;
    if (slot_can_go_on(core, slot)) {
        place_offer(core, slot);
    }
    slot_settle(core, slot);
    slot_tell(core, slot);
}
