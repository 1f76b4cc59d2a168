/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/cta_group.h"
#include "ppu/task.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"

static uint32_t group_at(const struct ppu_tmd *tmd, uint32_t place)
{
    return tmd->groups_vram + place * (uint32_t)sizeof(struct ppu_cta_group);
}

bool cta_groups_usable(const struct core *core, const struct ppu_tmd *tmd)
{
    const uint64_t bytes = (uint64_t)tmd->save_count * sizeof(struct ppu_cta_group);

    if (!cta_groups_exist(tmd)) {
        return tmd->groups_vram == 0;
    }
    return tmd->save_count != 0 && tmd->groups_vram % sizeof(struct ppu_cta_group) == 0 &&
           core_vram_has(core, tmd->groups_vram, bytes) && !core_protected_has(core, tmd->groups_vram, bytes);
}

/* The firmware reads the words the other way round (firmware/nest.c). */
void cta_group_begin(struct core *core, const struct dist_cta *cta)
{
    uint8_t *group = core->vram + group_at(&cta->task->tmd, cta->save);
    const uint32_t number = (uint32_t)cta->number;

    vram_store_release32(group + offsetof(struct ppu_cta_group, cta), number);
    vram_store_release32(group + offsetof(struct ppu_cta_group, work), PPU_CTA_WORK(number));
}

uint64_t cta_groups_idle(const struct core *core, const struct dist_task *task, uint64_t places)
{
    uint64_t idle = 0;

    for (; places != 0; places &= places - 1) {
        const uint32_t place = (uint32_t)__builtin_ctzll(places);
        const uint8_t *group = core->vram + group_at(&task->tmd, place);

        if (!(vram_load_acquire32(group + offsetof(struct ppu_cta_group, work)) & PPU_CTA_WORK_ANY)) {
            idle |= bit(place);
        }
    }
    return idle;
}
