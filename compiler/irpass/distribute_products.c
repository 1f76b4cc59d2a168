/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/distribute_products.h"

#include <llvm-c/DebugInfo.h>

#include "compiler/analysis/ir.h"

/* It is `opcode` with a constant, and wraps neither with nor without a sign. */
static bool is_exact(LLVMValueRef value, LLVMOpcode opcode)
{
    return ir_is_instruction(value, opcode) && ir_bits_of_integer(value) != 0 && LLVMGetNSW(value) &&
           LLVMGetNUW(value) && LLVMIsAConstantInt(LLVMGetOperand(value, 1));
}

static LLVMValueRef exact(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value)) {
        LLVMSetNSW(value, true);
        LLVMSetNUW(value, true);
    }
    return value;
}

static void distribute(LLVMValueRef product, void *opaque)
{
    LLVMBuilderRef builder = opaque;

    if (!is_exact(product, LLVMMul) || !is_exact(LLVMGetOperand(product, 0), LLVMAdd)) {
        return;
    }
    LLVMValueRef sum = LLVMGetOperand(product, 0), factor = LLVMGetOperand(product, 1);
    LLVMPositionBuilderBefore(builder, product);
    LLVMSetCurrentDebugLocation2(builder, LLVMInstructionGetDebugLoc(product));
    LLVMValueRef first = exact(LLVMBuildMul(builder, LLVMGetOperand(sum, 0), factor, ""));
    LLVMValueRef second = LLVMConstMul(LLVMGetOperand(sum, 1), factor);
    LLVMReplaceAllUsesWith(product, exact(LLVMBuildAdd(builder, first, second, "")));
    LLVMInstructionEraseFromParent(product);
}

void distribute_products(struct compilation *compilation, LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    ir_each_instruction(function, distribute, builder);
    LLVMDisposeBuilder(builder);
}
