/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/duplicate_ends.h"

#include "compiler/analysis/ir.h"

#define MOST_SHARED 6u /* instructions of a block that are duplicated */

/* What a block that ends the thread has. */
struct end {
    const struct ir *ir; /* of before */
    LLVMBuilderRef builder;
    LLVMBasicBlockRef block;
    uint32_t insns; /* but for phis and the end */
};

/* The instructions of a block but for its phis and its end; false: some cannot be guarded. */
static bool count_guarded(LLVMBasicBlockRef block, uint32_t *count)
{
    LLVMValueRef insn = LLVMGetFirstInstruction(block);

    *count = 0;
    while (ir_is_instruction(insn, LLVMPHI)) {
        insn = LLVMGetNextInstruction(insn);
    }
    for (; !LLVMIsATerminatorInst(insn); insn = LLVMGetNextInstruction(insn)) {
        if (!ir_may_be_guarded(insn)) {
            return false;
        }
        *count += 1;
    }
    return true;
}

/* The one block that leads to another; NULL: there are several, or none. */
static LLVMBasicBlockRef only_pred(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));

    return use && !LLVMGetNextUse(use) && LLVMIsATerminatorInst(LLVMGetUser(use))
               ? LLVMGetInstructionParent(LLVMGetUser(use))
               : NULL;
}

/* The block parts warps, and is in no loop. */
static bool parts(const struct end *end, LLVMBasicBlockRef block)
{
    const struct flow *const flow = end->ir->flow;
    const uint32_t number = ir_block(end->ir, block);

    return number != FLOW_NONE && flow->blocks[number].loop == FLOW_NONE && flow->divergent[number];
}

/* A way on which little is done since a branch. */
static bool is_short_way(const struct end *end, LLVMBasicBlockRef from)
{
    LLVMBasicBlockRef pred = only_pred(from);
    uint32_t insns;

    return pred && parts(end, pred) && !ir_is_instruction(LLVMGetFirstInstruction(from), LLVMPHI) &&
           count_guarded(from, &insns) && insns + end->insns <= IR_MOST_GUARDED;
}

/* What a value of the block is on the way from `from`: a phi's operand, or the duplicate; others are themselves. */
static LLVMValueRef value_on(const struct end *end, LLVMBasicBlockRef from, LLVMValueRef *copies, LLVMValueRef value)
{
    uint32_t n = 0;

    if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != end->block) {
        return value;
    }
    for (uint32_t i = 0; ir_is_instruction(value, LLVMPHI) && i < LLVMCountIncoming(value); i++) {
        if (LLVMGetIncomingBlock(value, i) == from) {
            return LLVMGetIncomingValue(value, i);
        }
    }
    for (LLVMValueRef insn = LLVMGetFirstInstruction(end->block); insn != value; insn = LLVMGetNextInstruction(insn)) {
        n += !ir_is_instruction(insn, LLVMPHI);
    }
    return copies[n];
}

/* The block's instructions stand at the end of `from`, where the thread ends. */
static void duplicate(const struct end *end, LLVMBasicBlockRef from)
{
    LLVMValueRef copies[MOST_SHARED + 1] = { NULL };
    uint32_t count = 0;

    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(from));
    LLVMPositionBuilderAtEnd(end->builder, from);
    for (LLVMValueRef insn = LLVMGetFirstInstruction(end->block); insn; insn = LLVMGetNextInstruction(insn)) {
        if (ir_is_instruction(insn, LLVMPHI)) {
            continue;
        }
        LLVMValueRef copy = LLVMInstructionClone(insn);
        for (int i = 0; i < LLVMGetNumOperands(copy); i++) {
            LLVMSetOperand(copy, (unsigned)i, value_on(end, from, copies, LLVMGetOperand(copy, (unsigned)i)));
        }
        LLVMInsertIntoBuilder(end->builder, copy);
        copies[count++] = copy;
    }
}

/* The block's phis without the way from `from`; the C interface takes none away. */
static void drop_way(const struct end *end, LLVMBasicBlockRef from)
{
    for (LLVMValueRef phi = LLVMGetFirstInstruction(end->block), next; ir_is_instruction(phi, LLVMPHI); phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderBefore(end->builder, phi);
        LLVMValueRef other = LLVMBuildPhi(end->builder, LLVMTypeOf(phi), "");
        for (uint32_t i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            if (block != from) {
                LLVMAddIncoming(other, &value, &block, 1);
            }
        }
        LLVMReplaceAllUsesWith(phi, other);
        LLVMInstructionEraseFromParent(phi);
    }
}

/* Finds a short way to the block; how many ways lead there, and how many of them are long. */
static LLVMBasicBlockRef find_way(const struct end *end, uint32_t *ways, uint32_t *long_ways)
{
    LLVMBasicBlockRef found = NULL;

    *ways = *long_ways = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(end->block)); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef jump = LLVMGetUser(use);
        if (!LLVMIsATerminatorInst(jump)) {
            continue;
        }
        const bool is_short = LLVMGetNumSuccessors(jump) == 1 && is_short_way(end, LLVMGetInstructionParent(jump));
        found = is_short ? LLVMGetInstructionParent(jump) : found;
        *ways += 1;
        *long_ways += !is_short;
    }
    return found;
}

/* The block ends threads, and is small enough for two; `insns` receives what count_guarded() counts. */
static bool may_be_shared(LLVMBasicBlockRef block, uint32_t *insns)
{
    return ir_is_instruction(LLVMGetBasicBlockTerminator(block), LLVMRet) && count_guarded(block, insns) &&
           *insns != 0 && *insns <= MOST_SHARED;
}

static bool has_shared(LLVMValueRef function)
{
    uint32_t insns;

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        if (may_be_shared(block, &insns)) {
            return true;
        }
    }
    return false;
}

static void duplicate_block(const struct ir *ir, LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    struct end end = { ir, builder, block, 0 };
    uint32_t ways, long_ways;

    if (!may_be_shared(block, &end.insns)) {
        return;
    }
    /* Where all ways are short, they are guarded as they are. */
    for (LLVMBasicBlockRef from; (from = find_way(&end, &ways, &long_ways)) && ways > 1 && long_ways != 0;) {
        duplicate(&end, from);
        drop_way(&end, from);
    }
}

void duplicate_ends(struct compilation *compilation, LLVMValueRef function)
{
    if (!ir_is_kernel(function) || !has_shared(function)) {
        return;
    }
    struct ir *const ir = ir_new(compilation, function);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    ir_find_scalars(ir);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        duplicate_block(ir, builder, block);
    }
    LLVMDisposeBuilder(builder);
}
