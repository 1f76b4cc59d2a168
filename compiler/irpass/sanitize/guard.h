/* SPDX-License-Identifier: MIT */
/* Puts instructions under a condition: one that is there, which is left out where it does not hold, or new ones. */
#ifndef COMPILER_IRPASS_SANITIZE_GUARD_H
#define COMPILER_IRPASS_SANITIZE_GUARD_H

#include "compiler/base/compilation.h"

/* Afterwards the builder stands where lanes go for which `ok` is false. The instruction's result is zero for them. */
void guard_instruction(struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef insn, LLVMValueRef ok);
/*
 * Afterwards the builder stands where lanes go first for which `holds` is true; all go on to the instruction. Returns
 * the branch that ends that place, for conditions within it.
 */
LLVMValueRef guard_beside(struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef insn,
                          LLVMValueRef holds);

#endif
