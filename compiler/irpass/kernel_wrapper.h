/* SPDX-License-Identifier: MIT */
/*
 * Gives kernels that are called by kernels a function of their own: what is done when a kernel ends is not done when it
 * returns to such a caller. The kernel becomes a function, and a new kernel of its name calls that.
 */
#ifndef COMPILER_IRPASS_KERNEL_WRAPPER_H
#define COMPILER_IRPASS_KERNEL_WRAPPER_H

#include "compiler/base/compilation.h"

/* The new kernel: one block, a call and the end. The old one is the function. */
LLVMValueRef outer_split(struct compilation *compilation, LLVMValueRef kernel);
/* Splits the kernels that are called. */
void kernel_wrapper_split(struct compilation *compilation);

#endif
