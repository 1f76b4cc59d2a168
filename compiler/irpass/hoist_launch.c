/* SPDX-License-Identifier: MIT */
/*
 * All functions of OpenCL C are convergent for clang, and LLVM leaves calls of such functions where they are. So a loop
 * up to get_global_size() would read that each turn, and by vector registers behind a branch that parts the warp. What
 * these calls give is the same wherever they are.
 */
#include "compiler/irpass/hoist_launch.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"
#include "ppu/image.h"

#include <stddef.h>

/* What work-item functions tell. The library reads the rest where it enqueues: to keep that costs registers. */
static bool is_of_work_items(enum primitive primitive, uint64_t number)
{
    if (primitive == PRIMITIVE_LAUNCH) {
        return number < offsetof(struct ppu_implicit_args, code_va) ||
               number == offsetof(struct ppu_implicit_args, work_dim);
    }
    return number <= PPU_SR_NCTA_Z || number == PPU_SR_TID || (number >= PPU_SR_SIZE_X && number <= PPU_SR_LAST_Z);
}

static bool is_read(LLVMValueRef insn)
{
    if (!ir_is_instruction(insn, LLVMCall)) {
        return false;
    }
    const enum primitive primitive = primitive_find(ir_callee(insn));
    return (primitive == PRIMITIVE_SR || primitive == PRIMITIVE_LAUNCH) &&
           LLVMIsAConstantInt(LLVMGetOperand(insn, 0)) &&
           is_of_work_items(primitive, LLVMConstIntGetZExtValue(LLVMGetOperand(insn, 0)));
}

void hoist_launch(struct compilation *compilation, LLVMValueRef function)
{
    if (compilation->options->sanitize != 0) {
        return; /* reports ask for all of it, and registers are what limits the size of a work-group there */
    }
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);

    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(entry));
    for (LLVMBasicBlockRef b = LLVMGetNextBasicBlock(entry); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (is_read(i)) {
                LLVMInstructionRemoveFromParent(i);
                LLVMInsertIntoBuilder(builder, i);
            }
        }
    }
    LLVMDisposeBuilder(builder);
}
