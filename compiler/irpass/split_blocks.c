/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/split_blocks.h"

#include "compiler/analysis/ir.h"

/* Instructions of the block, its phis left out. */
static uint32_t block_length(LLVMBasicBlockRef block)
{
    uint32_t length = 0;

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        length += !ir_is_instruction(i, LLVMPHI);
    }
    return length;
}

/* Makes the branches to `from` lead to `to`. A switch may lead there several times: these uses go together. */
static void redirect_branches(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    for (LLVMUseRef use; (use = LLVMGetFirstUse(LLVMBasicBlockAsValue(from)));) {
        LLVMValueRef branch = LLVMGetUser(use);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(branch); s++) {
            if (LLVMGetSuccessor(branch, s) == from) {
                LLVMSetSuccessor(branch, s, to);
            }
        }
    }
}

/*
 * Moves the phis of the block and its first instructions to a new block before it. The rest keeps its identity, so that
 * phis of its successors still name where they are reached from.
 */
static void split_off_head(LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(context, block, "");
    LLVMValueRef insn = LLVMGetFirstInstruction(block);

    redirect_branches(block, head);
    LLVMPositionBuilderAtEnd(builder, head);
    for (uint32_t moved = 0; moved < SPLIT_BLOCKS_INSNS;) {
        LLVMValueRef next = LLVMGetNextInstruction(insn);
        moved += !ir_is_instruction(insn, LLVMPHI);
        LLVMInstructionRemoveFromParent(insn);
        LLVMInsertIntoBuilder(builder, insn);
        insn = next;
    }
    LLVMBuildBr(builder, block);
}

void split_blocks(struct compilation *compilation, LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (uint32_t length = block_length(block); length > 2 * SPLIT_BLOCKS_INSNS; length -= SPLIT_BLOCKS_INSNS) {
            split_off_head(builder, block);
        }
    }
    LLVMDisposeBuilder(builder);
}
