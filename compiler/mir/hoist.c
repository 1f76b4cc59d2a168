/* SPDX-License-Identifier: MIT */
#include "compiler/mir/hoist.h"

#include "compiler/mir/subvector/insert.h"

#include <string.h>

/* Registers are compared by their physical registers, which several share. */
static bool same_ref(const struct mir *mir, struct mir_ref x, struct mir_ref y)
{
    const struct mir_reg *rx = &mir->regs[x.reg], *ry = &mir->regs[y.reg];

    if (x.reg == 0 || y.reg == 0) {
        return x.reg == y.reg;
    }
    return rx->class == ry->class && rx->phys + x.sub == ry->phys + y.sub;
}

/* Compares copies and constants, which have nothing else. A guarded one is the same as none. */
static bool same_insn(const struct mir *mir, const struct mir_insn *x, const struct mir_insn *y)
{
    return x->code.op == y->code.op && x->code.scalar == y->code.scalar && x->code.immed == y->code.immed &&
           x->code.imm == y->code.imm && same_ref(mir, x->d, y->d) && same_ref(mir, x->a, y->a) &&
           same_ref(mir, x->b, y->b) && x->guard.reg == 0 && y->guard.reg == 0;
}

static bool overlap(const struct mir *mir, const struct mir_operand *x, const struct mir_operand *y)
{
    const struct mir_reg *rx = &mir->regs[x->ref->reg], *ry = &mir->regs[y->ref->reg];
    uint32_t px = (uint32_t)rx->phys + x->ref->sub, py = (uint32_t)ry->phys + y->ref->sub;

    return rx->class == ry->class && px < py + y->words && py < px + x->words;
}

/* True when one writes what the other reads or writes. */
static bool depends(const struct mir *mir, struct mir_insn *x, struct mir_insn *y)
{
    struct mir_operand of_x[MIR_MAX_OPERANDS], of_y[MIR_MAX_OPERANDS];
    uint32_t n = mir_operands(x, of_x), m = mir_operands(y, of_y);

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < m; k++) {
            if ((of_x[i].def || of_y[k].def) && overlap(mir, &of_x[i], &of_y[k])) {
                return true;
            }
        }
    }
    return false;
}

/* The instruction in a block, with nothing before it that it must not pass; its number, or the block's count. */
static uint32_t find_same(const struct mir *mir, struct mir_block *block, struct mir_insn *insn)
{
    for (uint32_t i = 0; i < block->count; i++) {
        if (same_insn(mir, &block->insns[i], insn)) {
            return i;
        }
        if (depends(mir, &block->insns[i], insn) || block->insns[i].callee != 0 || subvector_begins(&block->insns[i]) ||
            subvector_ends(&block->insns[i])) {
            break;
        }
    }
    return block->count;
}

static bool may_move_up(const struct mir *mir, uint32_t block, struct mir_insn *insn)
{
    uint32_t words;
    bool is_constant = insn->code.op == PPU_OP_MOV && insn->code.immed;

    return (is_constant || mir_is_copy(insn, &words)) && insn->guard.reg == 0 &&
           !same_ref(mir, mir->blocks[block].cond, insn->d) &&
           (mir_class_of(mir, insn->d) != MIR_SCALAR || mir->flow->convergent[block]);
}

static void remove_insn(struct mir_block *block, uint32_t at)
{
    memmove(&block->insns[at], &block->insns[at + 1], (block->count - at - 1) * sizeof(block->insns[0]));
    block->count--;
}

static bool has_sides(const struct mir *mir, uint32_t b)
{
    const struct flow_block *at = &mir->flow->blocks[b];

    return mir->blocks[b].end == MIR_BRANCH && at->succ[0] != at->succ[1] &&
           mir->flow->blocks[at->succ[0]].pred_count == 1 && mir->flow->blocks[at->succ[1]].pred_count == 1;
}

static void move_up(struct mir *mir, uint32_t b)
{
    const struct flow_block *at = &mir->flow->blocks[b];
    struct mir_block *one = &mir->blocks[at->succ[0]], *other = &mir->blocks[at->succ[1]];

    for (uint32_t i = 0; i < one->count;) {
        struct mir_insn insn = one->insns[i];
        uint32_t same = may_move_up(mir, b, &insn) ? find_same(mir, other, &insn) : other->count;
        if (same == other->count || find_same(mir, one, &insn) != i) {
            i++;
            continue;
        }
        remove_insn(one, i);
        remove_insn(other, same);
        mir_add(mir, b, &insn);
    }
}

/* Copies of a register to itself: what they joined got one physical register by itself. */
static void drop_copies(struct mir *mir, struct mir_block *block)
{
    uint32_t kept = 0, words;

    for (uint32_t i = 0; i < block->count; i++) {
        const struct mir_insn *insn = &block->insns[i];
        bool copy = mir_is_copy(insn, &words) && insn->code.op != PPU_OP_POR && same_ref(mir, insn->d, insn->b);
        if (!copy) {
            block->insns[kept++] = *insn;
        }
    }
    block->count = kept;
}

void hoist(struct mir *mir)
{
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        drop_copies(mir, &mir->blocks[b]);
    }
    for (uint32_t b = mir->flow->count; b-- != 0;) {
        if (has_sides(mir, b)) {
            move_up(mir, b);
        }
    }
}
