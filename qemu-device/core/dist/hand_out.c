/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/hand_out.h"
#include "ppu/limits.h"
#include "ppu/regs.h"
#include "ppu/tmd.h"
#include "ppu/trace.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_group.h"
#include "qemu-device/core/dist/cta_trace.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/ends.h"
#include "qemu-device/core/dist/local_memory.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/run_time.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/switched.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/trace.h"

/* The next CTA of the grid. */
static bool take_new(struct core *core, struct dist_slot *slot, bool wide, struct dist_cta *out)
{
    if (slot->next == slot->total) {
        return false;
    }
    if (!save_exists(slot) || !local_exists(core, slot) || !switch_hold(core, &slot->task, wide, slot->rank)) {
        slot->starved = true;
        return false;
    }
    *out = (struct dist_cta){
        .task = &slot->task,
        .number = slot->next++,
        .local_backing = local_take(core, slot),
        .save = save_take(slot),
        .chunk = SWITCH_NONE,
        .wide = wide,
    };
    if (cta_groups_exist(&slot->task.tmd)) {
        cta_group_begin(core, out);
    }
    slot_run_step(core, slot);
    return true;
}

/* A CTA that was saved and goes on; it keeps its place. */
static void take_saved(struct dist_slot *slot, struct dist_cta *out)
{
    uint32_t n = (uint32_t)__builtin_ctzll(slot->save_ready);

    slot->save_ready &= ~bit(n);
    *out = (struct dist_cta){
        .task = &slot->task,
        .number = slot->save[n].number,
        .local_backing = slot->save[n].local_backing,
        .save = n,
        .chunk = SWITCH_NONE,
        .wide = slot->save[n].wide,
        .saved = true,
    };
}

/* Takes what is to go on before what is to begin; of a slot that stops, and is no gang, nothing begins. */
static bool take_next(struct core *core, struct dist_slot *slot, bool wide, struct dist_cta *out)
{
    if (slot->save_ready != 0) {
        take_saved(slot, out);
        return true;
    }
    if (slot->switched != 0) {
        switched_take(slot, out);
        return true;
    }
    return take_new(core, slot, wide, out);
}

/* As take_next() takes it. */
bool dist_next_is_wide(struct core *core, const struct dist_slot *slot, uint32_t sm)
{
    if (slot->save_ready != 0) {
        return slot->save[__builtin_ctzll(slot->save_ready)].wide;
    }
    if (slot->switched != 0) {
        return slot->switched_cta[0].wide;
    }
    return slot->task.width == DIST_EITHER ? sm_wants_wide(core, sm, &slot->task) : slot->task.width == DIST_WIDE;
}

/* A slot that stops, and is no gang, only goes on with what it had begun. */
static bool slot_has_more(const struct dist_slot *slot)
{
    bool begins = slot->state == PPU_SLOT_RUNNING || (slot->task.tmd.flags & PPU_TMD_CORESIDENT);

    return slot->save_ready != 0 || slot->switched != 0 || (begins && slot->next < slot->total);
}

static bool slot_hand_out(struct core *core, struct dist_slot *slot, uint32_t sm, const struct dist_room *room,
                          struct dist_cta *out)
{
    const bool wide = dist_next_is_wide(core, slot, sm);

    if (!place_fits(&slot->task, wide, room) || !place_allows(core, slot, wide, sm)) {
        return false;
    }
    if (!take_next(core, slot, wide, out)) {
        return false;
    }
    dist_cta_id(&slot->task.tmd, out->number, out->id);
    slot_run_ctas(core, slot, slot->in_flight + 1);
    core->dist.present[sm][slot->task.tmd.context]++;
    place_take(core, slot, wide, sm);
    if (!slot_has_more(slot)) {
        mask_clear(&core->dist.offering, bit(slot->task.slot));
    }
    return true;
}

/* The first of two slots goes before the second: by rank, then by what its address space has on the SM already. */
static bool goes_before(const struct dist *dist, uint32_t sm, uint32_t first, uint32_t second)
{
    const struct dist_slot *a = &dist->slot[first], *b = &dist->slot[second];

    return a->rank != b->rank ? a->rank > b->rank
                              : dist->present[sm][a->task.tmd.context] < dist->present[sm][b->task.tmd.context];
}

/* The slot to be asked next; among equals from `later` on. */
static uint32_t best_offer(const struct dist *dist, uint32_t sm, uint64_t offers, uint64_t later)
{
    uint32_t best = (uint32_t)__builtin_ctzll(later != 0 ? later : offers);

    for (uint64_t left = later != 0 ? later & (later - 1) : offers & (offers - 1); left != 0; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        best = goes_before(dist, sm, index, best) ? index : best;
    }
    for (uint64_t left = later != 0 ? offers & ~later : 0; left != 0; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        best = goes_before(dist, sm, index, best) ? index : best;
    }
    return best;
}

/* Offers of equals go round among the slots, for each SM on its own, so that tasks run beside each other (A8). */
static bool hand_out(struct core *core, uint32_t sm, const struct dist_room *room, struct dist_cta *out)
{
    struct dist *dist = &core->dist;
    uint64_t offers = dist->offering;
    uint64_t later = offers & ~(bit(dist->cursor[sm]) - 1);

    while (offers != 0) {
        uint32_t index = best_offer(dist, sm, offers, later);

        if (slot_hand_out(core, &dist->slot[index], sm, room, out)) {
            dist->cursor[sm] = (uint8_t)((index + 1) % PPU_MAX_SLOTS);
            return true;
        }
        offers &= ~bit(index);
        later &= ~bit(index);
    }
    return false;
}

/* The last ones are those that have ended since. */
static void leave_ctas(struct core *core, uint32_t sm, struct dist_ends *ends)
{
    for (uint32_t i = ends->held; i != 0 && !ends->cta[i - 1].left; i--) {
        struct dist_cta *const cta = &ends->cta[i - 1];
        const struct dist_slot *slot = &core->dist.slot[cta->task->slot];
        cta->left = slot->in_flight != 0;
        if (cta->left) {
            place_give(core, slot, cta->wide, sm);
        }
    }
}

static void room_shrink(struct dist_room *room, const struct dist_task *task, bool wide)
{
    room->passes -= task->cta_passes;
    room->ctas--;
    room->vregs -= task->cta_vregs[wide];
    room->shared_bytes -= task->tmd.shared_bytes;
    room->token_bytes -= task->cta_tokens;
}

/* After a CTA that begins, more of its task that do, while no other task offers any. Returns how many there are. */
static uint32_t hand_out_more(struct core *core, uint32_t sm, const struct dist_room *room, uint32_t most,
                              struct dist_cta *out)
{
    struct dist_slot *const slot = &core->dist.slot[out[0].task->slot];
    struct dist_room left = *room;
    uint32_t count = 1;

    while (count < most && !out[0].saved && slot->save_ready == 0 && slot->switched == 0 &&
           core->dist.offering == bit(slot->task.slot)) {
        room_shrink(&left, &slot->task, out[count - 1].wide);
        if (!slot_hand_out(core, slot, sm, &left, &out[count])) {
            break;
        }
        count++;
    }
    return count;
}

uint32_t dist_take(struct core *core, uint32_t sm, const struct dist_room *room, struct dist_ends *ends, uint32_t most,
                   struct dist_cta *out)
{
    if (__atomic_load_n(&core->dist.offering, __ATOMIC_SEQ_CST) == 0) {
        return 0;
    }
    pthread_mutex_lock(&core->dist.lock);
    leave_ctas(core, sm, ends);
    uint32_t count = hand_out(core, sm, room, out) ? 1 : 0;
    if (count != 0) {
        count = hand_out_more(core, sm, room, most, out);
    }
    bool wake = dist_take_stirred(&core->dist);
    pthread_mutex_unlock(&core->dist.lock);
    if (wake) {
        sm_offer(core);
    }
    if (count != 0) {
        if (out->number == 0 && !out->saved) {
            trace_mark(core, PPU_MARK_CTA_DISTRIBUTED, sm);
        }
        cta_trace(core, out->saved ? PPU_TRACE_CTA_RESTORE : PPU_TRACE_CTA_START, sm, out, count);
    }
    return count;
}
