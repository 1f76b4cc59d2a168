/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/slot.h"
#include "ppu/debug.h"
#include "ppu/regs.h"
#include "ppu/trace.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/run_time.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot_life.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/trace.h"

void dist_start(struct core *core, uint32_t index, uint32_t tmd_off)
{
    struct dist_slot *slot = &core->dist.slot[index];

    history_outside(core);
    pthread_mutex_lock(&core->dist.lock);
    bool busy = slot->state != PPU_SLOT_FREE;
    if (!busy) {
        slot_begin(core, slot, tmd_off);
    }
    pthread_mutex_unlock(&core->dist.lock);
    if (busy) {
        core_guest_error(core, "SLOT_START: slot %u is busy", index);
        core_device_error(core, PPU_DEVERR_SLOT);
        return;
    }
    trace_mark(core, PPU_MARK_SLOT_STARTED, PPU_TRACE_UNIT_MCU);
    sm_offer(core);
    core_timer_request(core);
}

void dist_control(struct core *core, uint32_t index, uint32_t command)
{
    struct dist_slot *slot = &core->dist.slot[index];

    if (command < PPU_SLOT_CMD_STOP || command > PPU_SLOT_CMD_RESUME) {
        core_guest_error(core, "SLOT_CONTROL: no command %u", command);
        core_device_error(core, PPU_DEVERR_SLOT);
        return;
    }
    history_outside(core);
    pthread_mutex_lock(&core->dist.lock);
    switch (command) {
    case PPU_SLOT_CMD_STOP:
        slot_stop(core, slot);
        break;
    case PPU_SLOT_CMD_SAVE:
        slot_save_all(core, slot);
        break;
    case PPU_SLOT_CMD_RESUME:
        slot_resume(core, slot);
        break;
    default:
        slot_kill(core, slot);
        break;
    }
    bool attend = slot->state == PPU_SLOT_KILLING || dist_saving(core, index);
    bool wake = dist_take_stirred(&core->dist) || command == PPU_SLOT_CMD_RESUME;
    pthread_mutex_unlock(&core->dist.lock);
    if (attend) {
        sm_kill(core, index);
    }
    if (wake) {
        sm_offer(core);
    }
    core_timer_request(core);
}

/* True when there are more entries. A slot that has just been freed is told again when it is started. */
static bool slot_limit(struct core *core, struct dist_slot *slot, uint32_t limit)
{
    uint32_t more = limit - (uint32_t)slot->total;

    if (slot->state != PPU_SLOT_RUNNING || !slot_is_queue(slot) || more == 0 || more > INT32_MAX) {
        return false;
    }
    slot->total += more;
    slot->task.tmd.taskq_limit = slot->total;
    place_offer(core, slot);
    return true;
}

void dist_limit(struct core *core, uint32_t index, uint32_t limit)
{
    history_outside(core);
    pthread_mutex_lock(&core->dist.lock);
    bool more = slot_limit(core, &core->dist.slot[index], limit);
    pthread_mutex_unlock(&core->dist.lock);
    if (more) {
        sm_offer(core);
        core_timer_request(core);
    }
}

uint32_t dist_state(struct core *core, uint32_t index)
{
    uint32_t state = 0;

    pthread_mutex_lock(&core->dist.lock);
    state = core->dist.slot[index].state;
    pthread_mutex_unlock(&core->dist.lock);
    return state;
}

void dist_linger(struct core *core)
{
    history_outside(core);
    pthread_mutex_lock(&core->dist.lock);
    for (uint32_t i = 0; i < core->config.slots; i++) {
        if (core->dist.slot[i].state == PPU_SLOT_RUNNING) {
            slot_settle(core, &core->dist.slot[i]);
        }
    }
    pthread_mutex_unlock(&core->dist.lock);
}

uint32_t dist_waiting(struct core *core, uint32_t word)
{
    const struct dist *dist = &core->dist;
    uint64_t waiting =
        __atomic_load_n(&dist->offering, __ATOMIC_SEQ_CST) | __atomic_load_n(&dist->gangs, __ATOMIC_SEQ_CST);

    return (uint32_t)(waiting >> 32 * word);
}

enum ppu_slot_state dist_shown(struct core *core, uint32_t index, uint32_t *ctas)
{
    const struct dist_slot *slot = &core->dist.slot[index];

    pthread_mutex_lock(&core->dist.lock);
    enum ppu_slot_state state = slot->state;
    *ctas = slot->in_flight;
    pthread_mutex_unlock(&core->dist.lock);
    return state;
}

bool dist_describe(struct core *core, uint32_t index, struct ppu_debug_task *task)
{
    const struct dist_slot *slot = &core->dist.slot[index];
    const struct ppu_tmd *tmd = &slot->task.tmd;

    pthread_mutex_lock(&core->dist.lock);
    const bool busy = slot->state != PPU_SLOT_FREE;
    if (busy) {
        *task = (struct ppu_debug_task){
            .slot = index,
            .start = slot->task.start,
            .code_va = tmd->code_va,
            .code_bytes = tmd->code_bytes,
            .entry = tmd->entry,
            .context = tmd->context,
            .task = tmd->task,
            .depth = tmd->depth,
            .wave = tmd->wave,
            .vregs = tmd->vregs,
            .shared_bytes = tmd->shared_bytes,
            .local_bytes = tmd->local_bytes,
            .param_bytes = tmd->param_bytes,
            .ctas = slot->in_flight,
            .cta = { tmd->cta[0], tmd->cta[1], tmd->cta[2] },
            .grid = { tmd->grid[0], tmd->grid[1], tmd->grid[2] },
            .waiting = slot->save_waiting,
        };
    }
    pthread_mutex_unlock(&core->dist.lock);
    return busy;
}

uint64_t dist_run_ns(struct core *core, uint32_t index)
{
    pthread_mutex_lock(&core->dist.lock);
    uint64_t ns = slot_run_ns(core, &core->dist.slot[index]);
    pthread_mutex_unlock(&core->dist.lock);
    return ns;
}

uint64_t dist_still_ns(struct core *core, uint32_t index)
{
    const struct dist_slot *slot = &core->dist.slot[index];

    pthread_mutex_lock(&core->dist.lock);
    uint64_t ns = slot_run_ns(core, slot) - slot->stepped_ns;
    pthread_mutex_unlock(&core->dist.lock);
    return ns;
}

bool dist_runs(struct core *core, uint32_t context)
{
    bool runs = false;

    pthread_mutex_lock(&core->dist.lock);
    for (uint32_t i = 0; i < core->config.slots; i++) {
        const struct dist_slot *slot = &core->dist.slot[i];
        runs = runs || (slot->state != PPU_SLOT_FREE && slot->task.tmd.context == context);
    }
    pthread_mutex_unlock(&core->dist.lock);
    return runs;
}

uint32_t dist_rank_of(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.slot[slot].rank, __ATOMIC_RELAXED);
}

const struct dist_task *dist_task_of(struct core *core, uint32_t slot)
{
    bool used = slot < core->config.slots && core->dist.slot[slot].state != PPU_SLOT_FREE;

    return used ? &core->dist.slot[slot].task : NULL;
}
