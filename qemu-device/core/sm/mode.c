/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control unit (D8): in which mode warps run segments that leave it open. An SM knows, for each task, how often
 * lines that segments loaded in normal mode missed the first-level cache: measured where caches are modelled; else
 * predicted, from samples of segments that an idle first level is shown. At the threshold and above it segments run
 * part by part. Those that then run in normal mode nevertheless, every SM_PROBE-th, say whether that is still right:
 * what part by part misses says nothing about it.
 *
 * Of tasks whose open segments share registers the SM also chooses, for each CTA that begins, whether it is narrow:
 * more of these find room. Segments of narrow ones run part by part, so every SM_PROBE-th CTA is wide all the same.
 */
#include "qemu-device/core/sm/mode.h"
#include "ppu/regs.h"
#include "qemu-device/core/attention.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/cache_window.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/pool.h"
#include "qemu-device/core/sm/pool_state.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

#define PER 1024u /* rates are of so many lines */

static struct mode *mode_of(struct sm *sm, const struct dist_task *task)
{
    struct mode *mode = &sm->mode[task->slot];

    if (mode->start != task->start) {
        *mode = (struct mode){ .start = task->start };
        if (!sm->l2) {
            cache_empty(&sm->l1); /* with a model it was emptied when the task came */
        }
    }
    return mode;
}

/* Returns what is known of the rate; PER + 1: nothing yet. */
static uint32_t rate_of(struct core *core, const struct dist_task *task, const struct mode *mode, uint32_t threshold)
{
    const uint32_t said = task->tmd.miss_rate;
    uint32_t least = reg_get(core, PPU_REG_MODE_WINDOW);

    if (said == PPU_MISS_BELOW) {
        return threshold == 0 ? 0 : threshold - 1;
    }
    if (said == PPU_MISS_ABOVE) {
        return threshold;
    }
    if (said != PPU_MISS_UNSAID) {
        return said - PPU_MISS_RATE(0u);
    }
    least = least < CACHE_WINDOW / 2 ? least : CACHE_WINDOW / 2; /* it is halved when it is full */
    least = least != 0 ? least : 1;
    return mode->normal.loads >= least ? (uint32_t)((uint64_t)mode->normal.misses * PER / mode->normal.loads) : PER + 1;
}

/* Without a change of mind between the threshold and `slack` below it. */
static bool above(struct core *core, const struct dist_task *task, const struct mode *mode)
{
    const uint32_t threshold = reg_get(core, PPU_REG_MODE_THRESHOLD);
    const uint32_t slack = reg_get(core, PPU_REG_MODE_HYSTERESIS);
    const uint32_t rate = rate_of(core, task, mode, threshold);

    if (rate > PER) {
        return false;
    }
    return rate >= threshold || (mode->subvector && rate + (uint64_t)slack >= threshold);
}

/* The segment runs in normal mode, and is measured until its end. */
static void measure(struct exec *x, bool sample)
{
    x->w->segment_window = (struct cache_window){ 0, 0 };
    x->w->measured = true;
    x->w->sampled = sample;
    subvector_rows(x);
}

/* Counts up to SM_PROBE; true: there. */
static bool count_to_probe(uint32_t *count)
{
    *count = *count < SM_PROBE ? *count + 1 : SM_PROBE;
    return *count == SM_PROBE;
}

bool sm_wants_wide(struct core *core, uint32_t sm, const struct dist_task *task)
{
    const struct mode *const mode = &(*core_sm_pool(core))->sm[sm].mode[task->slot];
    static const struct mode nothing = { .start = 0 };
    const struct mode *const known = mode->start == task->start ? mode : &nothing;

    return !above(core, task, known) || (task->tmd.miss_rate == PPU_MISS_UNSAID && known->ctas + 1 >= SM_PROBE);
}

void sm_mode_begun(struct sm *sm, const struct dist_task *task, bool wide)
{
    struct mode *const mode = mode_of(sm, task);

    (void)count_to_probe(&mode->ctas);
    if (wide) {
        mode->ctas = 0;
    }
}

void sm_mode_narrow(struct exec *x)
{
    (void)count_to_probe(&mode_of(x->sm, x->task)->segments);
    count_one(x, PPU_COUNTER_OPEN_PARTS);
}

bool sm_mode_subvector(struct exec *x)
{
    struct mode *const mode = mode_of(x->sm, x->task);
    const bool modelled = x->sm->l2, said = x->task->tmd.miss_rate != PPU_MISS_UNSAID;
    const uint32_t launch = x->task->tmd.mode;

    if (launch != PPU_MODE_AUTO || x->passes == 1) {
        const bool parts = launch == PPU_MODE_SUBVECTOR && x->passes != 1;
        count_one(x, parts ? PPU_COUNTER_OPEN_PARTS : PPU_COUNTER_OPEN_NORMAL);
        return parts;
    }
    bool known = rate_of(x->core, x->task, mode, 0) <= PER;
    bool probe = !said && (!known || count_to_probe(&mode->segments));
    mode->segments = probe && known ? 0 : mode->segments;
    mode->subvector = above(x->core, x->task, mode);
    if (mode->subvector && !probe) {
        count_one(x, PPU_COUNTER_OPEN_PARTS);
        return true;
    }
    count_one(x, PPU_COUNTER_OPEN_NORMAL);
    if (!said && (modelled || probe)) {
        measure(x, !modelled);
    }
    return false;
}

void sm_mode_end(struct exec *x)
{
    struct mode *const mode = mode_of(x->sm, x->task);
    struct warp *const w = x->w;

    mode->normal.loads += w->segment_window.loads;
    mode->normal.misses += w->segment_window.misses;
    while (mode->normal.loads >= CACHE_WINDOW) {
        mode->normal.loads /= 2;
        mode->normal.misses /= 2;
    }
    w->measured = w->sampled = false;
    subvector_rows(x);
}
