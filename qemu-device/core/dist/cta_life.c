/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/cta_life.h"
#include "ppu/counter.h"
#include "ppu/fault.h"
#include "ppu/regs.h"
#include "ppu/ring.h"
#include "ppu/trace.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/claim.h"
#include "qemu-device/core/dist/counts.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_group.h"
#include "qemu-device/core/dist/cta_trace.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/ends.h"
#include "qemu-device/core/dist/local_memory.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/run_time.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/slot_life.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/memory/ring.h"

#include <string.h>

/* A CTA is on its SM no more. The slot that it was of; NULL: no CTA of that slot is on an SM. */
static struct dist_slot *take_off_sm(struct core *core, uint32_t sm, const struct dist_cta *cta,
                                     const uint64_t count[PPU_COUNTERS])
{
    struct dist_slot *slot = &core->dist.slot[cta->task->slot];

    if (slot->in_flight == 0) {
        return NULL;
    }
    slot_run_ctas(core, slot, slot->in_flight - 1);
    core->dist.present[sm][slot->task.tmd.context]--;
    counts_add(slot->count, count, core->config.cache_model);
    return slot;
}

static void give_back_cta(struct core *core, uint32_t sm, const struct dist_cta *cta, bool ended,
                          const uint64_t count[PPU_COUNTERS])
{
    struct dist_slot *slot = take_off_sm(core, sm, cta, count);

    if (!slot) {
        return;
    }
    switch_let_go(core, &slot->task, cta->wide);
    if (!cta->left) {
        place_give(core, slot, cta->wide, sm);
    }
    core->dist.stirred = core->dist.stirred || slot->starved;
    slot->ctas_done += ended;
    slot_run_step(core, slot);
    slot->starved = false;
    local_give(slot, cta->local_backing);
    save_give(slot, cta->save);
    if (!ended) {
        slot_kill(core, slot); /* a task that lost a CTA can only end as killed */
    }
    slot_settle(core, slot);
}

static void ctas_end(struct core *core, uint32_t sm, const struct dist_cta *cta, bool ended,
                     const uint64_t (*count)[PPU_COUNTERS], uint32_t ctas)
{
    cta_trace(core, PPU_TRACE_CTA_END, sm, cta, ctas);
    pthread_mutex_lock(&core->dist.lock);
    for (uint32_t i = 0; i < ctas; i++) {
        give_back_cta(core, sm, &cta[i], ended, count[i]);
    }
    bool wake = dist_take_stirred(&core->dist);
    pthread_mutex_unlock(&core->dist.lock);
    if (wake) {
        sm_offer(core);
    }
}

void dist_done(struct core *core, uint32_t sm, struct dist_ends *ends)
{
    ctas_end(core, sm, ends->cta, true, (const uint64_t(*)[PPU_COUNTERS])ends->count, ends->held);
    ends->held = 0;
}

void dist_killed(struct core *core, uint32_t sm, const struct dist_cta *cta, const uint64_t count[PPU_COUNTERS])
{
    ctas_end(core, sm, cta, false, (const uint64_t(*)[PPU_COUNTERS])count, 1);
}

/* Its chunks and a place in the list were taken before. A slot being killed needs neither. */
static void put_into_area(struct core *core, struct dist_slot *slot, const struct dist_cta *cta)
{
    slot->switched_cta[slot->switched++] =
        (struct dist_switched){ cta->number, cta->local_backing, cta->chunk, cta->wide };
    bool together = dist_leaving(core, slot->task.slot);

    if (together && slot->in_flight == 0) {
        mask_clear(&core->dist.leaving, bit(slot->task.slot));
    }
    if (slot->state != PPU_SLOT_KILLING && (!together || slot->in_flight == 0)) {
        place_offer(core, slot);
        core->dist.stirred = true;
    }
    slot_settle(core, slot);
}

/* A CTA that has left for another slot's, or whose children ended while it left, goes on. */
static void offer_again(struct core *core, struct dist_slot *slot)
{
    if (slot->state == PPU_SLOT_RUNNING) {
        place_offer(core, slot);
    }
}

/* The slot goes on, is freed, or tells that somebody waits. */
static void put_aside(struct core *core, uint32_t sm, const struct dist_cta *cta, bool waits,
                      const uint64_t count[PPU_COUNTERS])
{
    struct dist_slot *slot = take_off_sm(core, sm, cta, count);

    if (!slot) {
        return;
    }
    place_give(core, slot, cta->wide, sm);
    if (cta->save == DIST_NO_SAVE) {
        put_into_area(core, slot, cta);
        return;
    }
    slot->save[cta->save] = (struct dist_saved_cta){ cta->number, cta->local_backing, cta->wide };
    if (!waits || (cta_groups_exist(&slot->task.tmd) && cta_groups_idle(core, &slot->task, bit(cta->save)) != 0)) {
        slot->save_ready |= bit(cta->save);
        offer_again(core, slot);
    } else {
        slot->save_waiting |= bit(cta->save);
    }
    slot_settle(core, slot);
    slot_tell(core, slot);
    core->dist.stirred = core->dist.stirred || (slot->state == PPU_SLOT_RUNNING && slot_can_go_on(core, slot));
}

void dist_saved(struct core *core, uint32_t sm, const struct dist_cta *cta, bool waits,
                const uint64_t count[PPU_COUNTERS])
{
    (void)history_effect(core);
    cta_trace(core, PPU_TRACE_CTA_SAVE, sm, cta, 1);
    pthread_mutex_lock(&core->dist.lock);
    put_aside(core, sm, cta, waits, count);
    bool wake = dist_take_stirred(&core->dist);
    pthread_mutex_unlock(&core->dist.lock);
    if (wake) {
        sm_offer(core);
    }
}

bool dist_killing(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.killing, __ATOMIC_SEQ_CST) & bit(slot);
}

static void fill_fault(struct ppu_fault_event *event, uint32_t sm, const struct dist_cta *cta)
{
    event->sm = (uint8_t)sm;
    event->slot = cta->task->slot;
    event->task = cta->task->tmd_off;
    event->context = cta->task->tmd.context;
    event->correlation = cta->task->tmd.correlation;
    memcpy(event->cta, cta->id, sizeof(event->cta));
}

bool dist_fault(struct core *core, uint32_t sm, const struct dist_cta *cta, struct ppu_fault_event *event)
{
    struct dist_slot *slot = &core->dist.slot[cta->task->slot];
    bool taken = true;

    fill_fault(event, sm, cta);
    pthread_mutex_lock(&core->dist.lock);
    bool first = slot->state != PPU_SLOT_KILLING;
    if (first) {
        taken = ring_push(core, PPU_RING_FAULT, event);
    }
    if (first && taken) {
        slot_kill(core, slot);
    }
    pthread_mutex_unlock(&core->dist.lock);
    /* The slot stays in use meanwhile: the CTA that faulted has not been given back. */
    if (first && taken) {
        sm_kill(core, cta->task->slot);
    }
    return taken;
}
