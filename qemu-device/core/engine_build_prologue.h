/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prologues (struct prologue): executed by one warp of a CTA, kept, and given to the others. Part of engine_build.h.
 */
#ifndef PPU_CORE_ENGINE_BUILD_PROLOGUE_H
#define PPU_CORE_ENGINE_BUILD_PROLOGUE_H

/* What the warp has now that its prologue is through. */
static void prologue_keep(struct exec *x, const struct prologue *prologue)
{
    struct prologue_done *const done = &x->cta->done;

    if ((prologue->vregs & ~x->steady) != 0) {
        return;
    }
    x->cta->begun = prologue->insns;
    done->warp = x->w->number;
    memcpy(done->sreg, x->w->sreg, prologue->sregs * sizeof(done->sreg[0]));
    BITS_EACH(prologue->vregs, reg)
    {
        done->vreg[reg] = row(x, reg, 0)[0];
    }
}

/* The same for a warp as fresh as that one was. Its threads are as much further as it is. */
static void prologue_give(struct exec *x, const struct prologue *prologue)
{
    const struct prologue_done *const done = &x->cta->done;
    const uint32_t further = (x->w->number - done->warp) * x->wave;

    memcpy(x->w->sreg, done->sreg, prologue->sregs * sizeof(done->sreg[0]));
    BITS_EACH(prologue->vregs, reg)
    {
        steady_put(x, reg, done->vreg[reg] + further, 1);
    }
    x->w->pc += prologue->insns;
}

#endif
