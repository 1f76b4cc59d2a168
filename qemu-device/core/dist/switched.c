/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/dist/switched.h"
#include "ppu/macros.h"
#include "ppu/save.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/guest_mem.h"

#include <stdlib.h>
#include <string.h>

void switched_drop(struct core *core, struct dist_slot *slot)
{
    for (; slot->switched != 0; slot->switched--) {
        switch_give(core, &slot->task, slot->switched_cta[slot->switched - 1].chunk);
        switch_let_go(core, &slot->task, slot->switched_cta[slot->switched - 1].wide);
    }
}

void switched_take(struct dist_slot *slot, struct dist_cta *out)
{
    const struct dist_switched first = slot->switched_cta[0];

    slot->switched--;
    memmove(slot->switched_cta, slot->switched_cta + 1, slot->switched * sizeof(slot->switched_cta[0]));
    *out = (struct dist_cta){
        .task = &slot->task,
        .number = first.number,
        .local_backing = first.local_backing,
        .save = DIST_NO_SAVE,
        .chunk = first.chunk,
        .wide = first.wide,
        .saved = true,
    };
}

/* Room in the list for every CTA of the slot that is on an SM: one that leaves has its place. */
static bool list_grow(struct dist_slot *slot)
{
    uint32_t need = slot->switched + slot->in_flight;
    struct dist_switched *list;

    if (need <= slot->switched_room) {
        return true;
    }
    list = realloc(slot->switched_cta, need * sizeof(*list));
    if (!list) {
        return false;
    }
    slot->switched_cta = list;
    slot->switched_room = need;
    return true;
}

bool dist_switch_take(struct core *core, struct dist_cta *cta)
{
    struct dist_slot *slot = &core->dist.slot[cta->task->slot];

    pthread_mutex_lock(&core->dist.lock);
    cta->chunk = switch_has(core, cta->task) && list_grow(slot) ? switch_take(core, cta->task, cta->wide) : SWITCH_NONE;
    pthread_mutex_unlock(&core->dist.lock);
    return cta->chunk != SWITCH_NONE;
}

void dist_switch_give(struct core *core, struct dist_cta *cta)
{
    pthread_mutex_lock(&core->dist.lock);
    switch_give(core, cta->task, cta->chunk);
    cta->chunk = SWITCH_NONE;
    pthread_mutex_unlock(&core->dist.lock);
}

void dist_switch_write(struct core *core, const struct dist_cta *cta, const uint8_t *bytes, uint32_t len)
{
    for (uint32_t chunk = cta->chunk; len != 0; chunk = switch_next(core, cta->task, chunk)) {
        uint32_t piece = PPU_MIN(len, PPU_SWITCH_CHUNK);

        vram_copy(switch_chunk(core, cta->task, chunk), bytes, piece);
        bytes += piece;
        len -= piece;
    }
}

void dist_switch_read(struct core *core, const struct dist_cta *cta, uint8_t *bytes, uint32_t len)
{
    for (uint32_t chunk = cta->chunk; len != 0; chunk = switch_next(core, cta->task, chunk)) {
        uint32_t piece = PPU_MIN(len, PPU_SWITCH_CHUNK);

        vram_copy(bytes, switch_chunk(core, cta->task, chunk), piece);
        bytes += piece;
        len -= piece;
    }
}
