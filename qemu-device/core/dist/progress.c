/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/progress.h"
#include "ppu/counter.h"
#include "ppu/tmd.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/save_area.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"

bool progress_read(struct core *core, struct dist_slot *slot)
{
    slot->next = slot->task.tmd.next_cta;
    slot->ctas_done = slot->task.tmd.ctas_done;
    if (slot->next != 0) {
        vram_copy((uint8_t *)slot->count, core->vram + slot->task.tmd_off + offsetof(struct ppu_tmd_copy, count),
                  sizeof(slot->count));
    }
    if (slot->next > slot->total || slot->ctas_done > slot->next) {
        return false;
    }
    for (uint32_t n = 0; n < slot->task.tmd.save_count; n++) {
        if (!save_state_read(core, slot, n)) {
            return false;
        }
    }
    /* Without places of its own a task that stopped has run to the end what it had begun. */
    return slot->next - slot->ctas_done == (uint32_t)__builtin_popcountll(slot->save_used);
}

void progress_write(struct core *core, const struct dist_slot *slot)
{
    const uint64_t progress[] = { slot->next, slot->ctas_done, slot->count[PPU_COUNTER_INSNS] };
    uint8_t *copy = core->vram + slot->task.tmd_off;

    _Static_assert(offsetof(struct ppu_tmd, warp_insns) == offsetof(struct ppu_tmd, next_cta) + 16, "three in a row");
    vram_copy(copy + offsetof(struct ppu_tmd_copy, tmd.next_cta), (const uint8_t *)progress, sizeof(progress));
    vram_copy(copy + offsetof(struct ppu_tmd_copy, count), (const uint8_t *)slot->count, sizeof(slot->count));
    save_states_write(core, slot);
}
