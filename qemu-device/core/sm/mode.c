/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control unit (D8): in which mode warps run segments that leave it open. An SM knows, for each task, how often
 * lines that segments loaded in normal mode missed the first-level cache: measured where caches are modelled; else
 * predicted, from samples of segments that an idle first level is shown. At the threshold and above it segments run
 * part by part. Those that then run in normal mode nevertheless, every SM_PROBE-th, say whether that is still right:
 * what part by part misses says nothing about it.
 */
#include "qemu-device/core/sm/mode.h"
#include "ppu/regs.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/regs.h"
#include "qemu-device/core/sm/cache_model.h"
#include "qemu-device/core/sm/cache_window.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/warp.h"

#define PER 1024u /* rates are of so many lines */

static struct mode *mode_of(struct exec *x)
{
    struct mode *mode = &x->sm->mode[x->task->slot];

    if (mode->start != x->task->start) {
        *mode = (struct mode){ .start = x->task->start };
        if (!x->sm->l2) {
            cache_empty(&x->sm->l1); /* with a model it was emptied when the task came */
        }
    }
    return mode;
}

/* Returns what is known of the rate; PER + 1: nothing yet. */
static uint32_t rate_of(const struct exec *x, const struct mode *mode, uint32_t threshold)
{
    const uint32_t said = x->task->tmd.miss_rate;
    uint32_t least = reg_get(x->core, PPU_REG_MODE_WINDOW);

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
static bool above(const struct exec *x, const struct mode *mode)
{
    const uint32_t threshold = reg_get(x->core, PPU_REG_MODE_THRESHOLD);
    const uint32_t slack = reg_get(x->core, PPU_REG_MODE_HYSTERESIS);
    const uint32_t rate = rate_of(x, mode, threshold);

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

bool sm_mode_subvector(struct exec *x)
{
    struct mode *const mode = mode_of(x);
    const bool modelled = x->sm->l2, said = x->task->tmd.miss_rate != PPU_MISS_UNSAID;
    const uint32_t launch = x->task->tmd.mode;

    if (launch != PPU_MODE_AUTO || x->passes == 1) {
        const bool parts = launch == PPU_MODE_SUBVECTOR && x->passes != 1;
        count_one(x, parts ? PPU_COUNTER_OPEN_PARTS : PPU_COUNTER_OPEN_NORMAL);
        return parts;
    }
    bool known = rate_of(x, mode, 0) <= PER;
    bool probe = !said && (!known || ++mode->segments % SM_PROBE == 0);
    mode->subvector = above(x, mode);
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
    struct mode *const mode = mode_of(x);
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
