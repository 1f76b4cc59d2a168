/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How address spaces share an SM. Where there are CTAs of several, the one that has had least time has the next turn,
 * whatever the number of its warps. Where there are CTAs of several ranks of one, every other turn goes to the highest.
 * And a slot that claims a place, or preempts, gets room by CTAs of lower rank that leave.
 */
#include "qemu-device/core/sm/share.h"
#include "ppu/macros.h"
#include "qemu-device/core/core_state.h"
#include "qemu-device/core/dist/claim.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/slot.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"
#include "qemu-device/core/sm/work_clock.h"

/* The time since the last call. */
static uint64_t take_time(struct sm *sm)
{
    struct sm_pool *pool = *core_sm_pool(sm->core);
    const uint64_t since_ns = sm->share.since_ns;

    if (sm_pool_in_slices(pool)) {
        sm->share.since_ns = sm->share.insns + 1; /* 0 is no time */
        return sm->share.since_ns - since_ns;
    }
    return work_clock_spent(&pool->worker[sm->number % pool->workers].clock, &sm->share.since_ns);
}

void share_charge(struct sm *sm, uint32_t context)
{
    struct sm_share *share = &sm->share;
    const uint64_t spent = take_time(sm);

    share->turn_ns[context] += spent;
    __atomic_store_n(&share->time_ns[context], share->time_ns[context] + spent, __ATOMIC_RELAXED);
}

void share_begin(struct sm *sm)
{
    if (sm->share.since_ns == 0) {
        take_time(sm);
    }
}

/* Time that has not been charged is of the address space that is or was here. Beside others each turn is charged. */
void share_end(struct sm *sm)
{
    if (sm->share.since_ns != 0) {
        share_charge(sm, sm->share.sole);
        sm->share.since_ns = 0;
    }
}

/* Where a newcomer begins: it is not owed what it did not ask for. */
static uint64_t least_ns(const struct sm *sm, uint32_t but)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        if (sm->cta[i].used && sm->cta[i].cta.task->tmd.context != but) {
            const uint64_t had = sm->share.turn_ns[sm->cta[i].cta.task->tmd.context];
            least = PPU_MIN(had, least);
        }
    }
    return least;
}

static void rank_came(struct sm_share *share, uint8_t rank)
{
    if (share->all++ == 0) {
        share->rank = rank;
        share->ranks_differ = false;
    }
    share->ranks_differ = share->ranks_differ || rank != share->rank;
}

void share_came(struct sm *sm, const struct dist_task *task)
{
    struct sm_share *share = &sm->share;
    const uint32_t context = task->tmd.context;

    rank_came(share, (uint8_t)dist_rank_of(sm->core, task->slot));
    if (share->ctas[context]++ != 0) {
        return;
    }
    share->spaces++;
    if (share->spaces == 1 && share->sole == context) {
        return;
    }
    if (share->since_ns != 0) {
        share_charge(sm, share->sole);
    }
    if (share->spaces > 1) {
        const uint64_t least = least_ns(sm, context);
        share->turn_ns[context] = PPU_MAX(share->turn_ns[context], least);
    }
    share->sole = context;
}

/* CTAs that are still here may be of one rank again. */
static void rank_left(struct sm *sm)
{
    struct sm_share *share = &sm->share;

    share->all--;
    if (!share->ranks_differ) {
        return;
    }
    share->all = 0;
    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        if (sm->cta[i].used) {
            rank_came(share, (uint8_t)dist_rank_of(sm->core, sm->cta[i].cta.task->slot));
        }
    }
}

void share_left(struct sm *sm, const struct dist_task *task)
{
    struct sm_share *share = &sm->share;
    const uint32_t context = task->tmd.context;

    rank_left(sm);
    if (--share->ctas[context] != 0) {
        return;
    }
    share->spaces--;
    for (uint32_t i = 0; i < sm->config->sm_ctas && share->spaces == 1; i++) {
        if (sm->cta[i].used && sm->cta[i].cta.task->tmd.context != context) {
            share->sole = sm->cta[i].cta.task->tmd.context;
            break;
        }
    }
}

uint32_t share_pick(struct sm *sm)
{
    const uint32_t warps = sm->config->sm_warps;
    uint32_t index = sm->next_warp, chosen = warps;
    uint64_t least = UINT64_MAX;

    for (uint32_t left = warps; left != 0; left--) {
        if (sm_can_run(sm, index)) {
            const uint64_t had = sm->share.turn_ns[sm->cta[sm->warp[index].cta].cta.task->tmd.context];

            if (chosen == warps || had < least) {
                chosen = index;
                least = had;
            }
        }
        index = index + 1 < warps ? index + 1 : 0;
    }
    if (chosen != warps) {
        sm->next_warp = chosen + 1 < warps ? chosen + 1 : 0;
    }
    return chosen;
}

uint32_t share_pick_urgent(const struct sm *sm)
{
    const uint32_t warps = sm->config->sm_warps;
    uint32_t index = sm->turns % warps, chosen = warps, highest = 0;

    for (uint32_t left = warps; left != 0; left--) {
        if (sm_can_run(sm, index)) {
            const uint32_t rank = dist_rank_of(sm->core, sm->cta[sm->warp[index].cta].cta.task->slot);

            if (chosen == warps || rank > highest) {
                chosen = index;
                highest = rank;
            }
        }
        index = index + 1 < warps ? index + 1 : 0;
    }
    return chosen;
}

uint64_t sm_time_ns(struct core *core, uint32_t context)
{
    const struct sm_pool *pool = *core_sm_pool(core);
    uint64_t sum = 0;

    for (uint32_t i = 0; i < pool->sms; i++) {
        sum += __atomic_load_n(&pool->sm[i].share.time_ns[context], __ATOMIC_RELAXED);
    }
    return sum;
}

/* ---- room for a claim ---- */

static bool must_yield(const struct sm *sm, const struct sm_cta *cta, const struct dist_claim *claim)
{
    return cta->used && (cta->cta.task->tmd.context == claim->task.tmd.context ? claim->own : claim->others) &&
           dist_rank_of(sm->core, cta->cta.task->slot) < claim->rank;
}

static bool cta_fits(const struct dist_claim *claim, const struct dist_room *room)
{
    const struct dist_task *task = &claim->task;

    return room->ctas != 0 && task->cta_passes <= room->passes && task->cta_vregs[claim->wide] <= room->vregs &&
           task->tmd.shared_bytes <= room->shared_bytes && task->cta_tokens <= room->token_bytes;
}

/* There is room, or would be without all that must yield. */
static bool can_fit(const struct sm *sm, const struct dist_claim *claim)
{
    struct dist_room room = sm_room(sm);

    for (uint32_t i = 0; i < sm->config->sm_ctas; i++) {
        if (must_yield(sm, &sm->cta[i], claim)) {
            const struct dist_task *task = sm->cta[i].cta.task;

            room.ctas++;
            room.passes += task->cta_passes;
            room.vregs += task->cta_vregs[sm->cta[i].cta.wide];
            room.shared_bytes += task->tmd.shared_bytes;
            room.token_bytes += task->cta_tokens;
        }
    }
    return cta_fits(claim, &room);
}

static bool sm_has_claimed_room(const struct sm *sm, const struct dist_claim *claim)
{
    const struct dist_room room = sm_room(sm);

    return !claim->gang && cta_fits(claim, &room);
}

/* False: some cannot leave yet. */
static bool drive_out(struct sm *sm, const struct dist_claim *claim)
{
    bool all = true;

    for (uint32_t i = 0; i < sm->config->sm_ctas && !sm_has_claimed_room(sm, claim); i++) {
        if (must_yield(sm, &sm->cta[i], claim)) {
            const struct dist_task *task = sm->cta[i].cta.task;

            if (task->tmd.flags & PPU_TMD_CORESIDENT) {
                dist_gang_leave(sm->core, task->slot);
            }
            all = sm_leave(sm, &sm->cta[i]) && all;
        }
    }
    return all || sm_has_claimed_room(sm, claim);
}

bool share_make_room(struct sm *sm)
{
    struct dist_claim claim;
    uint64_t passed = 0; /* slots whose claims cannot be served here */

    for (uint32_t most = sm->config->sm_ctas; most != 0 && dist_claiming(sm->core);) {
        if (!dist_claim(sm->core, sm->number, passed, &claim)) {
            break;
        }
        if (!can_fit(sm, &claim)) {
            passed |= 1ull << claim.task.slot;
            continue;
        }
        if (!drive_out(sm, &claim)) {
            sm_has_room(sm);
            return false;
        }
        sm_has_room(sm);
        if (!sm_take_cta(sm)) {
            break;
        }
        most--;
    }
    return true;
}
