/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executes warps: fetch, guard, dispatch; faults; barriers. */
#include "qemu-device/core/engine/slow.h"
#include "qemu-device/core/dist/cta.h"
#include "qemu-device/core/dist/task.h"
#include "qemu-device/core/engine/barrier.h"
#include "qemu-device/core/engine/branch.h"
#include "qemu-device/core/engine/engine.h"
#include "qemu-device/core/engine/lane.h"
#include "qemu-device/core/engine/levels.h"
#include "qemu-device/core/engine/look.h"
#include "qemu-device/core/engine/memory.h"
#include "qemu-device/core/engine/subvector.h"
#include "qemu-device/core/hooks.h"
#include "qemu-device/core/memory/guest_mem.h"
#include "qemu-device/core/memory/ring.h"
#include "qemu-device/core/memory/trace.h"
#include "qemu-device/core/sm/code.h"
#include "qemu-device/core/sm/counters.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/decode.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/file.h"
#include "qemu-device/core/sm/lane_rows.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/page_lookup.h"
#include "qemu-device/core/sm/pending_adds_order.h"
#include "qemu-device/core/sm/registers.h"
#include "qemu-device/core/sm/sm.h"
#include "qemu-device/core/sm/step.h"
#include "qemu-device/core/sm/tlb.h"
#include "qemu-device/core/sm/warp.h"

#include <string.h>

enum step engine_fault(struct exec *x, uint16_t code, enum ppu_access access, uint64_t address, uint32_t pass,
                       uint32_t lanes)
{
    const struct dist_cta *cta = &x->cta->cta;

    x->w->fault = (struct ppu_fault_event){
        .code = code,
        .access = (uint8_t)access,
        .sm = (uint8_t)x->sm->number,
        .address = address,
        .pc = x->task->tmd.code_va + (uint64_t)x->w->pc * PPU_INSN_BYTES,
        .lanes = lanes,
        .warp = x->w->number,
        .pass = (uint16_t)pass,
        .cta = { cta->id[0], cta->id[1], cta->id[2] },
    };
    x->w->state = WARP_FAULTED;
    return STEP_FAULT;
}

static uint64_t word_of(const struct code_insn *code)
{
    return code->fault != 0 ? code->word : ppu_isa_encode(&code->insn);
}

static enum step insn_fault(struct exec *x, uint16_t code, uint64_t payload, enum ppu_access access,
                            const struct lanes *mask)
{
    uint32_t pass = lanes_first(mask) / PPU_LANES;

    return engine_fault(x, code, access, payload, pass, mask->m[pass]);
}

static void keep_word(struct exec *x)
{
    x->w->word = word_of(x->code);
}

void engine_leave(struct exec *x, const struct lanes *left)
{
    keep_word(x);
    x->w->pending = *left;
    x->w->partial = true;
}

enum step engine_insn_fault(struct exec *x, uint16_t code, const struct lanes *mask)
{
    return insn_fault(x, code, word_of(x->code), PPU_ACCESS_FETCH, mask);
}

/* ---- barriers ---- */

/* Every thread left waits at one barrier: all go on. */
void engine_barrier_open(struct sm *sm, struct sm_cta *cta)
{
    for (uint32_t i = 0; i < cta->cta.task->cta_warps; i++) {
        struct warp *w = &sm->warp[cta->warp[i]];

        for (uint32_t pass = 0; pass < w->passes; pass++) {
            lanes_replace_byte(w->reason + pass * PPU_LANES, PPU_REASON_BARRIER, PPU_TOKEN_YIELD);
        }
        if (w->state == WARP_BARRIER) {
            w->state = WARP_READY;
        }
    }
    for (uint32_t id = 0; id < SM_WAITS; id++) {
        cta->barrier[id] = 0;
    }
    cta->waiting = 0;
}

void engine_barrier_check(struct exec *x, const struct lanes *mask)
{
    struct sm_cta *cta = x->cta;

    if (cta->waiting == 0 || cta->waiting < cta->threads_left) {
        return;
    }
    if (cta->barrier[SM_WAIT_CHILDREN] == cta->waiting) {
        cta->must_save = true;
        return;
    }
    for (uint32_t id = 0; id < PPU_BARRIERS; id++) {
        if (cta->barrier[id] == cta->waiting) {
            engine_barrier_open(x->sm, cta);
            return;
        }
    }
    for (uint32_t id = 0; id < PPU_BARRIERS; id++) {
        if (cta->barrier[id] != 0) {
            insn_fault(x, PPU_FAULT_BARRIER, id, PPU_ACCESS_READ, mask);
            return;
        }
    }
}

static void wait_at(struct warp *w, uint32_t id, const struct lanes *mask)
{
    for (uint32_t pass = 0; pass < w->passes; pass++) {
        if (mask->m[pass] == UINT32_MAX) {
            memset(w->barrier + pass * PPU_LANES, (int)id, PPU_LANES);
            continue;
        }
        for (uint32_t left = mask->m[pass]; left != 0; left &= left - 1) {
            w->barrier[pass * PPU_LANES + (uint32_t)__builtin_ctz(left)] = (uint8_t)id;
        }
    }
}

/*
 * The lanes wait; lanes of the warp that have not arrived go on before it, as after a yield. When all lanes of the
 * warp arrive together they stay active, so that their tokens stay in order.
 */
static enum step barrier(struct exec *x, uint32_t id, const struct lanes *mask)
{
    struct warp *w = x->w;
    uint32_t arrived = lanes_count(mask);

    x->cta->barrier[id] += arrived;
    x->cta->waiting += arrived;
    wait_at(w, id, mask);
    if (lanes_equal(mask, &w->live)) {
        w->state = WARP_BARRIER;
        engine_barrier_check(x, mask);
        if (w->state == WARP_FAULTED) {
            return STEP_FAULT;
        }
        w->pc++;
        return w->state == WARP_READY ? STEP_MOVED : STEP_ENDED;
    }
    engine_disable(w, mask, PPU_REASON_BARRIER, w->pc + 1);
    engine_barrier_check(x, mask);
    if (w->state == WARP_FAULTED) {
        return STEP_FAULT;
    }
    w->pc++;
    return lanes_any(&w->active) || engine_pop(x) ? STEP_MOVED : STEP_ENDED;
}

/* Children are waited for as at a barrier that opens when the CTA comes back (B7). */
static enum step wait_children(struct exec *x, const struct lanes *mask)
{
    if (x->cta->cta.save == DIST_NO_SAVE || (x->task->tmd.flags & PPU_TMD_CORESIDENT)) {
        return insn_fault(x, PPU_FAULT_NO_WAIT, 0, PPU_ACCESS_READ, mask);
    }
    return barrier(x, SM_WAIT_CHILDREN, mask);
}

/* ---- critical sections (B4): straight code that the warp does not leave, so that it is never saved in there ---- */

/* False: the instruction must not stand in the section, or the section is too long. */
static bool section_allows(struct warp *w, const struct ppu_insn *insn)
{
    if ((ppu_isa_row(insn->op)->flags & PPU_IF_B) || insn->op == PPU_OP_BAR || insn->op == PPU_OP_CWAIT ||
        insn->op == PPU_OP_CSENTER) {
        return false;
    }
    w->section--;
    return w->section != 0 || insn->op == PPU_OP_CSLEAVE;
}

/* ---- tasks, marks, traps ---- */

/* One start request a lane; lanes whose entry does not fit stay pending and the warp stalls (B1). */
static enum step start_launch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    struct lanes left = insn->scalar ? lanes_one(lanes_first(mask)) : *mask;

    while (lanes_any(&left)) {
        uint32_t lane = lanes_first(&left);
        struct lanes one = lanes_one(lane);
        struct ppu_start_event event = {
            .slot = x->task->slot,
            .task = x->task->tmd_off,
            .handle = exec_read(x, insn->ra, insn->a_scalar, lane),
            .former = insn->immed ? (uint32_t)insn->imm : exec_read(x, insn->rb, insn->b_scalar, lane),
            .context = x->task->tmd.context,
            .correlation = x->task->tmd.correlation,
        };

        if (!ring_push(x->core, PPU_RING_START, &event)) {
            engine_leave(x, &left);
            x->w->state = WARP_STALLED;
            return STEP_STOP;
        }
        trace_emit(x->core, PPU_TRACE_MARK, event.correlation, PPU_MARK_START_REQUEST, x->sm->number, 0);
        left = lanes_without(&left, &one);
    }
    return STEP_NEXT;
}

static enum step write_mark(struct exec *x, uint32_t value)
{
    struct warp *w = x->w;

    if (!w->held) {
        trace_emit(x->core, PPU_TRACE_MARK, x->task->tmd.correlation, value, x->sm->number, 0);
    }
    if (hook_holds(x->core, value)) {
        if (!w->held) {
            hook_count_held(x->core, true);
            keep_word(x);
            w->held = true;
        }
        w->state = WARP_STALLED;
        return STEP_STOP;
    }
    if (w->held) {
        hook_count_held(x->core, false);
        w->held = false;
    }
    return STEP_NEXT;
}

static enum step trap(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    uint32_t value = insn->immed ? (uint32_t)insn->imm : exec_read(x, insn->rb, insn->b_scalar, lanes_first(mask));

    return insn_fault(x, PPU_FAULT_TRAP, value, PPU_ACCESS_READ, mask);
}

/* ---- one instruction ---- */

static struct lanes guarded(const struct warp *w, uint32_t guard)
{
    const struct lanes *pred = &w->pred[guard & PPU_GUARD_PRED];

    if (guard == 0) {
        return w->active;
    }
    return guard & PPU_GUARD_NEGATE ? lanes_without(&w->active, pred) : lanes_and(&w->active, pred);
}

/* It needs all parts of the warp at one place. */
static bool waits_for_warp(uint32_t op)
{
    return op == PPU_OP_BAR || op == PPU_OP_CWAIT || op == PPU_OP_CSENTER;
}

enum step engine_dispatch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    if (ppu_isa_row(insn->op)->flags & PPU_IF_B) {
        return engine_branch(x, insn, mask);
    }
    pending_adds_order_any(x->sm);
    if (x->w->segment.on && waits_for_warp(insn->op)) {
        return engine_insn_fault(x, PPU_FAULT_SUBVECTOR, mask);
    }
    switch (insn->op) {
    case PPU_OP_NOP:
        return STEP_NEXT;
    case PPU_OP_FENCE:
        vram_fence();
        return STEP_NEXT;
    case PPU_OP_BAR:
        return barrier(x, (uint32_t)insn->imm, mask);
    case PPU_OP_CWAIT:
        return wait_children(x, mask);
    case PPU_OP_CSENTER:
        x->w->section = PPU_SECTION_INSNS + 1u;
        return STEP_NEXT;
    case PPU_OP_CSLEAVE:
        x->w->section = 0;
        return STEP_NEXT;
    case PPU_OP_TSTART:
        return start_launch(x, insn, mask);
    case PPU_OP_SEMREL:
    case PPU_OP_SEMRELT:
        return engine_release(x, insn, mask);
    case PPU_OP_TRAP:
        return trap(x, insn, mask);
    case PPU_OP_MARK:
        return write_mark(x, (uint32_t)insn->imm);
    default:
        break;
    }
    switch (insn->format) {
    case PPU_FMT_MEM:
    case PPU_FMT_GATHER:
        return engine_mem(x, insn, mask);
    case PPU_FMT_ATOM:
        return engine_atomic(x, insn, mask);
    default:
        break;
    }
    if (engine_lane(x, insn, mask)) {
        return STEP_NEXT;
    }
    return engine_insn_fault(x, PPU_FAULT_NOT_BUILT, mask);
}

/* One more than the last register of a set of lanes that the instruction delivers: as many as the wave needs. */
static uint32_t lanes_written(const struct exec *x)
{
    const struct ppu_insn *insn = &x->code->insn;

    switch (insn->op) {
    case PPU_OP_BALLOT:
    case PPU_OP_ACTIVE:
        return insn->rd + x->passes;
    default:
        return 0;
    }
}

enum step engine_execute(struct exec *x)
{
    struct warp *w = x->w;
    uint16_t fault = 0;
    uint64_t va = 0;

    x->code = warp_begun(w) ? decode_begun(x->sm, w->word) : decode_fetch(x->sm, x->task, w->pc, &fault, &va);
    if (!x->code) {
        return insn_fault(x, fault, va, PPU_ACCESS_FETCH, &w->active);
    }
    if (x->code->fault != 0) {
        return engine_insn_fault(x, x->code->fault, &w->active);
    }
    if (x->code->vregs > x->vregs || lanes_written(x) > (x->code->insn.scalar ? PPU_SREGS : x->vregs)) {
        return engine_insn_fault(x, PPU_FAULT_BAD_REGISTER, &w->active);
    }
    if (w->section != 0 && !warp_begun(w) && !section_allows(w, &x->code->insn)) {
        return engine_insn_fault(x, PPU_FAULT_SECTION, &w->active);
    }
    struct lanes mask = w->partial ? w->pending : guarded(w, x->code->insn.guard);
    w->partial = false;
    if (!lanes_any(&mask)) {
        return STEP_NEXT;
    }
    return x->code->vregs != 0 && w->sampled ? x->sm->engine->modelled_op_of(x->code)(x, x->code, &mask)
                                             : x->code->op(x, x->code, &mask);
}

/* What an access to system memory brought goes where the instruction that made it says. */
static enum step resume(struct exec *x)
{
    x->code = decode_begun(x->sm, x->w->word);
    return engine_mem_finish(x, &x->code->insn);
}

/* Sets what is the same for all warps of a task. */
static void exec_task(struct exec *x, struct sm *sm, const struct dist_task *task)
{
    x->core = sm->core;
    x->sm = sm;
    x->task = task;
    x->start = task->start;
    x->wave = task->tmd.wave;
    x->whole[0] = x->wave > PPU_LANES ? UINT64_MAX : UINT32_MAX;
    x->whole[1] = x->wave > 2 * PPU_LANES ? UINT64_MAX : 0;
    x->passes = x->wave / PPU_LANES;
    x->tlb_key = task->tmd.context | TLB_VALID;
    x->vram = sm->vram;
}

/* Ready to run a warp of this SM. */
static struct exec *exec_of(struct sm *sm, uint32_t index)
{
    struct exec *const x = &sm->exec;
    struct warp *const w = &sm->warp[index];
    struct sm_cta *const cta = &sm->cta[w->cta];

    if (x->start != cta->cta.task->start) {
        exec_task(x, sm, cta->cta.task);
    }
    x->cta = cta;
    x->stride = x->task->warp_vregs[cta->cta.wide];
    x->w = w;
    x->index = index;
    x->looped = false;
    x->vreg = (uint32_t *)(void *)(sm->file[SM_FILE_VREGS].bytes + cta->block[SM_FILE_VREGS].off) +
              (size_t)w->number * x->stride;
    x->shared = sm->file[SM_FILE_SHARED].bytes + cta->block[SM_FILE_SHARED].off;
    x->found = sm_tlb_found(sm, x->tlb_key);
    x->code = NULL;
    x->lanes = 0;
    x->counted = 0;
    if (w->segment.on || w->segment.open != 0 || w->sampled) {
        subvector_rows(x);
    } else {
        exec_rows(x);
    }
    return x;
}

/* True when the instruction was finished. */
static bool settle_access(struct exec *x)
{
    x->w->state = WARP_READY;
    if (resume(x) != STEP_NEXT) {
        return false; /* a fault, or lanes are left: the instruction goes on */
    }
    x->w->pc++;
    return true;
}

void engine_settle(struct sm *sm, uint32_t index)
{
    struct exec *const x = exec_of(sm, index);

    sm_file_enter(x);
    count_begin(x);
    count_end(x, settle_access(x));
    count_settle(sm, x->cta);
    sm_file_leave(sm);
}

static uint32_t turn(struct exec *x, uint32_t budget)
{
    uint32_t done = 0;

    if (x->w->state == WARP_SYSTEM) {
        count_begin(x);
        done = settle_access(x);
        count_turn(x, done, lanes_count(&x->w->active));
        if (x->w->state == WARP_FAULTED) {
            return done;
        }
    }
    x->w->state = WARP_READY;
    if (!count_begin_whole(x)) {
        if (!lanes_any(&x->w->active) && !engine_pop(x)) {
            return done;
        }
        count_begin(x);
    }
    return done + x->sm->engine->run(x, budget - done);
}

uint32_t engine_run(struct sm *sm, uint32_t index, uint32_t budget)
{
    struct exec *const x = exec_of(sm, index);

    sm_file_enter(x);
    uint32_t done = turn(x, budget);
    count_end(x, done);
    sm_file_leave(sm);
    return done;
}

bool engine_whole_begin(struct sm *sm, uint32_t index, struct engine_whole *whole)
{
    static const uint32_t zeros[PPU_MAX_VREGS * PPU_MAX_WAVE]; /* what registers begin with; they are not written */
    struct exec *const x = exec_of(sm, index);

    x->vreg = (uint32_t *)(uintptr_t)zeros;
    x->lanes = x->wave;
    whole->code = sm->engine->whole_code(x, &whole->translation);
    return whole->code;
}

uint32_t engine_whole_run(struct sm *sm, const struct engine_whole *whole, uint32_t *done)
{
    return sm->engine->run_whole(&sm->exec, whole->code, whole->translation, done);
}

bool engine_ready(struct sm *sm, uint32_t index)
{
    struct exec *const x = exec_of(sm, index);

    sm_file_enter(x);
    bool ready = lanes_any(&x->w->active) || engine_pop(x);
    sm_file_leave(sm);
    return ready;
}

uint32_t *engine_vector(struct sm *sm, uint32_t index, uint32_t reg, uint32_t lane)
{
    const struct exec *const x = exec_of(sm, index);
    const bool shared = x->w->segment.on && reg >= x->task->tmd.vregs;

    if (reg >= x->vregs || lane >= x->wave || (shared && lane / PPU_LANES != x->w->segment.part)) {
        return NULL;
    }
    return exec_vreg(x, reg) + lane;
}

/* The instruction that the warp executes next, and the lanes in which it has an effect; NULL: it cannot be executed. */
static const struct ppu_insn *insn_next(struct exec *x, struct lanes *mask)
{
    uint16_t fault = 0;
    uint64_t va = 0;
    const struct code_insn *code = warp_begun(x->w) ? NULL : decode_fetch(x->sm, x->task, x->w->pc, &fault, &va);

    if (!code || code->fault != 0) {
        return NULL;
    }
    *mask = guarded(x->w, code->insn.guard);
    return lanes_any(mask) ? &code->insn : NULL;
}

bool engine_writes(struct sm *sm, uint32_t index, const uint8_t *first, uint32_t bytes)
{
    struct exec *const x = exec_of(sm, index);
    struct lanes mask;
    const struct ppu_insn *insn = insn_next(x, &mask);

    sm_file_enter(x);
    const bool writes = insn && engine_mem_writes(x, insn, &mask, first, bytes);
    sm_file_leave(sm);
    return writes;
}

bool engine_writes_vector(struct sm *sm, uint32_t index, uint32_t reg, uint32_t lane)
{
    struct lanes mask;
    const struct ppu_insn *insn = insn_next(exec_of(sm, index), &mask);

    return insn && !insn->scalar && lanes_has(&mask, lane) && reg >= insn->rd && reg - insn->rd < insn->wd &&
           insn->op != PPU_OP_STG && insn->op != PPU_OP_STS && insn->op != PPU_OP_STL && insn->op != PPU_OP_STU;
}

uint64_t engine_local(struct sm *sm, uint32_t index, uint32_t lane, uint32_t offset)
{
    return engine_local_va(exec_of(sm, index), lane, offset);
}

/* Lanes that a token names are made active first: they are those that execute. */
uint32_t engine_step(struct sm *sm, uint32_t index, struct engine_stepped *stepped)
{
    struct exec *const x = exec_of(sm, index);
    struct warp *const w = x->w;
    uint32_t done = 0;

    sm_file_enter(x);
    if (w->state != WARP_SYSTEM) {
        w->state = WARP_READY;
    }
    if (w->state == WARP_SYSTEM || lanes_any(&w->active) || engine_pop(x)) {
        *stepped = (struct engine_stepped){ w->pc, lanes_count(&w->active) };
        done = turn(x, 1);
    }
    count_end(x, done);
    sm_file_leave(sm);
    return done;
}

/* ---- levels ---- */

const struct engine_level_ops *engine_choose(uint32_t wanted)
{
#ifdef ENGINE_HAS_LEVELS
    static const struct engine_level_ops *const levels[ENGINE_LEVEL_MOST + 1] = {
        NULL, &engine_level_ops_plain, &engine_level_ops_v2, &engine_level_ops_v3, &engine_level_ops_v4,
    };

    return levels[engine_level(wanted)];
#else
    return engine_level(wanted) == 1 ? &engine_level_ops_plain : NULL;
#endif
}
