/* SPDX-License-Identifier: MIT */
/* Puts an instruction under a condition: where it does not hold, the instruction is left out. */
#ifndef COMPILER_IRPASS_SANITIZE_GUARD_H
#define COMPILER_IRPASS_SANITIZE_GUARD_H

#include "compiler/base/compilation.h"

/* Afterwards the builder stands where lanes go for which `ok` is false. The instruction's result is zero for them. */
void guard_instruction(struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef insn, LLVMValueRef ok);

#endif
