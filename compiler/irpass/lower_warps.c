/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/lower_warps.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"

#define SCRATCH "__ppu_group_scratch"
#define SCRATCH_ALIGN 16u
#define SCRATCH_WORD_BYTES 8u /* the largest scalar */

static bool reads_wave(LLVMValueRef call)
{
    LLVMValueRef number = LLVMGetOperand(call, 0);

    return LLVMIsAConstantInt(number) && LLVMConstIntGetZExtValue(number) == PPU_SR_WAVE;
}

static void substitute(LLVMValueRef call, LLVMValueRef value)
{
    LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
}

/* A pair of values for each warp of the largest work-group. One variable serves all calls of a kernel. */
static LLVMValueRef scratch_of(struct compilation *compilation)
{
    LLVMTypeRef byte = LLVMInt8TypeInContext(compilation->llvm);
    LLVMTypeRef type =
        LLVMArrayType2(byte, (uint64_t)2 * SCRATCH_WORD_BYTES * (PPU_MAX_CTA_THREADS / compilation->wave));
    LLVMValueRef scratch = LLVMAddGlobalInAddressSpace(compilation->module, type, "ppu.scratch", SPACE_LOCAL);

    LLVMSetLinkage(scratch, LLVMInternalLinkage);
    LLVMSetInitializer(scratch, LLVMGetUndef(type));
    LLVMSetAlignment(scratch, SCRATCH_ALIGN);
    return scratch;
}

static void each_call(LLVMValueRef function, void (*visit)(void *arg, LLVMValueRef call), void *arg)
{
    LLVMUseRef use = function ? LLVMGetFirstUse(function) : NULL;

    while (use) {
        LLVMValueRef call = LLVMGetUser(use);
        use = LLVMGetNextUse(use); /* the call may go */
        if (ir_is_instruction(call, LLVMCall)) {
            visit(arg, call);
        }
    }
}

static void lower_register(void *arg, LLVMValueRef call)
{
    const struct compilation *compilation = arg;

    if (reads_wave(call)) {
        substitute(call, LLVMConstInt(LLVMInt32TypeInContext(compilation->llvm), compilation->wave, false));
    }
}

static void lower_scratch(void *arg, LLVMValueRef call)
{
    substitute(call, arg);
}

void lower_warps(struct compilation *compilation)
{
    LLVMValueRef scratch = LLVMGetNamedFunction(compilation->module, SCRATCH);

    each_call(LLVMGetNamedFunction(compilation->module, "__ppu_sr"), lower_register, compilation);
    if (scratch && LLVMGetFirstUse(scratch)) {
        each_call(scratch, lower_scratch, scratch_of(compilation));
    }
}
