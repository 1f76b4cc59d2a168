/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/slot_snapshot.h"
#include "ppu/fault.h"
#include "ppu/regs.h"
#include "ppu/save.h"
#include "ppu/tmd.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/claim.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_group.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/local_memory.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/run_time.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/slot_life.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/snapshot.h"

#include <stdlib.h>

static void switched_save(struct core *core, const struct dist_slot *slot, struct snap *snap)
{
    snap_put_u32(snap, slot->rank);
    snap_put_u32(snap, (core->dist.claiming & bit(slot->task.slot)) != 0);
    snap_put_u32(snap, (core->dist.preempting & bit(slot->task.slot)) != 0);
    snap_put_u32(snap, dist_leaving(core, slot->task.slot));
    snap_put_u32(snap, slot->switched);
    for (uint32_t i = 0; i < slot->switched; i++) {
        const struct dist_switched *cta = &slot->switched_cta[i];

        snap_put_u64(snap, cta->number);
        snap_put_u32(snap, cta->local_backing);
        snap_put_u32(snap, cta->wide);
        for (uint32_t chunk = cta->chunk; chunk != SWITCH_NONE;) {
            snap_put_u32(snap, chunk);
            chunk = switch_next(core, &slot->task, chunk);
        }
    }
}

/* Says whether a CTA is wide, of a task that has such. */
static bool wide_get(const struct dist_slot *slot, struct snap *snap)
{
    const bool wide = snap_get_flag(snap);

    if (!snap->bad && !dist_task_has(&slot->task, wide)) {
        snap_refuse(snap, "a CTA is %s, of a task that has none such", wide ? "wide" : "narrow");
    }
    return wide;
}

/* A CTA that was taken off its SM, with chunks that nobody else has. */
static bool switched_cta_load(struct core *core, struct dist_slot *slot, uint32_t *chunk, struct snap *snap)
{
    struct dist_switched cta = { .number = snap_get_u64(snap), .local_backing = snap_get_u32(snap) };

    cta.wide = wide_get(slot, snap);
    for (uint32_t i = 0; i < slot->task.cta_chunks[cta.wide]; i++) {
        chunk[i] = snap_get_u32(snap);
    }
    if (snap->bad || cta.number >= slot->next) {
        return snap_refuse(snap, "CTA %llu that was taken off an SM has not begun", (unsigned long long)cta.number);
    }
    if (!switch_hold(core, &slot->task, cta.wide, PPU_SLOT_LEVELS) ||
        !switch_take_at(core, &slot->task, cta.wide, chunk)) {
        return snap_refuse(snap, "CTA %llu cannot have its chunks", (unsigned long long)cta.number);
    }
    cta.chunk = chunk[0];
    slot->switched_cta[slot->switched++] = cta;
    return true;
}

static bool switched_ctas_load(struct core *core, struct dist_slot *slot, uint32_t count, struct snap *snap)
{
    uint32_t *chunk = calloc(slot->task.cta_chunks[1], sizeof(*chunk)); /* of a wide one: no other has more */
    bool good = chunk;

    slot->switched_cta = calloc(count, sizeof(slot->switched_cta[0]));
    slot->switched_room = slot->switched_cta ? count : 0;
    if (!good || !slot->switched_cta) {
        free(chunk);
        return snap_refuse(snap, "there is no memory for %u CTAs", count);
    }
    for (uint32_t i = 0; i < count && good; i++) {
        good = switched_cta_load(core, slot, chunk, snap);
    }
    free(chunk);
    return good;
}

static bool switched_load(struct core *core, struct dist_slot *slot, struct snap *snap)
{
    const struct switch_area *area = &core->dist.area[slot->task.tmd.context];

    slot->rank = (uint8_t)snap_get_u32(snap);
    bool claims = snap_get_flag(snap);
    bool preempts = snap_get_flag(snap);
    bool leaves = snap_get_flag(snap);
    uint32_t count = snap_get_u32(snap);
    if (snap->bad || (count != 0 && !switch_has(core, &slot->task)) || count > area->chunks ||
        ((claims || preempts) && slot->state != PPU_SLOT_RUNNING) ||
        (leaves && (!(slot->task.tmd.flags & PPU_TMD_CORESIDENT) || slot->was_planned || slot->in_flight == 0))) {
        return snap_refuse(snap, "%u CTAs in an area of %u chunks, or a claim or leave that cannot be", count,
                           area->chunks);
    }
    if (leaves) {
        mask_set(&core->dist.leaving, bit(slot->task.slot));
    }
    if (claims) {
        mask_set(&core->dist.claiming, bit(slot->task.slot));
    }
    if (preempts) {
        mask_set(&core->dist.preempting, bit(slot->task.slot));
    }
    return count == 0 || switched_ctas_load(core, slot, count, snap);
}

void slot_save(struct core *core, const struct dist_slot *slot, bool saving, struct snap *snap)
{
    snap_put_u32(snap, slot->state);
    snap_put_u64(snap, slot_run_ns(core, slot));
    snap_put_u64(snap, slot->stepped_ns);
    if (slot->state == PPU_SLOT_FREE) {
        return;
    }
    snap_put_u32(snap, slot->task.tmd_off);
    snap_put_bytes(snap, &slot->task.tmd, sizeof(slot->task.tmd));
    snap_put_u64(snap, slot->next);
    snap_put_u64(snap, slot->ctas_done);
    snap_put_bytes(snap, slot->count, sizeof(slot->count));
    snap_put_u32(snap, slot->in_flight);
    snap_put_u32(snap, slot->starved);
    snap_put_u32(snap, slot->told);
    snap_put_u32(snap, saving);
    snap_put_u32(snap, place_is_planned(core, slot));
    snap_put_u64(snap, slot->save_used);
    snap_put_u64(snap, slot->save_ready);
    snap_put_u64(snap, slot->save_waiting);
    snap_put_u64(snap, slot->save_told);
    for (uint32_t i = 0; i < slot->task.tmd.save_count; i++) {
        snap_put_u64(snap, slot->save[i].number);
        snap_put_u32(snap, slot->save[i].local_backing);
        snap_put_u32(snap, slot->save[i].wide);
    }
    for (uint32_t i = 0; i < local_words(core); i++) {
        snap_put_u64(snap, slot->local_used[i]);
    }
    switched_save(core, slot, snap);
}

/* A state that a slot can be in between two events. */
static bool slot_usable(struct core *core, struct dist_slot *slot, bool saving, struct snap *snap)
{
    const bool gang = slot->task.tmd.flags & PPU_TMD_CORESIDENT;

    if (slot->next > slot->total || slot->ctas_done > slot->next) {
        return snap_refuse(snap, "%llu CTAs have begun and %llu ended, of %llu", (unsigned long long)slot->next,
                           (unsigned long long)slot->ctas_done, (unsigned long long)slot->total);
    }
    if (slot->stepped_ns > slot->run_ns) {
        return snap_refuse(snap, "its last step was at %llu ns of the %llu it has run",
                           (unsigned long long)slot->stepped_ns, (unsigned long long)slot->run_ns);
    }
    if (saving && (slot->state != PPU_SLOT_STOPPING || slot->task.tmd.save_count == 0)) {
        return snap_refuse(snap, "CTAs are being saved, and it is not stopping or has no save area");
    }
    if (slot->was_planned && (!gang || slot->state == PPU_SLOT_KILLING)) {
        return snap_refuse(snap, "room is planned for a grid that is not co-resident, or is being killed");
    }
    if (slot->told != (slot->save_waiting != 0 && !cta_groups_exist(&slot->task.tmd))) {
        return snap_refuse(snap, "CTAs wait and nobody was told, or the other way round");
    }
    if (slot->in_flight == 0 && slot->switched == 0 &&
        (slot->state != PPU_SLOT_RUNNING || (!slot_can_go_on(core, slot) && !slot_lingers(core, slot)))) {
        return snap_refuse(snap, "it is busy, and no CTA runs or can go on");
    }
    return true;
}

/* The sets of places fit each other, and every saved CTA can be one of the task's. */
static bool saves_usable(const struct dist_slot *slot, struct snap *snap)
{
    uint64_t saved = slot->save_ready | slot->save_waiting;

    if (slot->save_used & ~save_places(slot)) {
        return snap_refuse(snap, "places 0x%llx of the save area are in use, of %u",
                           (unsigned long long)slot->save_used, slot->task.tmd.save_count);
    }
    if ((saved & ~slot->save_used) || (slot->save_ready & slot->save_waiting) ||
        (slot->save_told & ~slot->save_waiting)) {
        return snap_refuse(snap, "sets of places contradict each other");
    }
    for (; saved != 0; saved &= saved - 1) {
        const uint32_t n = (uint32_t)__builtin_ctzll(saved);

        if (slot->save[n].number >= slot->next) {
            return snap_refuse(snap, "CTA %llu in place %u of the save area has not begun",
                               (unsigned long long)slot->save[n].number, n);
        }
        if (!dist_task_has(&slot->task, slot->save[n].wide)) {
            return snap_refuse(snap, "the CTA in place %u of the save area is %s, and its task has none such", n,
                               slot->save[n].wide ? "wide" : "narrow");
        }
    }
    return true;
}

static bool task_usable(struct core *core, struct dist_slot *slot, struct snap *snap)
{
    uint16_t code = dist_task_copy_check(core, slot->task.tmd_off);

    code = code != PPU_FAULT_NONE ? code : dist_task_decode(core, &slot->task, &slot->total);
    if (code != PPU_FAULT_NONE) {
        return snap_refuse(snap, "its task at 0x%x cannot run: fault 0x%x", slot->task.tmd_off, code);
    }
    return true;
}

static void slot_get(const struct core *core, struct dist_slot *slot, bool *saving, struct snap *snap)
{
    slot->task.tmd_off = snap_get_u32(snap);
    snap_get_bytes(snap, &slot->task.tmd, sizeof(slot->task.tmd));
    slot->next = snap_get_u64(snap);
    slot->ctas_done = snap_get_u64(snap);
    snap_get_bytes(snap, slot->count, sizeof(slot->count));
    slot->in_flight = snap_get_u32(snap);
    slot->starved = snap_get_flag(snap);
    slot->told = snap_get_flag(snap);
    *saving = snap_get_flag(snap);
    slot->was_planned = snap_get_flag(snap);
    slot->save_used = snap_get_u64(snap);
    slot->save_ready = snap_get_u64(snap);
    slot->save_waiting = snap_get_u64(snap);
    slot->save_told = snap_get_u64(snap);
    for (uint32_t i = 0; i < slot->task.tmd.save_count && i < PPU_SAVE_PLACES; i++) {
        slot->save[i].number = snap_get_u64(snap);
        slot->save[i].local_backing = snap_get_u32(snap);
        slot->save[i].wide = snap_get_flag(snap);
    }
    for (uint32_t i = 0; i < local_words(core); i++) {
        slot->local_used[i] = snap_get_u64(snap);
    }
}

bool slot_load(struct core *core, struct dist_slot *slot, struct snap *snap)
{
    uint32_t state = snap_get_u32(snap);
    bool saving = false;

    slot->run_ns = snap_get_u64(snap);
    slot->stepped_ns = snap_get_u64(snap);
    slot->run_since_ns = core_now(core);
    if (state == PPU_SLOT_FREE) {
        return !snap->bad;
    }
    if (state > PPU_SLOT_KILLING) {
        return snap_refuse(snap, "no state %u", state);
    }
    slot_get(core, slot, &saving, snap);
    if (snap->bad || !task_usable(core, slot, snap)) {
        return false;
    }
    slot->task.start = ++core->dist.starts;
    slot->state = (enum ppu_slot_state)state;
    if (saving) {
        mask_set(&core->dist.saving, bit(slot->task.slot));
    }
    if (state == PPU_SLOT_KILLING) {
        mask_set(&core->dist.killing, bit(slot->task.slot));
    }
    return saves_usable(slot, snap) && switched_load(core, slot, snap) && slot_usable(core, slot, saving, snap);
}
