/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers that are known to be steady: that of lane i is that of lane 0 + i * step (exec.steady). Most addresses are
 * made of the number of the thread, so what such a register gives is known, too, and nobody has to look at its lanes.
 * Part of engine_build.h.
 */
#ifndef PPU_CORE_ENGINE_BUILD_STEADY_H
#define PPU_CORE_ENGINE_BUILD_STEADY_H

/* ---- looked for ---- */

static __attribute__((noinline)) bool is_steady(const struct exec *x, uint32_t reg, uint32_t step)
{
    uint32_t expected = row(x, reg, 0)[0], differ = 0;

    for (uint32_t pass = 0; pass < x->passes; pass++, expected += PPU_LANES * step) {
        const uint32_t *const lanes = row(x, reg, pass);
        EACH_LANE
        {
            differ |= lanes[i] ^ (expected + i * step);
        }
    }
    return differ == 0;
}

/*
 * True when a register of lane i is that of lane 0 + i * step. Loops use the same address registers again and again:
 * what was found out is kept until the register is written.
 */
BUILD_INLINE bool steady_whole(struct exec *x, const struct code_insn *code, uint32_t reg, uint32_t step)
{
    if (reg >= EXEC_STEADY) {
        return is_steady(x, reg, step);
    }
    if ((x->steady >> reg & 1u) == 0) {
        if (!is_steady(x, reg, step)) {
            return false;
        }
        x->steady |= code->keeps & 1u << reg;
        x->step[reg] = step;
    }
    return x->step[reg] == step;
}

/* ---- made ---- */

BUILD_INLINE bool is_known(const struct exec *x, uint32_t reg)
{
    return reg < EXEC_STEADY && (x->steady >> reg & 1u) != 0;
}

/* Gives a register of all lanes the values first, first + step, ... */
BUILD_INLINE void steady_put(struct exec *x, uint32_t reg, uint32_t first, uint32_t step)
{
    uint32_t *to = row(x, reg, 0);

    for (uint32_t pass = 0; pass < x->passes; pass++, to += PPU_LANES, first += PPU_LANES * step) {
        EACH_LANE
        {
            to[i] = first + i * step;
        }
    }
    if (reg < EXEC_STEADY) {
        x->steady |= 1u << reg;
        x->step[reg] = step;
    }
}

/* A vector register and what is the same for all lanes: decode.c leaves it to this whether the sum is steady. */
static enum step op_add_steady(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const struct ppu_insn *const insn = &code->insn;
    const bool a_same = code->kinds & CODE_SAME_A;
    const uint32_t reg = a_same ? insn->rb : insn->ra;

    if (is_known(x, reg) && whole(x, mask)) {
        const uint32_t more = a_same ? x->w->sreg[insn->ra] : insn->immed ? code->imm[0] : x->w->sreg[insn->rb];
        steady_put(x, insn->rd, row(x, reg, 0)[0] + more, x->step[reg]);
        return STEP_NEXT;
    }
    if (insn->rd < EXEC_STEADY) {
        x->steady &= ~(1u << insn->rd);
    }
    return a_same ? op_ADD_a(x, code, mask) : op_ADD_b(x, code, mask);
}

/* NULL: not one of these. */
static engine_op *steady_op(const struct code_insn *code)
{
    return code->steady ? op_add_steady : NULL;
}

#endif
