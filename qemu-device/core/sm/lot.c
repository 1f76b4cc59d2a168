/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/core/sm/lot.h"
#include "ppu/macros.h"
#include "ppu/tmd.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/debug/run.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/memory/profile_table.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/cta_life.h"
#include "qemu-device/core/sm/in_place.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/token_queue.h"
#include "qemu-device/core/sm/whole.h"

#define MOST_INSNS 4096u  /* of a lot of several: others shall have their part of a grid's end */
#define SHORT_INSNS 4096u /* warp instructions of a CTA that is short, at most */
#define PATIENCE 4u       /* times what the CTAs of an SM may have to execute, which others wait for them to end */

/* Nobody looks at warps one by one, and what they do does not depend on which is beside which. */
static bool may_begin(const struct sm *sm)
{
    return sm->config->sm_threads != 0 && !sm->l2 && !sm->tells_warps && !debug_on(sm->core) && !profile_on(sm->core);
}

/* The CTA that ended last came to its end soon. */
static bool is_short(const struct sm *sm)
{
    return sm->program.cta_insns != 0 && sm->program.cta_insns <= SHORT_INSNS;
}

/* A CTA that begins now, of a program that is known. */
static bool is_plain(const struct sm *sm, const struct dist_cta *cta)
{
    const struct dist_task *const task = cta->task;

    return !cta->saved && task->start == sm->program.start && task->width != DIST_EITHER &&
           (task->tmd.flags & PPU_TMD_SUBVECTOR) == 0;
}

/* All lanes of its warps have a thread. */
static bool has_full_warps(const struct dist_cta *cta)
{
    return cta->task->cta_threads % cta->task->tmd.wave == 0 && dist_cta_is_whole(cta);
}

/* Takes CTAs, at most so many; those whose warps are full come first. */
static void take_ctas(struct sm *sm, struct sm_lot *lot, uint32_t most)
{
    struct dist_cta taken[SM_LOT_CTAS];
    const uint32_t count = most != 0 ? sm_ask_for_ctas(sm, &lot->room, most, taken) : 0;

    lot->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (has_full_warps(&taken[i])) {
            lot->cta[lot->count++] = taken[i];
        }
    }
    lot->full = lot->count;
    for (uint32_t i = 0; i < count; i++) {
        if (!has_full_warps(&taken[i])) {
            lot->cta[lot->count++] = taken[i];
        }
    }
}

static bool runs_on(const struct sm *sm, const struct sm_lot *lot)
{
    return lot->count != 0 && lot->cta[0].task == lot->task && is_plain(sm, &lot->cta[0]);
}

bool sm_lot_next(struct sm *sm, struct sm_lot *lot, uint32_t budget)
{
    const uint32_t insns = PPU_MAX(lot->cta_insns, 1u);
    const uint32_t several = PPU_MIN(budget, MOST_INSNS) / insns;
    const uint32_t most = PPU_MIN(PPU_MAX(several, budget >= insns ? 1u : 0u), SM_LOT_CTAS);

    take_ctas(sm, lot, sm_attention(sm) ? 0 : most);
    return runs_on(sm, lot);
}

void sm_lot_place(struct sm *sm, const struct sm_lot *lot, uint32_t first)
{
    for (uint32_t i = first; i < lot->count; i++) {
        struct sm_cta *const to = sm_free_cta(sm); /* they were taken because all of them have room */

        to->cta = lot->cta[i];
        sm_cta_came(sm, to);
    }
    sm_taken(sm);
}

/* The first of its CTAs is there. */
static uint32_t run_lots(struct sm *sm, struct sm_lot *lot, uint32_t budget)
{
    uint32_t executed = 0;

    lot->cta_insns = sm_whole_insns(sm, lot->task);
    if (sm->program.straight.ends && lot->full != 0 && budget >= lot->cta_insns &&
        sm_run_whole(sm, lot, budget, &executed)) {
        return executed;
    }
    if (is_short(sm)) {
        lot->cta_insns = sm->program.cta_insns;
        return sm_run_in_place(sm, lot, budget);
    }
    sm_lot_place(sm, lot, 0);
    return 0;
}

uint32_t sm_run_lots(struct sm *sm, uint32_t budget)
{
    struct sm_lot lot;

    if (!may_begin(sm) || !(sm->program.straight.ends || is_short(sm)) ||
        __atomic_load_n(&sm->has_work, __ATOMIC_SEQ_CST) == 0) {
        return 0;
    }
    sm->next_warp = 0;
    sm_file_find_tokens(sm);
    lot.room = sm_room(sm);
    take_ctas(sm, &lot, 1);
    if (lot.count == 0) {
        return 0;
    }
    lot.task = lot.cta[0].task;
    if (runs_on(sm, &lot)) {
        return run_lots(sm, &lot, budget);
    }
    sm_lot_place(sm, &lot, 0);
    return 0;
}

/* All CTAs of the SM are of the program. */
static bool has_one_program(const struct sm *sm)
{
    uint32_t left = sm->ctas_used;

    for (uint32_t i = 0; i < sm->config->sm_ctas && left != 0; i++) {
        if (sm->cta[i].used && sm->cta[i].cta.task->start != sm->program.start) {
            return false;
        }
        left -= sm->cta[i].used;
    }
    return true;
}

/* The CTAs of a program that is known are short, and each comes to its end where it waits for nobody else. */
static bool are_short(const struct sm *sm)
{
    return is_short(sm) && sm->since_taken < PATIENCE * sm->program.cta_insns * sm->ctas_used;
}

bool sm_lots_follow(const struct sm *sm)
{
    if (!may_begin(sm)) {
        return false;
    }
    if (has_one_program(sm)) {
        return sm->program.whole || are_short(sm);
    }
    return sm->ctas_used == 1 && sm->since_taken < SHORT_INSNS; /* the first of a program, which may be short */
}
