/* SPDX-License-Identifier: MIT */
/*
 * Gives arithmetic a result wherever OpenCL C does: what LLVM calls undefined or poison lets its passes drop the code
 * that surrounds it. Needs no compilation: the device library is treated when it is made.
 */
#ifndef COMPILER_IRPASS_DEFINE_ARITHMETIC_H
#define COMPILER_IRPASS_DEFINE_ARITHMETIC_H

#include <llvm-c/Core.h>

void define_arithmetic(LLVMValueRef function);

#endif
