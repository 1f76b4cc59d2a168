/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/keep_variables.h"

#include "compiler/analysis/ir.h"

#include <string.h>

#define COPY_VOLATILE 3u /* the operand of a copy that says whether it is volatile */

static bool is_copy(LLVMValueRef call)
{
    const char *name = ir_callee(call);

    return strncmp(name, "llvm.memcpy.", 12) == 0 || strncmp(name, "llvm.memmove.", 13) == 0 ||
           strncmp(name, "llvm.memset.", 12) == 0;
}

static void keep_accesses(struct compilation *compilation, LLVMValueRef pointer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);

        if (ir_is_instruction(user, LLVMLoad) ||
            (ir_is_instruction(user, LLVMStore) && LLVMGetOperand(user, 1) == pointer)) {
            LLVMSetVolatile(user, true);
        } else if (ir_is_instruction(user, LLVMGetElementPtr) || ir_is_instruction(user, LLVMAddrSpaceCast)) {
            keep_accesses(compilation, user);
        } else if (ir_is_instruction(user, LLVMCall) && is_copy(user)) {
            LLVMSetOperand(user, COPY_VOLATILE, LLVMConstInt(LLVMInt1TypeInContext(compilation->llvm), 1, 0));
        }
    }
}

void keep_variables(struct compilation *compilation, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (ir_is_instruction(i, LLVMAlloca)) {
                keep_accesses(compilation, i);
            }
        }
    }
}
