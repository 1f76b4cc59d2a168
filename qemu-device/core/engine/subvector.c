/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sub-vector mode (D2 to D7): a segment is run by one part of the warp, 32 lanes, after the other. The parts that do
 * not run are disabled lanes like others, but no token names them: they go on when the running part has come to the end
 * of the segment, or has ended. Tokens that were queued before the segment stay below a floor meanwhile.
 *
 * The loop form (D7) has no state but the program's: its scalar has the mask of the part that waits, and each lane that
 * waits knows that it does and where. A program that writes over the scalar gets its lanes in another order, and loses
 * none: those that nothing names go on by themselves when no other lane can.
 */
#include "qemu-device/core/engine/subvector.h"
#include "qemu-device/core/core.h"
#include "qemu-device/core/core_private.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/branch.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/engine/slow.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/lane_rows.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/mode.h"
#include "qemu-device/core/sm/registers.h"
#include "qemu-device/core/sm/segment.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/step.h"
#include "qemu-device/core/sm/warp.h"

#include <string.h>

/* ---- registers (D4) ---- */

void subvector_init(struct sm *sm)
{
    for (uint32_t passes = 1; passes <= PPU_MAX_WAVE_WORDS; passes++) {
        for (uint32_t reg = 0; reg < SM_ROWS; reg++) {
            sm->rows[passes - 1][reg] = reg * passes * PPU_LANES;
        }
    }
}

/* Shared registers follow the private ones; the part's lanes are `part` passes into a row. */
static void rows_of_part(struct exec *x)
{
    const uint32_t vregs = x->task->tmd.vregs, part = x->w->segment.part;
    const uint64_t key = 1ull << 32 | (uint64_t)part << 24 | x->passes << 16 | vregs;
    struct sm *const sm = x->sm;

    if (sm->part_rows_key != key) {
        sm->part_rows_key = key;
        memcpy(sm->part_rows, sm->rows[x->passes - 1], vregs * sizeof(uint32_t));
        for (uint32_t reg = vregs; reg < SM_ROWS; reg++) {
            sm->part_rows[reg] = vregs * x->wave + (reg - vregs) * PPU_LANES - part * PPU_LANES;
        }
    }
    x->rows = sm->part_rows;
}

void subvector_rows(struct exec *x)
{
    exec_rows(x);
    if (x->w->segment.on && x->w->segment.shared != 0) {
        x->vregs += x->w->segment.shared;
        rows_of_part(x);
    }
    x->vregs += x->w->segment.open;
    x->plain = x->w->sampled ? 0 : x->vregs;
}

/* ---- parts ---- */

static struct lanes of_part(const struct lanes *set, uint32_t part)
{
    struct lanes lanes = { { 0 } };

    lanes.m[part] = set->m[part];
    return lanes;
}

struct lanes subvector_running(const struct warp *w)
{
    const struct lanes left = lanes_and(&w->segment.entered, &w->live);

    return of_part(&left, w->segment.part);
}

/* The first part from `part` on that has a lane; PPU_MAX_WAVE_WORDS: none. */
static uint32_t part_from(const struct lanes *set, uint32_t part)
{
    while (part < PPU_MAX_WAVE_WORDS && set->m[part] == 0) {
        part++;
    }
    return part;
}

static void begin_segment(struct warp *w, const struct segment *segment, const struct lanes *entered)
{
    w->segment = *segment;
    w->segment.on = true;
    w->segment.floor = w->token_count;
    w->segment.entered = *entered;
    w->segment.part = (uint8_t)part_from(entered, 0);
    struct lanes first = of_part(entered, w->segment.part);
    struct lanes later = lanes_without(entered, &first);
    engine_disable(w, &later, PPU_REASON_PART, segment->begin);
    w->pc = segment->begin;
}

void subvector_start(struct warp *w, const struct dist_task *task)
{
    if (task->tmd.flags & PPU_TMD_SUBVECTOR) {
        const struct lanes all = w->active;
        begin_segment(w, &(struct segment){ .shared = task->tmd.shared_vregs, .begin = w->pc }, &all);
    }
}

bool subvector_next(struct exec *x)
{
    struct warp *w = x->w;
    const struct lanes left = lanes_and(&w->segment.entered, &w->live);
    const uint32_t part = part_from(&left, w->segment.part + 1u);

    if (part < PPU_MAX_WAVE_WORDS) {
        const struct lanes next = of_part(&left, part);

        w->segment.part = (uint8_t)part;
        engine_enable(w, &next, w->segment.begin);
        subvector_rows(x);
        return true;
    }
    w->segment.on = false;
    subvector_rows(x);
    engine_enable(w, &left, w->segment.end);
    return lanes_any(&left);
}

/* ---- instructions ---- */

/* Only loops work on a device without the mode. */
static bool exists(const struct exec *x, enum ppu_op op)
{
    return core_config_of(x->sm->core)->subvector || (op != PPU_OP_SVENTER && op != PPU_OP_SVLEAVE);
}

/* The segment that begins is to run part by part. Narrow CTAs have no other registers for it than those that parts
 * share (D8). */
static bool runs_in_parts(struct exec *x, bool open, uint32_t shared)
{
    if (!open) {
        return true;
    }
    if (shared != 0 && !x->cta->cta.wide) {
        sm_mode_narrow(x);
        return true;
    }
    return !x->w->measured && sm_mode_subvector(x);
}

static enum step enter(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    const uint32_t shared = (uint32_t)insn->imm & PPU_SUBVECTOR_REGISTERS;
    const bool open = (uint32_t)insn->imm & PPU_SUBVECTOR_MAY;
    struct warp *w = x->w;

    if (w->segment.on || w->segment.open != 0 || !lanes_equal(mask, &w->active)) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    if (shared > x->task->tmd.shared_vregs || (open && shared != 0 && !(x->task->tmd.flags & PPU_TMD_MAY_SHARE))) {
        return engine_insn_fault(x, PPU_FAULT_BAD_REGISTER, mask);
    }
    if (!runs_in_parts(x, open, shared)) {
        if (shared != 0) {
            w->segment.open = (uint16_t)shared;
            subvector_rows(x);
        }
        return STEP_NEXT;
    }
    begin_segment(w, &(struct segment){ .shared = (uint16_t)shared, .begin = w->pc + 1 }, mask);
    subvector_rows(x);
    return STEP_MOVED;
}

/* The part is through, with all its lanes. */
static enum step end_part(struct exec *x, const struct lanes *mask)
{
    struct warp *w = x->w;
    const struct lanes part = subvector_running(w);
    const uint32_t next = w->pc + 1;

    engine_drop_stale(x);
    if (!lanes_equal(mask, &part) || w->token_count != w->segment.floor ||
        (w->segment.ended && w->segment.end != next)) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    w->segment.ended = true;
    w->segment.end = next;
    engine_disable(w, mask, PPU_REASON_PART, next);
    (void)subvector_next(x);
    return STEP_MOVED;
}

static enum step leave_segment(struct exec *x, const struct lanes *mask)
{
    if (!x->w->segment.on) {
        const bool shared = x->w->segment.open != 0;

        x->w->segment.open = 0;
        if (x->w->measured) {
            sm_mode_end(x);
        } else if (shared) {
            subvector_rows(x);
        }
        return STEP_NEXT;
    }
    return end_part(x, mask);
}

/* ---- loops (D7) ---- */

/* Two parts, of one or two passes each, that a loop runs one after the other: the low one from pass `low` on. */
struct halves {
    uint32_t low, high, passes;
};

/* False: active lanes are in both halves of 64, and a loop over parts of 32 cannot run. */
static bool find_halves(const struct warp *w, enum ppu_op op, struct halves *halves)
{
    const bool upper = (w->active.m[2] | w->active.m[3]) != 0;

    if (op == PPU_OP_SVBEGIN64 || op == PPU_OP_SVEND64) {
        *halves = (struct halves){ 0, 2, 2 };
        return true;
    }
    *halves = upper ? (struct halves){ 2, 3, 1 } : (struct halves){ 0, 1, 1 };
    return !upper || (w->active.m[0] | w->active.m[1]) == 0;
}

/* Lanes of `set` in the part from pass `first` on. */
static struct lanes in_part(const struct lanes *set, uint32_t first, uint32_t passes)
{
    struct lanes lanes = { { 0 } };

    memcpy(&lanes.m[first], &set->m[first], passes * sizeof(lanes.m[0]));
    return lanes;
}

/* Returns lanes of the part that the scalar names and that wait at `pc` for the loop, and no others. */
static struct lanes waiting_in(const struct warp *w, uint32_t scalar, uint32_t first, uint32_t passes, uint32_t pc)
{
    struct lanes lanes = { { 0 } };

    for (uint32_t i = 0; i < passes; i++) {
        const uint32_t lane = (first + i) * PPU_LANES;
        const uint32_t named = w->sreg[scalar + i] & w->live.m[first + i];

        if (named != 0) {
            lanes.m[first + i] = named & lanes_equal_to(w->reason + lane, PPU_REASON_LOOP, w->wait_pc + lane, pc);
        }
    }
    return lanes;
}

static bool is_zero(const uint32_t *words, uint32_t count)
{
    return words[0] == 0 && words[count - 1] == 0;
}

static enum step begin_loop(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct warp *w = x->w;
    struct halves halves;

    if (!find_halves(w, insn->op, &halves) || !lanes_equal(mask, &w->active)) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    const struct lanes low = in_part(mask, halves.low, halves.passes);
    const struct lanes high = in_part(mask, halves.high, halves.passes);
    if (!lanes_any(&low)) {
        memset(&w->sreg[insn->rd], 0, halves.passes * sizeof(w->sreg[0])); /* only the high part runs */
        return STEP_NEXT;
    }
    memcpy(&w->sreg[insn->rd], &high.m[halves.high], halves.passes * sizeof(w->sreg[0]));
    engine_disable(w, &high, PPU_REASON_LOOP, w->pc + 1);
    return STEP_NEXT;
}

/* The low part is through: the high one goes to the loop's begin. */
static enum step swap_parts(struct exec *x, const struct ppu_insn *insn, const struct halves *halves)
{
    struct warp *w = x->w;
    const uint32_t head = w->pc + (uint32_t)insn->imm;
    const struct lanes low = w->active;
    const struct lanes high = waiting_in(w, insn->rd, halves->high, halves->passes, head);

    memcpy(&w->sreg[insn->rd], &low.m[halves->low], halves->passes * sizeof(w->sreg[0]));
    engine_disable(w, &low, PPU_REASON_LOOP, w->pc + 1);
    if (!lanes_any(&high)) {
        return engine_pop(x) ? STEP_MOVED : STEP_ENDED; /* the program wrote over the scalar */
    }
    engine_enable(w, &high, head);
    return STEP_MOVED;
}

static enum step end_loop(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct warp *w = x->w;
    struct halves halves;

    if (!find_halves(w, insn->op, &halves) || !lanes_equal(mask, &w->active)) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    const struct lanes high = in_part(mask, halves.high, halves.passes);
    if (!lanes_any(&high) && !is_zero(&w->sreg[insn->rd], halves.passes)) {
        return swap_parts(x, insn, &halves);
    }
    if (lanes_any(&high)) {
        const struct lanes low = waiting_in(w, insn->rd, halves.low, halves.passes, w->pc + 1);
        engine_enable(w, &low, w->pc);
    }
    return STEP_NEXT;
}

enum step engine_subvector(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    if (!exists(x, insn->op)) {
        return engine_insn_fault(x, PPU_FAULT_ILLEGAL, mask);
    }
    switch (insn->op) {
    case PPU_OP_SVENTER:
        return enter(x, insn, mask);
    case PPU_OP_SVBEGIN:
    case PPU_OP_SVBEGIN64:
        return begin_loop(x, insn, mask);
    case PPU_OP_SVEND:
    case PPU_OP_SVEND64:
        return end_loop(x, insn, mask);
    default:
        return leave_segment(x, mask);
    }
}
