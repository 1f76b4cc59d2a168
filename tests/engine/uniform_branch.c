/* SPDX-License-Identifier: MIT */
/*
 * Takes the place of engine/branch.c in a machine whose warps cannot diverge: no tokens, no reasons, no sets of lanes.
 * The yardstick for what warps that never diverge pay for divergence (bench_uniform.c); runs uniform kernels only.
 */
#include "ppu/image.h"
#include "ppu/isa.h"
#include "ppu/token.h"
#include "qemu-device/core/engine/barrier.h"
#include "qemu-device/core/engine/branch.h"
#include "qemu-device/core/sm/cta.h"
#include "qemu-device/core/sm/exec.h"
#include "qemu-device/core/sm/lanes.h"
#include "qemu-device/core/sm/step.h"
#include "qemu-device/core/sm/warp.h"

void engine_disable(struct warp *w, const struct lanes *set, uint32_t reason, uint32_t pc)
{
    (void)reason, (void)pc;
    w->active = lanes_without(&w->active, set);
}

void engine_enable(struct warp *w, const struct lanes *set, uint32_t pc)
{
    w->active = lanes_or(&w->active, set);
    w->pc = pc;
}

void engine_drop_stale(struct exec *x)
{
    (void)x;
}

bool engine_pop(struct exec *x)
{
    x->w->state = lanes_any(&x->w->live) ? WARP_BARRIER : WARP_DONE;
    return false;
}

static enum step leave(struct exec *x, const struct lanes *mask)
{
    struct warp *w = x->w;

    w->active = w->live = (struct lanes){ { 0 } };
    x->cta->threads_left -= lanes_count(mask);
    engine_barrier_check(x, mask);
    w->state = WARP_DONE;
    w->pc++;
    return STEP_ENDED;
}

enum step engine_branch(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    switch (insn->op) {
    case PPU_OP_BRA:
        x->w->pc += (uint32_t)insn->imm;
        return STEP_MOVED;
    case PPU_OP_JMP:
        x->w->pc = (uint32_t)insn->imm;
        return STEP_MOVED;
    default:
        return leave(x, mask);
    }
}
