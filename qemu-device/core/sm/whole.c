/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs CTAs whose program is one translation from begin to end. Such a program reads no register before it has written
 * it, or finds 0 there, and waits for nobody: it needs no registers, no shared memory and no turn among others. A CTA
 * and a warp of the SM, which has none, are lent to all of them in turn. Where a warp cannot do all of it at once, as a
 * page is missing or anything faults, its CTA is placed like any other, behind those of its warps that have ended.
 */
#include "qemu-device/core/sm/whole.h"
#include "ppu/macros.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/lot.h"
#include "qemu-device/core/sm/pending_ends.h"
#include "qemu-device/core/sm/program.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/warp.h"

#include <string.h>

/* What the CTAs use one after the other. */
struct lent {
    struct sm *sm;
    struct sm_cta *cta;
    struct warp *w;
    const struct dist_task *task;
    struct engine_whole whole;
};

uint32_t sm_whole_insns(const struct sm *sm, const struct dist_task *task)
{
    return task->cta_warps * sm->program.straight.insns;
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

/* Runs CTAs to their end, until one does not come to it; returns how many did. */
static uint32_t run_ctas(const struct lent *lent, const struct sm_lot *lot, uint32_t *executed, uint32_t *ended_warps)
{
    for (uint32_t i = 0; i < lot->full; i++) {
        lent->cta->cta = lot->cta[i];
        *ended_warps = run_warps(lent, executed);
        if (*ended_warps != lent->task->cta_warps) {
            return i;
        }
        *ended_warps = 0;
        end_cta(lent);
    }
    return lot->full;
}

/*
 * Runs the CTAs that were taken and those behind them. The end of the last is held back, so the slot of the task is not
 * another's meanwhile. Those that are left are on the SM afterwards.
 */
static void run_all(const struct lent *lent, struct sm_lot *lot, uint32_t budget, uint32_t *executed)
{
    struct sm *const sm = lent->sm;
    const bool wide = lot->cta[0].wide;
    uint32_t ended_warps = 0, done;

    sm_count_room(sm, lent->task, wide, 1);
    do {
        done = run_ctas(lent, lot, executed, &ended_warps);
        if (done != lot->count) {
            break; /* at one that did not end, or whose warps are not full */
        }
        done = 0;
    } while (sm_lot_next(sm, lot, budget - PPU_MIN(*executed, budget)));
    sm_count_room(sm, lent->task, wide, UINT32_MAX);
    if (ended_warps != 0) {
        place_rest(lent, ended_warps);
        done++;
    } else {
        give_back(lent);
    }
    sm_lot_place(sm, lot, done);
}

bool sm_run_whole(struct sm *sm, struct sm_lot *lot, uint32_t budget, uint32_t *executed)
{
    struct lent lent;
    const bool lends = lend(sm, &lot->cta[0], &lent);

    if (lends) {
        run_all(&lent, lot, budget, executed);
    }
    return lends;
}
