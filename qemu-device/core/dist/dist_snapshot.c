/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/dist_snapshot.h"
#include "ppu/limits.h"
#include "ppu/regs.h"
#include "ppu/tmd.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/census.h"
#include "qemu-device/core/dist/claim.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/flush.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/slot_snapshot.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/snapshot.h"

/* Their places are values of registers. */
static bool areas_load(struct core *core, struct snap *snap)
{
    for (uint32_t i = 0; i < core->config.contexts; i++) {
        uint32_t place = reg_get(core, PPU_REG_CTX_SAVE + 4 * i);

        if (!switch_open(core, i, place)) {
            return snap_refuse(snap, "address space %u cannot have its area at 0x%x", i, place);
        }
    }
    return true;
}

void dist_save(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;

    for (uint32_t i = 0; i < core->config.slots; i++) {
        slot_save(core, &dist->slot[i], dist_saving(core, i), snap);
    }
    snap_put_bytes(snap, dist->cursor, core->config.sms * sizeof(dist->cursor[0]));
    snap_put_u32(snap, dist->flush_count);
    for (uint32_t i = 0; i < dist->flush_count; i++) {
        const struct dist_flush *flush = &dist->flush[(dist->flush_head + i) % PPU_MAX_CONTEXTS];

        snap_put_u32(snap, flush->context);
        snap_put_u32(snap, flush->tag);
    }
}

/* CTAs that are to be handed out, now that it is known what the SMs have. */
static void slots_offer(struct core *core, bool planned)
{
    for (uint32_t i = 0; i < core->config.slots; i++) {
        struct dist_slot *slot = &core->dist.slot[i];
        bool goes_on = slot->state == PPU_SLOT_RUNNING ||
                       (slot->state == PPU_SLOT_STOPPING && (slot->was_planned || slot->switched != 0));
        bool more = slot->next < slot->total || slot->save_ready != 0 || slot->switched != 0;

        if (goes_on && slot->was_planned == planned && more && !dist_leaving(core, i)) {
            place_offer(core, slot);
        }
    }
}

static bool cursors_load(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;

    snap_get_bytes(snap, dist->cursor, core->config.sms * sizeof(dist->cursor[0]));
    for (uint32_t sm = 0; sm < core->config.sms; sm++) {
        if (dist->cursor[sm] >= PPU_MAX_SLOTS) {
            return snap_refuse(snap, "SM %u begins with slot %u", sm, dist->cursor[sm]);
        }
    }
    return !snap->bad;
}

void dist_load(struct core *core, struct snap *snap)
{
    bool good = census_begin(core, snap) && areas_load(core, snap);

    for (uint32_t i = 0; i < core->config.slots && good; i++) {
        snap->unit[SNAP_SLOT] = i;
        good = slot_load(core, &core->dist.slot[i], snap);
    }
    snap->unit[SNAP_SLOT] = SNAP_NO_UNIT;
    if (good && cursors_load(core, snap)) {
        flush_load(core, snap);
    }
}

/* A co-resident grid of which CTAs run must find room for the others where it had some. */
void dist_check(struct core *core, struct snap *snap)
{
    struct dist *dist = &core->dist;

    if (!census_agrees(core, snap)) {
        return;
    }
    slots_offer(core, true); /* before others can take the room they had */
    for (uint32_t i = 0; i < core->config.slots; i++) {
        const struct dist_slot *slot = &dist->slot[i];
        const bool gang = slot->task.tmd.flags & PPU_TMD_CORESIDENT;
        const bool wants = slot->state == PPU_SLOT_RUNNING && slot->next < slot->total && slot->in_flight != 0 &&
                           !dist_leaving(core, i);

        if (slot->state != PPU_SLOT_FREE && gang &&
            ((dist->gangs & bit(i)) || (wants && !place_is_planned(core, slot)))) {
            snap->unit[SNAP_SLOT] = i;
            snap_refuse(snap, "the CTAs of its co-resident grid do not find room together");
            return;
        }
    }
}

void dist_loaded(struct core *core)
{
    struct dist *dist = &core->dist;

    census_end(core);
    slots_offer(core, false);
    for (uint32_t i = 0; i < core->config.slots; i++) {
        if (dist->slot[i].state == PPU_SLOT_KILLING || dist_saving(core, i) || dist_leaving(core, i)) {
            sm_kill(core, i);
        }
    }
    if (dist->flush_count != 0) {
        sm_flush(core, dist->flush[dist->flush_head].context);
    }
    sm_wake(core);
}
