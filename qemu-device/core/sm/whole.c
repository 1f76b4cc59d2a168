/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs CTAs whose program is one translation from begin to end. Such a program reads no register before it has written
 * it, or finds 0 there, and waits for nobody: it needs no registers, no shared memory and no turn among others. A CTA
 * and a warp of the SM, which has none, are lent to all of them in turn. Where a warp cannot do all of it at once, as a
 * page is missing or anything faults, its CTA is placed like any other, behind those of its warps that have ended.
 */
#include "qemu-device/core/sm/whole.h"
#include "ppu/macros.h"
#include "ppu/tmd.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/debug/run.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/room.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/memory/profile_table.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/pending_ends.h"
#include "qemu-device/core/sm/program.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/warp.h"

#include <string.h>

#define MOST_CTAS 8u     /* that are taken at once */
#define MOST_INSNS 1024u /* of them together, when they are several: others shall have their part of a grid's end */

struct taken {
    uint32_t count;
    struct dist_cta cta[MOST_CTAS];
};

/* What the CTAs use one after the other. */
struct lent {
    struct sm *sm;
    struct sm_cta *cta;
    struct warp *w;
    const struct dist_task *task;
    struct engine_whole whole;
};

/* Nobody looks at warps one by one. */
static bool may_begin(const struct sm *sm)
{
    return sm->program.straight.ends && !sm->tells_warps && !debug_on(sm->core) && !profile_on(sm->core);
}

/* Warp instructions of a CTA, at most. */
static uint32_t most_insns(const struct sm *sm, const struct dist_task *task)
{
    return task->cta_warps * sm->program.straight.insns;
}

/* A CTA that begins now, of a program that is known, with warps that all have all lanes. */
static bool is_plain(const struct sm *sm, const struct dist_cta *cta)
{
    const struct dist_task *const task = cta->task;

    return !cta->saved && task->start == sm->program.start && !task->ragged && task->width != DIST_EITHER &&
           task->cta_threads % task->tmd.wave == 0 && (task->tmd.flags & PPU_TMD_SUBVECTOR) == 0;
}

/* ---- a CTA and a warp that are lent ---- */

static void give_back(const struct lent *lent)
{
    lent->w->state = WARP_FREE;
    memset(lent->cta, 0, offsetof(struct sm_cta, done));
}

/* False: there is no translation, and nothing is lent. */
static bool lend(struct sm *sm, const struct dist_cta *first, struct lent *lent)
{
    struct sm_cta *const cta = &sm->cta[0];

    *lent = (struct lent){ .sm = sm, .cta = cta, .w = &sm->warp[0], .task = first->task };
    cta->cta = *first;
    cta->warp[0] = 0;
    for (uint32_t dim = 0; dim < 3; dim++) {
        cta->size[dim] = first->task->tmd.cta[dim];
    }
    sm_warp_start(sm, cta, 0);
    const bool lends = engine_whole_begin(sm, 0, &lent->whole);
    if (!lends) {
        give_back(lent);
    }
    return lends;
}

/* Runs the warps of the CTA until one does not end; returns how many did. */
static uint32_t run_warps(const struct lent *lent, uint32_t *executed)
{
    uint32_t done = 0;
    const uint32_t ended = engine_whole_run(lent->sm, &lent->whole, &done);

    *executed += done;
    lent->sm->share.insns += done;
    return ended;
}

static void end_cta(const struct lent *lent)
{
    struct sm_cta *const cta = lent->cta;
    struct sm *const sm = lent->sm;

    count_settle(sm, cta);
    pending_ends_hold(sm, &cta->cta, cta->count);
    memset(cta->count, 0, sizeof(cta->count));
    memset(cta->settled, 0, sizeof(cta->settled));
    sm->program.ended++;
    __atomic_store_n(&sm->whole_ctas, sm->whole_ctas + 1, __ATOMIC_RELAXED);
    sm_has_room(sm);
}

/* Puts CTAs onto the SM that were taken. */
static void place(struct sm *sm, const struct dist_cta *cta, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct sm_cta *const to = sm_free_cta(sm); /* they were taken because all of them have room */

        to->cta = cta[i];
        sm_cta_came(sm, to);
    }
    sm->turns = 0;
}

/* Puts the CTA that is lent onto the SM; its first warps have ended. */
static void place_rest(const struct lent *lent, uint32_t ended)
{
    struct sm_cta *const cta = lent->cta;

    lent->w->state = WARP_FREE;
    sm_cta_came(lent->sm, cta);
    for (uint32_t number = 0; number < ended; number++) {
        struct warp *const w = &lent->sm->warp[cta->warp[number]];

        w->state = WARP_DONE;
        w->fresh = false;
        w->active = w->live = (struct lanes){ { 0 } };
        memset(w->reason, PPU_REASON_ENDED, sizeof(w->reason));
        cta->warps_left--;
        cta->threads_left -= lent->task->tmd.wave;
    }
}

/* How many more CTAs are taken at once. */
static uint32_t most_ctas(const struct lent *lent, uint32_t budget)
{
    const uint32_t of_one = most_insns(lent->sm, lent->task), insns = PPU_MAX(of_one, 1u);
    const uint32_t most = PPU_MIN(budget, MOST_INSNS);

    return PPU_MIN(PPU_MAX(most / insns, budget >= insns ? 1u : 0u), MOST_CTAS);
}

/* Runs CTAs to their end, until one does not come to it; returns how many did. */
static uint32_t run_ctas(const struct lent *lent, const struct taken *taken, uint32_t *executed, uint32_t *ended_warps)
{
    for (uint32_t i = 0; i < taken->count; i++) {
        lent->cta->cta = taken->cta[i];
        *ended_warps = run_warps(lent, executed);
        if (*ended_warps != lent->task->cta_warps) {
            return i;
        }
        end_cta(lent);
    }
    return taken->count;
}

/*
 * Runs the CTAs that were taken and those behind them. The end of the last is held back, so the slot of the task is not
 * another's meanwhile. Those that are left are on the SM afterwards.
 */
static uint32_t run_all(const struct lent *lent, struct taken *taken, const struct dist_room *room, uint32_t budget)
{
    struct sm *const sm = lent->sm;
    const bool wide = taken->cta[0].wide;
    uint32_t executed = 0, ended_warps = 0, done, most;

    sm_count_room(sm, lent->task, wide, 1);
    do {
        done = run_ctas(lent, taken, &executed, &ended_warps);
        most = most_ctas(lent, budget - PPU_MIN(executed, budget));
        if (done != taken->count || sm_attention(sm) || most == 0) {
            break;
        }
        done = ended_warps = 0;
        taken->count = sm_ask_for_ctas(sm, room, most, taken->cta);
    } while (taken->count != 0 && taken->cta[0].task == lent->task && is_plain(sm, &taken->cta[0]));
    sm_count_room(sm, lent->task, wide, UINT32_MAX);
    if (ended_warps != 0 && done != taken->count) {
        place_rest(lent, ended_warps);
        done++;
    } else {
        give_back(lent);
    }
    place(sm, &taken->cta[done], taken->count - done);
    return executed;
}

uint32_t sm_run_whole_ctas(struct sm *sm, uint32_t budget)
{
    struct taken taken;
    struct lent lent;

    if (!may_begin(sm) || __atomic_load_n(&sm->has_work, __ATOMIC_SEQ_CST) == 0) {
        return 0;
    }
    sm->next_warp = 0;
    sm_file_find_tokens(sm);
    const struct dist_room room = sm_room(sm);
    taken.count = sm_ask_for_ctas(sm, &room, 1, taken.cta);
    if (taken.count == 0) {
        return 0;
    }
    if (is_plain(sm, &taken.cta[0]) && budget >= most_insns(sm, taken.cta[0].task) && lend(sm, &taken.cta[0], &lent)) {
        return run_all(&lent, &taken, &room, budget);
    }
    place(sm, taken.cta, taken.count);
    return 0;
}

bool sm_whole_ctas_follow(const struct sm *sm)
{
    uint32_t left = sm->ctas_used;

    if (!sm->program.whole || !may_begin(sm)) {
        return false;
    }
    for (uint32_t i = 0; i < sm->config->sm_ctas && left != 0; i++) {
        if (sm->cta[i].used && sm->cta[i].cta.task->start != sm->program.start) {
            return false;
        }
        left -= sm->cta[i].used;
    }
    return true;
}
