/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/guard.h"

#include "compiler/analysis/ir.h"

#include <llvm-c/DebugInfo.h>

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

/* With its name, by which reports call a variable. */
static void move_to_end(LLVMBuilderRef builder, LLVMValueRef insn)
{
    size_t len;

    LLVMInstructionRemoveFromParent(insn);
    LLVMInsertIntoBuilderWithName(builder, insn, LLVMGetValueName2(insn, &len));
}

/* Moves what stands before the instruction to a new block, which nothing ends yet. The rest keeps its identity. */
static LLVMBasicBlockRef split_before(LLVMBuilderRef builder, LLVMValueRef insn)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(LLVMGetInstructionParent(insn))));
    LLVMBasicBlockRef block = LLVMGetInstructionParent(insn), head = LLVMInsertBasicBlockInContext(context, block, "");

    redirect_branches(block, head);
    LLVMPositionBuilderAtEnd(builder, head);
    for (LLVMValueRef i; (i = LLVMGetFirstInstruction(block)) != insn;) {
        move_to_end(builder, i);
    }
    return head;
}

static void join_result(LLVMBuilderRef builder, LLVMValueRef insn, LLVMBasicBlockRef done, LLVMBasicBlockRef wrong,
                        LLVMBasicBlockRef rest)
{
    LLVMTypeRef type = LLVMTypeOf(insn);

    if (LLVMGetTypeKind(type) == LLVMVoidTypeKind || !LLVMGetFirstUse(insn)) {
        return;
    }
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(rest));
    LLVMValueRef phi = LLVMBuildPhi(builder, type, "");
    LLVMReplaceAllUsesWith(insn, phi);
    LLVMValueRef values[2] = { insn, LLVMConstNull(type) };
    LLVMBasicBlockRef from[2] = { done, wrong };
    LLVMAddIncoming(phi, values, from, 2);
}

void guard_instruction(struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef insn, LLVMValueRef ok)
{
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(insn);
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(insn);

    LLVMSetCurrentDebugLocation2(builder, NULL); /* else instructions that move would get it */
    LLVMBasicBlockRef head = split_before(builder, insn);
    LLVMBasicBlockRef done = LLVMInsertBasicBlockInContext(compilation->llvm, rest, "");
    LLVMBasicBlockRef wrong = LLVMInsertBasicBlockInContext(compilation->llvm, rest, "");

    LLVMPositionBuilderAtEnd(builder, done);
    move_to_end(builder, insn);
    LLVMInstructionSetDebugLoc(insn, location);
    LLVMBuildBr(builder, rest);
    LLVMPositionBuilderAtEnd(builder, head);
    LLVMBuildCondBr(builder, ok, done, wrong);
    join_result(builder, insn, done, wrong, rest);
    LLVMPositionBuilderAtEnd(builder, wrong);
    LLVMPositionBuilderBefore(builder, LLVMBuildBr(builder, rest));
    LLVMSetCurrentDebugLocation2(builder, location);
}

LLVMValueRef guard_beside(struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef insn,
                          LLVMValueRef holds)
{
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(insn);
    LLVMMetadataRef location = LLVMInstructionGetDebugLoc(insn);

    LLVMSetCurrentDebugLocation2(builder, NULL); /* else instructions that move would get it */
    LLVMBasicBlockRef head = split_before(builder, insn);
    LLVMBasicBlockRef beside = LLVMInsertBasicBlockInContext(compilation->llvm, rest, "");

    LLVMPositionBuilderAtEnd(builder, head);
    LLVMBuildCondBr(builder, holds, beside, rest);
    LLVMPositionBuilderAtEnd(builder, beside);
    LLVMValueRef end = LLVMBuildBr(builder, rest);
    LLVMInstructionSetDebugLoc(end, location);
    LLVMPositionBuilderBefore(builder, end);
    LLVMSetCurrentDebugLocation2(builder, location);
    return end;
}
