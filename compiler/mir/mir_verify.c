/* SPDX-License-Identifier: MIT */
#include "compiler/mir/mir_verify.h"

#include "compiler/mir/liveness.h"
#include "compiler/mir/mir.h"

struct verifier {
    struct mir *mir;
    const char *pass;
    uint32_t block;
    uint32_t insn;
};

static void wrong(const struct verifier *v, const char *what)
{
    compilation_fail(v->mir->compilation, PPU_COMPILE_UNSUPPORTED,
                     "internal error: kernel '%s', after %s, block %u, instruction %u (%s): %s", v->mir->name, v->pass,
                     v->block, v->insn,
                     v->insn < v->mir->blocks[v->block].count
                         ? ppu_isa_row(v->mir->blocks[v->block].insns[v->insn].code.op)->mnemonic
                         : "end",
                     what);
}

static void verify_operand(const struct verifier *v, const struct mir_insn *insn, const struct mir_operand *o)
{
    const struct mir_reg *reg;

    if (o->ref->reg >= v->mir->reg_count) {
        wrong(v, "a register that does not exist");
    }
    reg = &v->mir->regs[o->ref->reg];
    if (o->pred != (reg->class == MIR_PRED)) {
        wrong(v, "a predicate where a value stands, or the other way round");
    }
    if (o->ref->sub + o->words > reg->words || o->ref->sub % o->words != 0) {
        wrong(v, "words that the register does not have, or misaligned ones");
    }
    if (o->ref->negated && !o->pred) {
        wrong(v, "a negated register that is no predicate");
    }
    if (o->def && reg->class == MIR_SCALAR && (!insn->code.scalar || !v->mir->flow->convergent[v->block])) {
        wrong(v, "a scalar register written by a vector operation, or where the warp is not together");
    }
    if (mir_is_store(insn->code.op) && o->ref == &insn->d && reg->class == MIR_SCALAR && !insn->code.scalar) {
        wrong(v, "a vector store of a scalar register");
    }
    if (!o->def && insn->code.scalar && !o->pred && reg->class == MIR_VECTOR && !mir_reads_lane(insn->code.op)) {
        wrong(v, "a scalar operation that reads a vector register");
    }
}

/* Nothing is read before it is written. */
static void verify_entry(struct mir *mir, const char *pass)
{
    const uint32_t unwritten = liveness_first_unwritten(mir);
    uint32_t reg = 1;

    if (unwritten == 0) {
        return;
    }
    while (reg + 1 < mir->reg_count && unwritten - 1 >= mir->regs[reg].word + mir->regs[reg].words) {
        reg++;
    }
    compilation_fail(mir->compilation, PPU_COMPILE_UNSUPPORTED,
                     "internal error: kernel '%s', after %s: register %u is read before it is written", mir->name, pass,
                     reg);
}

void mir_verify(struct mir *mir, const char *pass)
{
    struct verifier v = { mir, pass, 0, 0 };
    struct mir_operand operands[MIR_MAX_OPERANDS];

    for (v.block = 0; v.block < mir->flow->count; v.block++) {
        struct mir_block *block = &mir->blocks[v.block];
        uint32_t succs = block->end == MIR_BRANCH ? 2 : block->end == MIR_JUMP;
        for (v.insn = 0; v.insn < block->count; v.insn++) {
            struct mir_insn *insn = &block->insns[v.insn];
            uint32_t n = mir_operands(insn, operands);
            for (uint32_t o = 0; o < n; o++) {
                verify_operand(&v, insn, &operands[o]);
            }
        }
        if (succs != mir->flow->blocks[v.block].succs) {
            wrong(&v, "not the successors of the flow graph");
        }
        if (block->end == MIR_BRANCH && mir->regs[block->cond.reg].class != MIR_PRED) {
            wrong(&v, "a condition that is no predicate");
        }
    }
    verify_entry(mir, pass);
}
