/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/claim.h"
#include "ppu/regs.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/hand_out.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/slot_life.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/history.h"

/* Slots that claim a place and have a CTA for it. */
static uint64_t claims(const struct dist *dist)
{
    return (__atomic_load_n(&dist->claiming, __ATOMIC_SEQ_CST) | __atomic_load_n(&dist->preempting, __ATOMIC_SEQ_CST)) &
           (__atomic_load_n(&dist->offering, __ATOMIC_SEQ_CST) | __atomic_load_n(&dist->gangs, __ATOMIC_SEQ_CST));
}

void dist_gang_leave(struct core *core, uint32_t index)
{
    struct dist_slot *slot = &core->dist.slot[index];

    pthread_mutex_lock(&core->dist.lock);
    bool leaves = (slot->state == PPU_SLOT_RUNNING || slot->state == PPU_SLOT_STOPPING) && slot->in_flight != 0 &&
                  !dist_leaving(core, index);
    if (leaves) {
        mask_set(&core->dist.leaving, bit(index));
        place_withdraw(core, slot);
    }
    pthread_mutex_unlock(&core->dist.lock);
    if (leaves) {
        sm_kill(core, index);
    }
}

bool dist_leaving(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.leaving, __ATOMIC_SEQ_CST) & bit(slot);
}

bool dist_claiming(struct core *core)
{
    return claims(&core->dist) != 0;
}

/* May it have CTAs of other address spaces taken off this SM? */
static bool claims_from_others(const struct dist *dist, const struct dist_slot *slot, uint32_t sm)
{
    return (dist->claiming & bit(slot->task.slot)) &&
           ((dist->gangs & bit(slot->task.slot)) || dist->present[sm][slot->task.tmd.context] == 0);
}

/* Room on an SM is all that it lacks. */
static bool has_cta(struct core *core, struct dist_slot *slot, bool wide)
{
    return slot->save_ready != 0 || slot->switched != 0 ||
           (slot_can_go_on(core, slot) && switch_room(core, &slot->task, wide, slot->rank));
}

bool dist_claim(struct core *core, uint32_t sm, uint64_t passed, struct dist_claim *claim)
{
    struct dist *dist = &core->dist;
    const struct dist_slot *best = NULL;

    pthread_mutex_lock(&dist->lock);
    for (uint64_t left = claims(dist) & ~passed; left != 0; left &= left - 1) {
        struct dist_slot *slot = &dist->slot[__builtin_ctzll(left)];

        if (!has_cta(core, slot, dist_next_is_wide(core, slot, sm))) {
            continue;
        }
        if (((dist->preempting & bit(slot->task.slot)) || claims_from_others(dist, slot, sm)) &&
            (!best || slot->rank > best->rank)) {
            best = slot;
        }
    }
    if (best) {
        *claim = (struct dist_claim){
            .task = best->task,
            .rank = best->rank,
            .wide = dist_next_is_wide(core, best, sm),
            .others = claims_from_others(dist, best, sm),
            .own = dist->preempting & bit(best->task.slot),
            .gang = dist->gangs & bit(best->task.slot),
        };
    }
    pthread_mutex_unlock(&dist->lock);
    return best;
}

void dist_rank(struct core *core, uint32_t index, uint32_t value)
{
    struct dist_slot *slot = &core->dist.slot[index];

    history_outside(core);
    pthread_mutex_lock(&core->dist.lock);
    __atomic_store_n(&slot->rank, (uint8_t)(value & PPU_SLOT_RANK_MASK), __ATOMIC_RELAXED);
    mask_clear(&core->dist.claiming, bit(index));
    mask_clear(&core->dist.preempting, bit(index));
    if ((value & PPU_SLOT_CLAIMS) && slot->state == PPU_SLOT_RUNNING) {
        mask_set(&core->dist.claiming, bit(index));
    }
    if ((value & PPU_SLOT_PREEMPTS) && slot->state == PPU_SLOT_RUNNING) {
        mask_set(&core->dist.preempting, bit(index));
    }
    bool attend = claims(&core->dist) & bit(index);
    pthread_mutex_unlock(&core->dist.lock);
    if (attend) {
        sm_kill(core, index);
    }
}
