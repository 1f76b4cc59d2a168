/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which SM gets a CTA; all with the distributor's lock. CTAs spread, over GPCs as over SMs: an SM that has its share
 * leaves what is left to those that have less and room, and of equals to those whose GPC has less. A co-resident grid
 * (a gang) gets room for all of its CTAs at once, or waits: then tasks of no higher priority get nothing more, so that
 * room becomes free.
 */
#include "qemu-device/core/dist/place.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/dist.h"
#include "qemu-device/core/dist/mask.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"

/* ---- room ---- */

/* More CTAs of the task on the SM; fewer, when the number wraps. */
static void room_change(struct core *core, uint32_t sm, const struct dist_task *task, bool wide, uint32_t ctas)
{
    struct dist_room *room = &core->dist.used[sm];

    core->dist.gpc_ctas[core_gpc_of(&core->config, sm)] += ctas;
    core->dist.all_ctas += (uint64_t)(int32_t)ctas;
    room->passes += ctas * task->cta_passes;
    room->ctas += ctas;
    room->vregs += ctas * task->cta_vregs[wide];
    room->shared_bytes += ctas * task->tmd.shared_bytes;
    room->token_bytes += ctas * task->cta_tokens;
}

bool place_fits(const struct dist_task *task, bool wide, const struct dist_room *room)
{
    return room->ctas >= 1 && task->cta_passes <= room->passes && task->cta_vregs[wide] <= room->vregs &&
           task->tmd.shared_bytes <= room->shared_bytes && task->cta_tokens <= room->token_bytes;
}

static uint32_t left(uint32_t all, uint32_t used)
{
    return all > used ? all - used : 0;
}

/* Returns the room that an SM has beside `used`. */
static struct dist_room room_left(const struct core *core, uint32_t sm, const struct dist_room *used)
{
    const struct core_config *config = &core->config;
    uint32_t token_bytes = 0;

    (void)core_tokens_share(core, sm, &token_bytes);
    return (struct dist_room){
        .passes = left(config->sm_warps, used->passes),
        .ctas = left(config->sm_ctas, used->ctas),
        .vregs = left(config->sm_vregs, used->vregs),
        .shared_bytes = left(config->sm_shared, used->shared_bytes),
        .token_bytes = left(token_bytes, used->token_bytes),
    };
}

static uint32_t at_most(uint32_t count, uint32_t room, uint32_t need)
{
    return need != 0 && room / need < count ? room / need : count;
}

/* CTAs of a gang are all alike. */
static bool gang_is_wide(const struct dist_task *task)
{
    return task->width == DIST_WIDE;
}

/* CTAs of the gang that find room. */
static uint32_t room_holds(const struct dist_room *room, const struct dist_task *task)
{
    uint32_t count = room->ctas;

    count = at_most(count, room->passes, task->cta_passes);
    count = at_most(count, room->vregs, task->cta_vregs[gang_is_wide(task)]);
    count = at_most(count, room->shared_bytes, task->tmd.shared_bytes);
    return at_most(count, room->token_bytes, task->cta_tokens);
}

static bool sm_fits(const struct core *core, uint32_t sm, const struct dist_task *task, bool wide)
{
    const struct dist_room room = room_left(core, sm, &core->dist.used[sm]);

    return place_fits(task, wide, &room);
}

/* ---- gangs ---- */

static bool is_gang(const struct dist_slot *slot)
{
    return slot->task.tmd.flags & PPU_TMD_CORESIDENT;
}

bool place_gang_fits(const struct core *core, const struct dist_task *task, uint64_t total)
{
    static const struct dist_room nothing = { .ctas = 0 };
    uint64_t holds = 0;

    for (uint32_t sm = 0; sm < core->config.sms; sm++) {
        const struct dist_room room = room_left(core, sm, &nothing);

        holds += room_holds(&room, task);
    }
    return total <= holds && total <= dist_local_limit(core, task) &&
           (task->tmd.save_count == 0 || total <= task->tmd.save_count);
}

/* CTAs of a slot that are to be handed out; of a gang, together. */
static uint64_t pending(const struct dist_slot *slot)
{
    return slot->total - slot->next + (uint32_t)__builtin_popcountll(slot->save_ready) + slot->switched;
}

/* True when the first of two gangs that wait gets room before the second. */
static bool gang_before(const struct dist_slot *a, const struct dist_slot *b)
{
    if (a->rank != b->rank) {
        return a->rank > b->rank;
    }
    return a->task.tmd.priority != b->task.tmd.priority ? a->task.tmd.priority > b->task.tmd.priority
                                                        : a->gang_age < b->gang_age;
}

/* The gang that gets room first: of the highest rank, then priority, then the oldest; NULL: none waits. */
static struct dist_slot *first_gang(struct dist *dist)
{
    struct dist_slot *first = NULL;

    for (uint64_t waiting = dist->gangs; waiting != 0; waiting &= waiting - 1) {
        struct dist_slot *slot = &dist->slot[__builtin_ctzll(waiting)];

        if (!first || gang_before(slot, first)) {
            first = slot;
        }
    }
    return first;
}

/* CTAs of the gang that have no room yet: of one that came back while others were planned, it alone. */
static uint64_t unplanned(const struct core *core, const struct dist_slot *slot)
{
    uint64_t need = pending(slot), planned = 0;

    for (uint32_t sm = 0; sm < core->config.sms; sm++) {
        planned += slot->planned[sm];
    }
    return need > planned ? need - planned : 0;
}

/* The SMs in the order in which a gang gets room: one of each GPC, then the next of each. */
static uint32_t sm_in_turn(const struct core_config *config, uint32_t turn)
{
    return turn % config->gpcs * (config->sms / config->gpcs) + turn / config->gpcs % (config->sms / config->gpcs);
}

/* Room for every CTA of the gang, in turn on the SMs that have some; false: there is not enough. */
static bool plan(struct core *core, struct dist_slot *slot)
{
    uint32_t holds[PPU_MAX_SMS];
    uint64_t need = unplanned(core, slot), all = 0;

    for (uint32_t sm = 0; sm < core->config.sms; sm++) {
        const struct dist_room room = room_left(core, sm, &core->dist.used[sm]);

        holds[sm] = room_holds(&room, &slot->task);
        all += holds[sm];
    }
    if (all < need) {
        return false;
    }
    for (uint32_t turn = 0; need != 0; turn = (turn + 1) % core->config.sms) {
        const uint32_t sm = sm_in_turn(&core->config, turn);

        if (holds[sm] != 0) {
            holds[sm]--;
            slot->planned[sm]++;
            room_change(core, sm, &slot->task, gang_is_wide(&slot->task), 1);
            need--;
        }
    }
    return true;
}

void place_plan(struct core *core)
{
    struct dist *dist = &core->dist;
    struct dist_slot *slot;

    while ((slot = first_gang(dist)) && plan(core, slot)) {
        __atomic_fetch_and(&dist->gangs, ~bit(slot->task.slot), __ATOMIC_SEQ_CST);
        __atomic_fetch_or(&dist->offering, bit(slot->task.slot), __ATOMIC_SEQ_CST);
        dist->stirred = true;
    }
}

void place_offer(struct core *core, struct dist_slot *slot)
{
    struct dist *dist = &core->dist;

    if (is_gang(slot)) {
        slot->gang_age = dist->gang_clock++;
        __atomic_fetch_or(&dist->gangs, bit(slot->task.slot), __ATOMIC_SEQ_CST);
        place_plan(core);
    } else {
        __atomic_fetch_or(&dist->offering, bit(slot->task.slot), __ATOMIC_SEQ_CST);
    }
}

void place_withdraw(struct core *core, struct dist_slot *slot)
{
    struct dist *dist = &core->dist;

    __atomic_fetch_and(&dist->offering, ~bit(slot->task.slot), __ATOMIC_SEQ_CST);
    if (!is_gang(slot)) {
        return;
    }
    for (uint32_t sm = 0; sm < core->config.sms; sm++) {
        room_change(core, sm, &slot->task, gang_is_wide(&slot->task), 0u - slot->planned[sm]);
        slot->planned[sm] = 0;
    }
    __atomic_fetch_and(&dist->gangs, ~bit(slot->task.slot), __ATOMIC_SEQ_CST);
    dist->stirred = true; /* others need not stand back for it any more */
    place_plan(core);
}

bool place_is_planned(const struct core *core, const struct dist_slot *slot)
{
    return is_gang(slot) && (__atomic_load_n(&core->dist.offering, __ATOMIC_SEQ_CST) & bit(slot->task.slot));
}

/* ---- spreading ---- */

/* The SM has as many CTAs as if those on SMs and those to come were spread evenly. */
static bool has_share(const struct core *core, uint32_t sm)
{
    const struct dist *dist = &core->dist;
    uint64_t all = dist->all_ctas;

    for (uint64_t offers = dist->offering; offers != 0; offers &= offers - 1) {
        const struct dist_slot *slot = &dist->slot[__builtin_ctzll(offers)];
        /* A gang's are planned, and so counted above. */
        all += is_gang(slot) ? 0 : pending(slot) < UINT32_MAX ? pending(slot) : UINT32_MAX;
    }
    return (uint64_t)dist->used[sm].ctas * core->config.sms + core->config.sms > all;
}

/* CTAs on the SMs of the GPC that the SM is in. */
static uint32_t gpc_ctas(const struct core *core, uint32_t sm)
{
    return core->dist.gpc_ctas[core_gpc_of(&core->config, sm)];
}

/* True: the first SM has less to do than the second, or as much in a GPC that has less to do. */
static bool is_freer(const struct core *core, uint32_t first, uint32_t second)
{
    const uint32_t a = core->dist.used[first].ctas, b = core->dist.used[second].ctas;

    return a != b ? a < b : gpc_ctas(core, first) < gpc_ctas(core, second);
}

/* An SM with less to do could take the CTA, as its own control unit would have it. */
static bool another_should(const struct core *core, const struct dist_task *task, bool wide, uint32_t sm)
{
    const bool most = wide || task->width == DIST_EITHER;

    for (uint32_t other = 0; other < core->config.sms; other++) {
        if (is_freer(core, other, sm) && sm_fits(core, other, task, most)) {
            return true;
        }
    }
    return false;
}

/* Others must leave it the room that comes free: those of its own address space, and those of lower rank. */
static bool stands_back_for(const struct dist_slot *slot, const struct dist_slot *gang)
{
    if (gang->rank != slot->rank) {
        return gang->rank > slot->rank;
    }
    return gang->task.tmd.context == slot->task.tmd.context && gang->task.tmd.priority >= slot->task.tmd.priority;
}

bool place_allows(struct core *core, const struct dist_slot *slot, bool wide, uint32_t sm)
{
    struct dist *dist = &core->dist;

    if (is_gang(slot)) {
        return slot->planned[sm] != 0;
    }
    const struct dist_slot *gang = first_gang(dist);
    if ((gang && stands_back_for(slot, gang)) || !sm_fits(core, sm, &slot->task, wide)) {
        return false;
    }
    if (has_share(core, sm) && another_should(core, &slot->task, wide, sm)) {
        dist->stood_back = true;
        return false;
    }
    return true;
}

void place_take(struct core *core, struct dist_slot *slot, bool wide, uint32_t sm)
{
    struct dist *dist = &core->dist;

    if (is_gang(slot)) {
        slot->planned[sm]--; /* the room is its own already */
    } else {
        room_change(core, sm, &slot->task, wide, 1);
    }
    /* The SM that left this CTA to others may be the one for the next. */
    dist->stirred = dist->stirred || (dist->stood_back && dist->offering != 0);
    dist->stood_back = false;
}

void place_give(struct core *core, const struct dist_slot *slot, bool wide, uint32_t sm)
{
    room_change(core, sm, &slot->task, wide, 0u - 1u);
    place_plan(core);
}

void place_resident(struct core *core, const struct dist_slot *slot, bool wide, uint32_t sm)
{
    room_change(core, sm, &slot->task, wide, 1);
}
