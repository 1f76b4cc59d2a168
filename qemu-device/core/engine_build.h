/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the engine that is compiled once for each level of the host's instruction set: what warps do most. Each
 * engine_<level>.c includes it after naming its level; the flags of the level are the build's.
 *
 * Whatever an operation here does not handle (a fault, system memory, a form that is rare) it leaves to the functions
 * of engine.h before it has changed anything, so that there is one place for each of those. Lanes of a pass are done
 * with loops over all 32 that compilers turn into vector instructions; a pass that is not whole computes all 32 and
 * keeps what the mask does not name.
 */
#ifndef PPU_CORE_ENGINE_BUILD_H
#define PPU_CORE_ENGINE_BUILD_H

#include "sm_state.h"

#include <math.h>
#include <string.h>

#define ALL_LANES UINT32_MAX
#define F32_NAN 0x7fc00000u
#define F64_NAN 0x7ff8000000000000ull

/* What the levels' objects export. */
#define BUILD_PASTE(a, b) a##b
#define BUILD_NAME(a, b) BUILD_PASTE(a, b)
#define BUILD_TABLE BUILD_NAME(engine_build_, ENGINE_LEVEL)

/* Lanes differ in nothing but their number: what one writes no other reads. */
#ifdef __clang__
#define EACH_LANE _Pragma("clang loop vectorize(assume_safety)") for (uint32_t i = 0; i < PPU_LANES; i++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (uint32_t i = 0; i < PPU_LANES; i++)
#endif
/* For each bit of a 32-bit set that is set, lowest first: a lane of a pass, or a register. */
#define BITS_EACH(set, i) \
    for (uint32_t left_ = (set), i = 0; left_ != 0 && ((i) = (uint32_t)__builtin_ctz(left_), true); left_ &= left_ - 1)

#define BUILD_INLINE static inline __attribute__((always_inline))

/* A register's 32 lanes of a pass. */
BUILD_INLINE uint32_t *row(const struct exec *x, uint32_t reg, uint32_t pass)
{
    exec_has(x, reg);
    return x->vreg + x->rows[reg] + (size_t)pass * PPU_LANES;
}

/* Words from a register's lanes to those of the next. */
BUILD_INLINE uint32_t row_step(const struct exec *x, uint32_t reg)
{
    return x->rows[reg + 1] - x->rows[reg];
}

/* The set of lanes whose word is not 0; words are 0 or all ones. */
#if defined(__AVX512DQ__)
#include <immintrin.h>
BUILD_INLINE uint32_t gather_mask(const uint32_t *words)
{
    return (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(words)) |
           (uint32_t)_mm512_movepi32_mask(_mm512_loadu_si512(words + PPU_LANES / 2)) << PPU_LANES / 2;
}
#elif defined(__AVX2__)
#include <immintrin.h>
BUILD_INLINE __m256i eight_words(const uint32_t *words)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)words);
}
/* Words to bytes, which are then four from each eighth of the vectors, and in order again. */
BUILD_INLINE uint32_t gather_mask(const uint32_t *words)
{
    const __m256i low = _mm256_packs_epi32(eight_words(words), eight_words(words + 8));
    const __m256i high = _mm256_packs_epi32(eight_words(words + 16), eight_words(words + 24));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);

    return (uint32_t)_mm256_movemask_epi8(_mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
}
#else
BUILD_INLINE uint32_t gather_mask(const uint32_t *words)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < PPU_LANES; i++) {
        set |= (words[i] & 1u) << i;
    }
    return set;
}
#endif

/* Two words of a set of lanes, in registers. */
BUILD_INLINE uint64_t half(const struct lanes *set, uint32_t n)
{
    uint64_t word;

    memcpy(&word, &set->m[2 * n], sizeof(word));
    return word;
}

BUILD_INLINE uint32_t count_of(const struct lanes *set)
{
    return (uint32_t)(__builtin_popcountll(half(set, 0)) + __builtin_popcountll(half(set, 1)));
}

#include "engine_build_alu.h"
#include "engine_build_steady.h"

#include "engine_build_lane.h"
#include "engine_build_mem.h"

/* ---- control ---- */

/* A branch that all active lanes take; others are for engine_branch.c. */
static enum step op_bra(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    if (mask != &x->w->active && !lanes_equal(mask, &x->w->active)) {
        return engine_branch(x, &code->insn, mask);
    }
    x->w->pc += (uint32_t)code->insn.imm;
    return STEP_MOVED;
}

/* These may change the set of active lanes, which the mask may be, and what the loop below looks at only now and then.
 */
static enum step op_other(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const struct lanes set = *mask;
    enum step step = engine_dispatch(x, &code->insn, &set);

    if (step == STEP_NEXT) {
        x->w->pc++;
        return STEP_MOVED;
    }
    return step;
}

/* The last lanes of a warp that has no tokens end; others are for engine_branch.c. */
static enum step op_exit(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    struct warp *const w = x->w;

    if (w->token_count != 0 || w->parts.on || x->cta->waiting != 0 || !lanes_equal(mask, &w->live)) {
        return op_other(x, code, mask);
    }
    memset(w->reason, PPU_REASON_ENDED, sizeof(w->reason));
    x->cta->threads_left -= count_of(mask);
    w->active = w->live = (struct lanes){ { 0 } };
    w->turned = true;
    w->state = WARP_DONE;
    w->pc++;
    return STEP_ENDED;
}

static engine_op *op_of(const struct code_insn *code)
{
    engine_op *op = code->insn.op == PPU_OP_BRA ? op_bra : code->insn.op == PPU_OP_EXIT ? op_exit : steady_op(code);

    op = op != NULL ? op : alu_op(code);
    op = op != NULL ? op : lane_op(code);
    op = op != NULL ? op : mem_op(&code->insn);
    return op != NULL ? op : op_other;
}

#include "engine_build_cache.h"

/* ---- a warp ---- */

BUILD_INLINE bool guarded(const struct warp *w, uint32_t guard, struct lanes *mask)
{
    const struct lanes *const pred = &w->pred[guard & PPU_GUARD_PRED];
    const uint64_t flip = guard & PPU_GUARD_NEGATE ? UINT64_MAX : 0;
    const uint64_t low = half(&w->active, 0) & (half(pred, 0) ^ flip);
    const uint64_t high = half(&w->active, 1) & (half(pred, 1) ^ flip);

    memcpy(&mask->m[0], &low, sizeof(low));
    memcpy(&mask->m[2], &high, sizeof(high));
    return (low | high) != 0;
}

BUILD_INLINE enum step plain_step(struct exec *x, const struct code_insn *code)
{
    const struct lanes *lanes = &x->w->active;
    const uint32_t guard = code->insn.guard;
    struct lanes mask;

    if (guard != 0) {
        if (!guarded(x->w, guard, &mask)) {
            return STEP_NEXT;
        }
        lanes = &mask;
    }
    x->code = code;
    x->steady &= code->keeps;
    return code->op(x, code, lanes);
}

/* Instructions one behind the other, 1 to `most` of them, until one is not plain or does anything but go on. */
BUILD_INLINE enum step run_straight(struct exec *x, const struct code_insn *code, uint32_t most, uint32_t *done)
{
    const struct code_insn *const end = code + most;
    const struct code_insn *at = code;
    struct warp *const w = x->w;
    enum step step;

    do {
        step = plain_step(x, at);
        if (step != STEP_NEXT) {
            break;
        }
        w->pc++;
        at++;
    } while (at != end && at->plain <= x->plain);
    *done += (uint32_t)(at - code);
    return step;
}

#include "engine_build_prologue.h"

/* As run() after `done` instructions. */
BUILD_INLINE uint32_t run_from(struct exec *x, uint32_t done, uint32_t budget)
{
    struct warp *const w = x->w;
    struct code_window window = x->sm->window;

    if (window.start != x->task->start) {
        window.count = 0;
    }
    while (done < budget) {
        const uint32_t pc = w->pc;
        enum step step;

        if (pc - window.first >= window.count) {
            decode_window(x->sm, x->task, pc);
            window = x->sm->window;
        }
        if (window.count == 0 || window.insn[pc - window.first].plain > x->plain ||
            (w->section | w->partial | w->held) != 0) {
            step = engine_execute(x);
            x->steady = 0;
            window.count = x->sm->window.count; /* none, when its page has given place to another */
            if (step == STEP_NEXT) {
                w->pc = pc + 1;
                done++;
            }
        } else {
            const uint32_t left = window.first + window.count - pc, more = budget - done;
            const uint32_t most = left < more ? left : more;
            step = run_straight(x, &window.insn[pc - window.first], most < SM_LOOK ? most : SM_LOOK, &done);
        }
        if (step == STEP_MOVED) {
            done++;
            if (COUNTED && w->turned) {
                count_turn(x, done, count_of(&w->active));
            }
            if (w->pc <= pc) {
                x->looped = true;
            }
        } else if (step != STEP_NEXT) {
            return done + (step == STEP_ENDED);
        }
        if (sm_attention(x->sm)) {
            return done;
        }
    }
    return done;
}

/* As engine_run() of a warp that has active lanes. */
static uint32_t run(struct exec *x, uint32_t budget)
{
    const struct program *const program = &x->sm->program;
    const uint32_t prologue = program->prologue.insns;
    const bool fresh = x->w->fresh;
    uint32_t done = 0;

    x->w->fresh = false;
    if (fresh && prologue != 0 && prologue < budget && program->start == x->task->start) {
        if (x->cta->begun == prologue) {
            prologue_give(x, &program->prologue);
            done = prologue;
        } else {
            const uint32_t pc = x->w->pc;
            done = run_from(x, 0, prologue);
            if (done != prologue || x->w->pc - pc != prologue) {
                return done;
            }
            prologue_keep(x, &program->prologue);
        }
    }
    return run_from(x, done, budget);
}

const struct engine_build BUILD_TABLE = {
    .run = run,
    .op_of = op_of,
    .modelled_op_of = modelled_op_of,
};

#endif
