/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/save_area.h"
#include "ppu/save.h"
#include "qemu-device/core/config_limits.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/cta_group.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"

uint64_t save_places(const struct dist_slot *slot)
{
    return slot->task.tmd.save_count != 0 ? UINT64_MAX >> (PPU_SAVE_PLACES - slot->task.tmd.save_count) : 0;
}

/* Place number `n`, in VRAM. */
static uint32_t save_place(const struct dist_task *task, uint32_t n)
{
    return task->tmd.save_vram + n * task->tmd.save_bytes;
}

uint32_t dist_save_place(const struct dist_cta *cta)
{
    return save_place(cta->task, cta->save);
}

bool save_exists(const struct dist_slot *slot)
{
    return slot->task.tmd.save_count == 0 || (save_places(slot) & ~slot->save_used) != 0;
}

uint32_t save_take(struct dist_slot *slot)
{
    if (slot->task.tmd.save_count == 0) {
        return DIST_NO_SAVE;
    }
    uint32_t n = (uint32_t)__builtin_ctzll(save_places(slot) & ~slot->save_used);
    slot->save_used |= bit(n);
    return n;
}

void save_give(struct dist_slot *slot, uint32_t n)
{
    if (n < PPU_SAVE_PLACES) {
        slot->save_used &= ~bit(n);
    }
}

void save_states_write(struct core *core, const struct dist_slot *slot)
{
    for (uint32_t n = 0; n < slot->task.tmd.save_count; n++) {
        uint32_t state = slot->save_ready & bit(n) ? PPU_SAVE_READY : PPU_SAVE_FREE;

        state = slot->save_waiting & bit(n) ? PPU_SAVE_WAITING : state;
        vram_copy(core->vram + save_place(&slot->task, n) + offsetof(struct ppu_save, state), (uint8_t *)&state,
                  sizeof(state));
    }
}

/* It waited when the task lost its slot. */
static bool goes_on(const struct core *core, const struct dist_task *task, uint32_t n)
{
    return cta_groups_exist(&task->tmd) ? cta_groups_idle(core, task, bit(n)) != 0 : task->tmd.resume != 0;
}

bool save_state_read(struct core *core, struct dist_slot *slot, uint32_t n)
{
    struct ppu_save save;

    vram_copy((uint8_t *)&save, core->vram + save_place(&slot->task, n), sizeof(save));
    if (save.state == PPU_SAVE_FREE) {
        return true;
    }
    if (save.state > PPU_SAVE_READY || save.number >= slot->next || save.wide > 1 ||
        !dist_task_has(&slot->task, save.wide)) {
        return false;
    }
    if (slot->task.tmd.local_bytes != 0) {
        uint64_t *word = &slot->local_used[save.local_backing / 64 % (CORE_MAX_RESIDENT / 64)];

        if (save.local_backing >= dist_local_limit(core, &slot->task) || (*word & bit(save.local_backing % 64))) {
            return false;
        }
        *word |= bit(save.local_backing % 64);
    }
    slot->save[n] =
        (struct dist_saved_cta){ save.number, slot->task.tmd.local_bytes != 0 ? save.local_backing : 0, save.wide };
    slot->save_used |= bit(n);
    if (save.state == PPU_SAVE_READY || goes_on(core, &slot->task, n)) {
        slot->save_ready |= bit(n);
    } else {
        slot->save_waiting |= bit(n);
    }
    return true;
}

bool dist_saving(struct core *core, uint32_t slot)
{
    return __atomic_load_n(&core->dist.saving, __ATOMIC_SEQ_CST) & bit(slot);
}
