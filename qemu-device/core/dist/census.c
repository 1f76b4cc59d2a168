/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a snapshot says of a slot, held against the CTAs it names, on SMs and in places of the save area: each that has
 * begun is at one place, and each place and backing is in use by one CTA, or free.
 */
#include "qemu-device/core/dist/census.h"
#include "qemu-device/core/config_limits.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/local_memory.h"
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/switch_area.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/snapshot.h"

#include <stdlib.h>

struct census_cta {
    uint32_t slot;
    uint64_t number;
};

struct dist_census {
    uint32_t in_flight[PPU_MAX_SLOTS];
    uint64_t places[PPU_MAX_SLOTS]; /* that CTAs on SMs have */
    uint64_t backings[PPU_MAX_SLOTS][CORE_MAX_RESIDENT / 64];
    uint32_t room; /* of cta[] */
    uint32_t count;
    struct census_cta cta[];
};

bool census_begin(struct core *core, struct snap *snap)
{
    const uint32_t room = core->config.sms * core->config.sm_ctas + core->config.slots * PPU_SAVE_PLACES;

    census_end(core);
    core->dist.census = calloc(1, sizeof(*core->dist.census) + room * sizeof(core->dist.census->cta[0]));
    if (!core->dist.census) {
        return snap_refuse(snap, "there is no memory to check it");
    }
    core->dist.census->room = room;
    return true;
}

void census_end(struct core *core)
{
    free(core->dist.census);
    core->dist.census = NULL;
}

static bool add_number(struct dist_census *census, uint32_t slot, uint64_t number, struct snap *snap)
{
    if (census->count == census->room) {
        return snap_refuse(snap, "there are more CTAs than the machine holds");
    }
    census->cta[census->count++] = (struct census_cta){ slot, number };
    return true;
}

static bool add_backing(struct core *core, const struct dist_slot *slot, uint32_t n, struct snap *snap)
{
    if (slot->task.tmd.local_bytes == 0) {
        return n == 0 || snap_refuse(snap, "backing %u of local memory, which its task has not", n);
    }
    if (n >= dist_local_limit(core, &slot->task)) {
        return snap_refuse(snap, "no backing %u of local memory", n);
    }
    uint64_t *word = &core->dist.census->backings[slot->task.slot][n / 64];
    if (*word >> (n % 64) & 1) {
        return snap_refuse(snap, "backing %u of local memory is another CTA's", n);
    }
    *word |= 1ull << (n % 64);
    return true;
}

static bool add_place(struct dist_census *census, const struct dist_slot *slot, uint32_t n, struct snap *snap)
{
    const uint32_t count = slot->task.tmd.save_count;
    uint64_t *places = &census->places[slot->task.slot];

    if (count == 0) {
        return n == DIST_NO_SAVE || snap_refuse(snap, "place %u of a save area, which its task has not", n);
    }
    if (n >= count) {
        return snap_refuse(snap, "no place %u in the save area", n);
    }
    if (*places >> n & 1) {
        return snap_refuse(snap, "place %u of the save area is another CTA's", n);
    }
    *places |= 1ull << n;
    return true;
}

bool dist_loaded_cta(struct core *core, uint32_t sm, const struct dist_cta *cta, struct snap *snap)
{
    struct dist_census *census = core->dist.census;
    const struct dist_slot *slot = &core->dist.slot[cta->task->slot];

    if (cta->number >= slot->next) {
        return snap_refuse(snap, "CTA %llu of slot %u has not begun", (unsigned long long)cta->number, slot->task.slot);
    }
    if (!add_number(census, slot->task.slot, cta->number, snap) || !add_backing(core, slot, cta->local_backing, snap) ||
        !add_place(census, slot, cta->save, snap)) {
        return false;
    }
    if (!switch_hold(core, &slot->task, cta->wide, PPU_SLOT_LEVELS)) {
        return snap_refuse(snap, "the area of address space %u cannot hold it", slot->task.tmd.context);
    }
    census->in_flight[slot->task.slot]++;
    core->dist.present[sm][slot->task.tmd.context]++;
    place_resident(core, slot, cta->wide, sm);
    return true;
}

static bool add_saved(struct core *core, const struct dist_slot *slot, struct snap *snap)
{
    for (uint64_t saved = slot->save_ready | slot->save_waiting; saved != 0; saved &= saved - 1) {
        const struct dist_saved_cta *cta = &slot->save[__builtin_ctzll(saved)];

        if (!add_number(core->dist.census, slot->task.slot, cta->number, snap) ||
            !add_backing(core, slot, cta->local_backing, snap)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < slot->switched; i++) {
        if (!add_number(core->dist.census, slot->task.slot, slot->switched_cta[i].number, snap) ||
            !add_backing(core, slot, slot->switched_cta[i].local_backing, snap)) {
            return false;
        }
    }
    return true;
}

static bool backings_agree(const struct core *core, const struct dist_slot *slot, struct snap *snap)
{
    const struct dist_census *census = core->dist.census;

    for (uint32_t word = 0; word < local_words(core); word++) {
        uint64_t wrong = census->backings[slot->task.slot][word] ^ slot->local_used[word];

        if (wrong != 0) {
            return snap_refuse(snap, "backing %u of local memory is in use or free, and no CTA says the same",
                               word * 64 + (uint32_t)__builtin_ctzll(wrong));
        }
    }
    return true;
}

/* CTAs that were killed are neither done nor anywhere. */
static bool begun_agree(const struct dist_slot *slot, struct snap *snap)
{
    const uint64_t begun = slot->next - slot->ctas_done;
    const uint64_t there = (uint64_t)slot->in_flight + slot->switched +
                           (uint32_t)__builtin_popcountll(slot->save_ready | slot->save_waiting);

    if (slot->state == PPU_SLOT_KILLING ? there > begun : there != begun) {
        return snap_refuse(snap, "%llu CTAs have begun and not ended, %llu are on SMs or saved",
                           (unsigned long long)begun, (unsigned long long)there);
    }
    return true;
}

static bool slot_agrees(struct core *core, const struct dist_slot *slot, struct snap *snap)
{
    const struct dist_census *census = core->dist.census;
    const uint32_t index = slot->task.slot;
    const uint64_t saved = slot->save_ready | slot->save_waiting, on_sms = census->places[index];

    snap->unit[SNAP_SLOT] = index;
    if (census->in_flight[index] != slot->in_flight) {
        return snap_refuse(snap, "%u CTAs are in flight, the SMs have %u", slot->in_flight, census->in_flight[index]);
    }
    if ((saved & on_sms) != 0) {
        return snap_refuse(snap, "place %u of the save area is a saved CTA's, and of one on an SM",
                           (uint32_t)__builtin_ctzll(saved & on_sms));
    }
    if ((saved | on_sms) != slot->save_used) {
        return snap_refuse(snap, "places 0x%llx of the save area are in use, CTAs have 0x%llx",
                           (unsigned long long)slot->save_used, (unsigned long long)(saved | on_sms));
    }
    return begun_agree(slot, snap) && add_saved(core, slot, snap) && backings_agree(core, slot, snap);
}

static int by_slot_and_number(const void *a, const void *b)
{
    const struct census_cta *one = a, *two = b;

    if (one->slot != two->slot) {
        return one->slot < two->slot ? -1 : 1;
    }
    return one->number == two->number ? 0 : one->number < two->number ? -1 : 1;
}

static bool numbers_differ(struct dist_census *census, struct snap *snap)
{
    const struct census_cta *cta = census->cta;

    qsort(census->cta, census->count, sizeof(census->cta[0]), by_slot_and_number);
    for (uint32_t i = 1; i < census->count; i++) {
        if (by_slot_and_number(&cta[i - 1], &cta[i]) == 0) {
            snap->unit[SNAP_SLOT] = cta[i].slot;
            return snap_refuse(snap, "CTA %llu is there twice", (unsigned long long)cta[i].number);
        }
    }
    return true;
}

/* Room for the CTAs that were taken off their SMs. */
static bool census_grow(struct core *core, struct snap *snap)
{
    struct dist_census *census = core->dist.census;
    uint32_t room = census->room;

    for (uint32_t i = 0; i < core->config.slots; i++) {
        room += core->dist.slot[i].switched;
    }
    census = realloc(census, sizeof(*census) + room * sizeof(census->cta[0]));
    if (!census) {
        return snap_refuse(snap, "there is no memory to check it");
    }
    census->room = room;
    core->dist.census = census;
    return true;
}

bool census_agrees(struct core *core, struct snap *snap)
{
    if (!census_grow(core, snap)) {
        return false;
    }
    for (uint32_t i = 0; i < core->config.slots; i++) {
        if (core->dist.slot[i].state != PPU_SLOT_FREE && !slot_agrees(core, &core->dist.slot[i], snap)) {
            return false;
        }
    }
    snap->unit[SNAP_SLOT] = SNAP_NO_UNIT;
    return numbers_differ(core->dist.census, snap);
}
