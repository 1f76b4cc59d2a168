/* SPDX-License-Identifier: MIT */
/*
 * Splits kernels that are called by kernels: what is done when a kernel ends is not done when it returns to such a
 * caller. The kernel becomes a function, and a new kernel of its name, the wrapper, calls it.
 */
#ifndef COMPILER_IRPASS_KERNEL_WRAPPER_H
#define COMPILER_IRPASS_KERNEL_WRAPPER_H

#include "compiler/base/compilation.h"

/* Returns the wrapper: one block, a call and the end. The old kernel is the function. */
LLVMValueRef kernel_wrapper_split(struct compilation *compilation, LLVMValueRef kernel);
/* Splits all kernels that are called. */
void kernel_wrapper_split_called(struct compilation *compilation);

#endif
