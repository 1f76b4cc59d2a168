/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Areas of address spaces, for CTAs that are taken off their SMs for others and have no place of their task's. An area
 * is cut into chunks; a CTA that is there has a chain of them. A CTA counts from its begin to its end with the chunks
 * it may need, and none begins that would be one too many: so each that runs can be taken off. An area holds what the
 * SMs hold, and an SM's worth more for each level of rank: CTAs that were taken off for a level leave it room to begin.
 */
#include "qemu-device/core/dist/switch_area.h"
#include "ppu/macros.h"
#include "ppu/regs.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/history.h"

#include <stdlib.h>

static struct switch_area *area_of(struct core *core, const struct dist_task *task)
{
    return &core->dist.area[task->tmd.context % PPU_MAX_CONTEXTS];
}

uint32_t switch_bytes(const struct core *core)
{
    const struct core_config *config = &core->config;
    uint32_t tokens = 0;

    (void)core_tokens_share(core, 0, &tokens);
    uint64_t sm_bytes = (uint64_t)config->sm_vregs * 4 + config->sm_shared + tokens +
                        (uint64_t)config->sm_warps * PPU_SAVE_WARP_BYTES +
                        (uint64_t)config->sm_ctas *
                            (sizeof(struct ppu_save) + PPU_SAVE_CTA_BYTES + 2 * PPU_SAVE_ALIGN + PPU_SWITCH_CHUNK);
    uint64_t bytes = ppu_align_up64((config->sms + PPU_SLOT_LEVELS) * sm_bytes, PPU_SWITCH_ALIGN);
    return bytes <= UINT32_MAX ? (uint32_t)bytes : UINT32_MAX & ~(PPU_SWITCH_ALIGN - 1);
}

void switch_close(struct core *core, uint32_t context)
{
    free(core->dist.area[context].next);
    core->dist.area[context] = (struct switch_area){ .place = 0 };
}

bool switch_open(struct core *core, uint32_t context, uint32_t place)
{
    struct switch_area *area = &core->dist.area[context];
    uint32_t bytes = switch_bytes(core);

    switch_close(core, context);
    if (place == 0) {
        return true;
    }
    if (place % PPU_SWITCH_ALIGN != 0 || !core_vram_has(core, place, bytes)) {
        return false;
    }
    area->chunks = bytes / PPU_SWITCH_CHUNK;
    area->next = malloc(area->chunks * sizeof(area->next[0]));
    if (!area->next) {
        area->chunks = 0;
        return false;
    }
    area->place = place;
    for (uint32_t i = 0; i < area->chunks; i++) {
        area->next[i] = i + 1; /* of the last: there is none */
    }
    return true;
}

bool switch_has(struct core *core, const struct dist_task *task)
{
    return task->tmd.save_count == 0 && area_of(core, task)->chunks != 0;
}

/* The chunks that CTAs of a level and those below it may hold: what the SMs hold, and an SM's worth for each level. */
static uint32_t chunks_of_level(const struct core *core, const struct switch_area *area, uint32_t level)
{
    const uint32_t parts = core->config.sms + PPU_SLOT_LEVELS;

    return (uint32_t)((uint64_t)area->chunks * (parts - PPU_SLOT_LEVELS + level) / parts);
}

bool switch_room(struct core *core, const struct dist_task *task, bool wide, uint32_t rank)
{
    const struct switch_area *area = area_of(core, task);
    const uint32_t level = PPU_MIN(rank & PPU_SLOT_LEVEL_MASK, PPU_SLOT_LEVELS);

    return !switch_has(core, task) || area->held + task->cta_chunks[wide] <= chunks_of_level(core, area, level);
}

bool switch_hold(struct core *core, const struct dist_task *task, bool wide, uint32_t rank)
{
    if (!switch_room(core, task, wide, rank)) {
        return false;
    }
    if (switch_has(core, task)) {
        area_of(core, task)->held += task->cta_chunks[wide];
    }
    return true;
}

void switch_let_go(struct core *core, const struct dist_task *task, bool wide)
{
    struct switch_area *area = area_of(core, task);

    if (switch_has(core, task) && area->held >= task->cta_chunks[wide]) {
        area->held -= task->cta_chunks[wide];
    }
}

uint32_t switch_take(struct core *core, const struct dist_task *task, bool wide)
{
    struct switch_area *area = area_of(core, task);
    uint32_t first = area->first, last = first;

    for (uint32_t n = 1; n < task->cta_chunks[wide] && last < area->chunks; n++) {
        last = area->next[last];
    }
    if (last >= area->chunks) {
        return SWITCH_NONE;
    }
    area->first = area->next[last];
    area->next[last] = SWITCH_NONE;
    return first;
}

bool switch_take_at(struct core *core, const struct dist_task *task, bool wide, const uint32_t *chunk)
{
    struct switch_area *area = area_of(core, task);

    for (uint32_t n = 0; n < task->cta_chunks[wide]; n++) {
        uint32_t *link = &area->first;

        while (*link < area->chunks && *link != chunk[n]) {
            link = &area->next[*link];
        }
        if (*link >= area->chunks) {
            return false; /* it is taken already, or there is none */
        }
        *link = area->next[chunk[n]];
        area->next[chunk[n]] = n + 1 < task->cta_chunks[wide] ? chunk[n + 1] : SWITCH_NONE;
    }
    return true;
}

void switch_give(struct core *core, const struct dist_task *task, uint32_t first)
{
    struct switch_area *area = area_of(core, task);
    uint32_t last = first;

    while (area->next[last] != SWITCH_NONE) {
        last = area->next[last];
    }
    area->next[last] = area->first;
    area->first = first;
}

uint32_t switch_next(struct core *core, const struct dist_task *task, uint32_t chunk)
{
    const struct switch_area *area = area_of(core, task);

    return chunk < area->chunks ? area->next[chunk] : SWITCH_NONE;
}

uint8_t *switch_chunk(struct core *core, const struct dist_task *task, uint32_t chunk)
{
    return core->vram + area_of(core, task)->place + (uint64_t)chunk * PPU_SWITCH_CHUNK;
}

bool dist_area(struct core *core, uint32_t context, uint32_t place)
{
    history_outside(core);
    pthread_mutex_lock(&core->dist.lock);
    bool opened = switch_open(core, context, place);
    pthread_mutex_unlock(&core->dist.lock);
    return opened;
}
