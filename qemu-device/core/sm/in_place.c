/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A CTA that has ended leaves its registers, its shared memory and its warps to the next of its task. Its warps go on
 * in turn, each from one barrier to the next. Where a warp does anything but wait at a barrier or end, its CTA goes on
 * as any other does, and the ones that were taken with it are placed beside it.
 */
#include "qemu-device/core/sm/in_place.h"
#include "ppu/macros.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/lot.h"
#include "qemu-device/core/sm/pending_ends.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/turn.h"
#include "qemu-device/core/sm/warp.h"

/* Who runs CTAs so. */
struct runner {
    struct sm *sm;
    struct sm_cta *cta;
    uint32_t budget;
    uint32_t executed;
};

static uint32_t left_of(const struct runner *runner)
{
    return runner->budget - PPU_MIN(runner->executed, runner->budget);
}

/* False: it did not come to a barrier or its end; what follows from its turn has happened. */
static bool warp_goes_on(struct runner *runner, uint32_t index)
{
    struct sm *const sm = runner->sm;
    const struct warp *const w = &sm->warp[index];
    const uint32_t done = engine_run(sm, index, PPU_MIN(left_of(runner), SM_QUANTUM));

    sm->next_warp = sm_warp_behind(sm, index); /* whose turn it is if this is the last one here */
    runner->executed += done;
    sm->share.insns += done;
    if (w->state == WARP_DONE && (runner->cta->warps_left == 1 || !runner->cta->must_save)) {
        runner->cta->warps_left--;
        return true;
    }
    if (w->state == WARP_BARRIER && !runner->cta->must_save) {
        return true;
    }
    sm_after_turn(sm, index); /* the CTA may have left the SM */
    return false;
}

/* Each warp that can goes on once. False: none could, or the CTA goes on as any other. */
static bool warps_go_on(struct runner *runner)
{
    const struct sm *const sm = runner->sm;
    bool any = false;

    for (uint32_t number = 0; number < runner->cta->cta.task->cta_warps; number++) {
        const uint32_t index = runner->cta->warp[number];

        if (sm->warp[index].state != WARP_READY) {
            continue;
        }
        any = true;
        if (left_of(runner) == 0 || sm_attention(sm) || !warp_goes_on(runner, index)) {
            return false;
        }
    }
    return any;
}

/* False: the CTA has not come to its end, and goes on as any other. */
static bool run_to_end(struct runner *runner)
{
    bool on = true;

    while (on && runner->cta->warps_left != 0) {
        on = warps_go_on(runner);
    }
    return on;
}

/* The CTA has ended: the next begins where it was. */
static void succeed(struct runner *runner, const struct dist_cta *next)
{
    struct sm *const sm = runner->sm;
    struct sm_cta *const cta = runner->cta;

    count_settle(sm, cta);
    pending_ends_hold(sm, &cta->cta, cta->count);
    sm_learn(sm, cta);
    sm_cta_replace(sm, cta, next);
    __atomic_store_n(&sm->replaced_ctas, sm->replaced_ctas + 1, __ATOMIC_RELAXED);
    sm_has_room(sm);
}

/* Others may wait for what it has added. */
static void go_on_as_any(struct runner *runner)
{
    pending_ends_report(runner->sm);
    if (runner->cta->used) {
        count_settle(runner->sm, runner->cta);
    }
}

/* The next CTAs of the lot's task. False: there are none, or they need no place any more; as sm_lot_next(). */
static bool more(const struct runner *runner, struct sm_lot *lot)
{
    if (runner->sm->program.whole) {
        lot->count = 0;
        return false;
    }
    return sm_lot_next(runner->sm, lot, left_of(runner));
}

uint32_t sm_run_in_place(struct sm *sm, struct sm_lot *lot, uint32_t budget)
{
    struct runner runner = { .sm = sm, .cta = sm_free_cta(sm), .budget = budget };
    uint32_t at = 0;

    runner.cta->cta = lot->cta[0];
    sm_cta_came(sm, runner.cta);
    while (run_to_end(&runner)) {
        at++;
        if (at == lot->count) {
            at = 0;
            if (!more(&runner, lot)) {
                sm_cta_end(sm, runner.cta);
                sm_lot_place(sm, lot, 0);
                return runner.executed;
            }
        }
        succeed(&runner, &lot->cta[at]);
    }
    go_on_as_any(&runner);
    sm_lot_place(sm, lot, at + 1);
    return runner.executed;
}
