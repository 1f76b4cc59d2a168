/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/lower_memcpy.h"

#include "compiler/analysis/ir.h"
#include "compiler/analysis/memcpy_call.h"

#include <stdio.h>
#include <string.h>

/* The beginning of the function that does it, NULL: the call is none of these, or short. */
static const char *function_for(LLVMValueRef call)
{
    const char *name = ir_callee(call);
    bool copy = strncmp(name, "llvm.memcpy.", 12) == 0, fill = strncmp(name, "llvm.memset.", 12) == 0;

    if (strncmp(name, "llvm.memmove.", 13) == 0) { /* nothing overlaps what is constant */
        return ir_pointer_space(LLVMGetOperand(call, 1)) == SPACE_CONSTANT ? "copy" : "move";
    }
    if (!copy && !fill) {
        return NULL;
    }
    LLVMValueRef size = LLVMGetOperand(call, 2);
    if (LLVMIsAConstantInt(size) && LLVMConstIntGetZExtValue(size) <= MEMCPY_WRITTEN_OUT) {
        return NULL;
    }
    return copy ? "copy" : "fill";
}

static void replace(struct compilation *compilation, LLVMValueRef call, const char *what)
{
    LLVMValueRef to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1);
    LLVMTypeRef word = LLVMInt32TypeInContext(compilation->llvm), wide = LLVMInt64TypeInContext(compilation->llvm);
    LLVMTypeRef types[4] = { LLVMTypeOf(to), LLVMTypeOf(from), wide, word };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(compilation->llvm), types, 4, 0);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    char name[32], space[12] = "";

    if (strcmp(what, "fill") != 0) {
        snprintf(space, sizeof(space), "%u", ir_pointer_space(from));
    }
    snprintf(name, sizeof(name), "__ppu_%s_%u%s", what, ir_pointer_space(to), space);
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, name);
    if (!function) {
        function = LLVMAddFunction(compilation->module, name, type);
    }
    LLVMPositionBuilderBefore(builder, call); /* it keeps its place in the source */
    LLVMValueRef operands[4] = { to, from, LLVMBuildZExtOrBitCast(builder, LLVMGetOperand(call, 2), wide, ""),
                                 LLVMConstInt(word, memcpy_call_align(call), 0) };
    LLVMBuildCall2(builder, type, function, operands, 4, "");
    LLVMDisposeBuilder(builder);
    LLVMInstructionEraseFromParent(call);
}

bool lower_memcpy(struct compilation *compilation)
{
    bool any = false;

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
                next = LLVMGetNextInstruction(i);
                const char *what = ir_is_instruction(i, LLVMCall) ? function_for(i) : NULL;
                if (what) {
                    replace(compilation, i, what);
                    any = true;
                }
            }
        }
    }
    return any;
}
