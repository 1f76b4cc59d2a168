/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predicates as registers, values of special registers, and operations across the lanes of a warp. */
#include "qemu-device/core/engine/lane.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/history.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/registers.h"

#include <string.h>

static struct lanes all_lanes(const struct exec *x)
{
    struct lanes all = { { 0 } };

    for (uint32_t pass = 0; pass < x->passes; pass++) {
        all.m[pass] = UINT32_MAX;
    }
    return all;
}

/* The lanes of `mask` get their bits of `value`, the others keep theirs. */
static void set_pred(struct exec *x, uint32_t pred, const struct lanes *value, const struct lanes *mask)
{
    struct lanes kept = lanes_without(&x->w->pred[pred], mask);
    struct lanes given = lanes_and(value, mask);

    x->w->pred[pred] = lanes_or(&kept, &given);
}

static struct lanes pred_value(const struct exec *x, uint32_t operand)
{
    struct lanes all = all_lanes(x);
    const struct lanes *pred = &x->w->pred[operand & PPU_GUARD_PRED];

    return operand & PPU_PRED_NEGATE ? lanes_without(&all, pred) : *pred;
}

static void p2r(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    LANES_EACH(mask, lane)
    {
        uint32_t bits = 0;
        for (uint32_t p = 0; p < PPU_PREDS; p++) {
            bits |= (uint32_t)lanes_has(&x->w->pred[p], lane) << p;
        }
        exec_write(x, insn->rd, false, lane, bits);
    }
}

static void r2p(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    for (uint32_t p = 0; p < PPU_PREDS; p++) {
        struct lanes value = { { 0 } };

        if (((uint32_t)insn->imm >> p & 1u) == 0) {
            continue;
        }
        LANES_EACH(mask, lane)
        {
            if (exec_read(x, insn->ra, insn->a_scalar, lane) >> p & 1u) {
                lanes_set(&value, lane);
            }
        }
        set_pred(x, p, &value, mask);
    }
}

static void select_by(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct lanes chosen = pred_value(x, insn->pred);
    struct lanes set = insn->scalar ? lanes_one(lanes_first(mask)) : *mask;

    LANES_EACH(&set, lane)
    {
        bool a = lanes_has(&chosen, lane);
        uint32_t low = a ? exec_read(x, insn->ra, insn->a_scalar, lane) : exec_read(x, insn->rb, insn->b_scalar, lane);
        uint32_t high = 0;

        if (insn->wd == 2) {
            high = a ? exec_read(x, insn->ra + 1u, insn->a_scalar, lane)
                     : exec_read(x, insn->rb + 1u, insn->b_scalar, lane);
            exec_write(x, insn->rd + 1u, insn->scalar, lane, high);
        }
        exec_write(x, insn->rd, insn->scalar, lane, low);
    }
}

/* ---- special registers (A7) ---- */

uint32_t engine_special(const struct exec *x, uint32_t sr, uint32_t lane)
{
    const struct ppu_tmd *tmd = &x->task->tmd;
    const struct dist_cta *cta = &x->cta->cta;
    const uint32_t *size = x->cta->size;
    uint32_t thread = x->w->number * x->wave + lane;

    switch (sr) {
    case PPU_SR_TID_X:
        return thread % size[0];
    case PPU_SR_TID_Y:
        return thread / size[0] % size[1];
    case PPU_SR_TID_Z:
        return thread / size[0] / size[1];
    case PPU_SR_CTA_X:
    case PPU_SR_CTA_Y:
    case PPU_SR_CTA_Z:
        return cta->id[sr - PPU_SR_CTA_X];
    case PPU_SR_NTID_X:
    case PPU_SR_NTID_Y:
    case PPU_SR_NTID_Z:
        return tmd->cta[sr - PPU_SR_NTID_X];
    case PPU_SR_SIZE_X:
    case PPU_SR_SIZE_Y:
    case PPU_SR_SIZE_Z:
        return size[sr - PPU_SR_SIZE_X];
    case PPU_SR_LAST_X:
    case PPU_SR_LAST_Y:
    case PPU_SR_LAST_Z:
        return ppu_tmd_last(tmd, sr - PPU_SR_LAST_X);
    case PPU_SR_NCTA_X:
    case PPU_SR_NCTA_Y:
    case PPU_SR_NCTA_Z:
        return tmd->grid[sr - PPU_SR_NCTA_X];
    case PPU_SR_TASK:
        return tmd->task;
    case PPU_SR_TID:
        return thread;
    case PPU_SR_LANE:
        return lane;
    case PPU_SR_WARP:
        return x->w->number;
    case PPU_SR_WAVE:
        return x->wave;
    case PPU_SR_CORRELATION:
        return tmd->correlation;
    case PPU_SR_SHARED_BYTES:
        return tmd->shared_bytes;
    case PPU_SR_NEST_LO:
        return (uint32_t)tmd->nest_va;
    case PPU_SR_NEST_HI:
        return (uint32_t)(tmd->nest_va >> 32);
    case PPU_SR_DEPTH:
        return tmd->depth;
    case PPU_SR_PLACE:
        return cta->save != DIST_NO_SAVE ? cta->save : 0;
    case PPU_SR_LOCAL_BYTES:
        return tmd->local_bytes;
    case PPU_SR_TASKQ_POS:
        return tmd->kind == PPU_TMD_TASKQ ? (uint32_t)cta->number : 0;
    default:
        return 0;
    }
}

static void read_time(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    uint64_t now = core_now(x->core);
    struct lanes set = insn->scalar ? lanes_one(0) : *mask;

    (void)history_effect(x->core); /* it is another the next time */
    LANES_EACH(&set, lane)
    {
        exec_write(x, insn->rd, insn->scalar, lane, (uint32_t)now);
        exec_write(x, insn->rd + 1u, insn->scalar, lane, (uint32_t)(now >> 32));
    }
}

/* ---- across lanes ---- */

static uint32_t source_lane(const struct exec *x, uint32_t op, uint32_t lane, uint32_t by)
{
    uint32_t other = lane;

    switch (op) {
    case PPU_OP_SHFL:
        return by % x->wave;
    case PPU_OP_SHFLUP:
        return by <= lane ? lane - by : lane;
    case PPU_OP_SHFLDN:
        return by < x->wave - lane ? lane + by : lane;
    default:
        other = lane ^ by;
        return other < x->wave ? other : lane;
    }
}

/*
 * A vector register of any lane of the warp. Parts share the 32 words of a shared register: whichever part a lane is
 * of, it has word n % 32.
 */
static uint32_t read_of_lane(const struct exec *x, uint32_t reg, uint32_t lane)
{
    const bool shared = x->w->segment.on && reg >= x->task->tmd.vregs;

    return exec_read(x, reg, false, shared ? x->w->segment.part * PPU_LANES + lane % PPU_LANES : lane);
}

static void shuffle(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    uint32_t value[PPU_MAX_WAVE];

    LANES_EACH(mask, lane)
    {
        uint32_t by = insn->immed ? (uint32_t)insn->imm : exec_read(x, insn->rb, insn->b_scalar, lane);
        value[lane] =
            insn->a_scalar ? x->w->sreg[insn->ra] : read_of_lane(x, insn->ra, source_lane(x, insn->op, lane, by));
    }
    LANES_EACH(mask, lane)
    {
        exec_write(x, insn->rd, false, lane, value[lane]);
    }
}

static void read_lane(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    uint32_t lane = lanes_first(mask);

    if (insn->op == PPU_OP_READLANE) {
        lane = (insn->immed ? (uint32_t)insn->imm : exec_read(x, insn->rb, insn->b_scalar, lane)) % x->wave;
    }
    x->w->sreg[insn->rd] = read_of_lane(x, insn->ra, lane);
}

static void vote(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct lanes has = pred_value(x, insn->ra), none = { { 0 } };

    has = lanes_and(&has, mask);
    bool result = insn->op == PPU_OP_VOTEALL ? lanes_equal(&has, mask) : lanes_any(&has);
    set_pred(x, insn->rd, result ? mask : &none, mask);
}

static void ballot(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct lanes has = insn->op == PPU_OP_BALLOT ? pred_value(x, insn->ra) : *mask;

    has = lanes_and(&has, mask);
    if (insn->scalar) {
        memcpy(&x->w->sreg[insn->rd], has.m, x->passes * sizeof(uint32_t));
        return;
    }
    for (uint32_t word = 0; word < x->passes; word++) {
        LANES_EACH(mask, lane)
        {
            exec_write(x, insn->rd + word, false, lane, has.m[word]);
        }
    }
}

bool engine_lane(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    switch (insn->op) {
    case PPU_OP_P2R:
        p2r(x, insn, mask);
        return true;
    case PPU_OP_R2P:
        r2p(x, insn, mask);
        return true;
    case PPU_OP_SEL:
    case PPU_OP_SEL64:
        select_by(x, insn, mask);
        return true;
    case PPU_OP_RDTIME:
        read_time(x, insn, mask);
        return true;
    case PPU_OP_SHFL:
    case PPU_OP_SHFLUP:
    case PPU_OP_SHFLDN:
    case PPU_OP_SHFLX:
        shuffle(x, insn, mask);
        return true;
    case PPU_OP_READLANE:
    case PPU_OP_READFIRST:
        read_lane(x, insn, mask);
        return true;
    case PPU_OP_VOTEALL:
    case PPU_OP_VOTEANY:
        vote(x, insn, mask);
        return true;
    case PPU_OP_BALLOT:
    case PPU_OP_ACTIVE:
        ballot(x, insn, mask);
        return true;
    default:
        return false;
    }
}
