/* SPDX-License-Identifier: MIT */
/* Compiles one kernel, from IR to machine code. */
#ifndef COMPILER_KERNEL_COMPILE_H
#define COMPILER_KERNEL_COMPILE_H

#include "compiler/base/kernel.h"

/* Lays out arguments and reads the attributes of a kernel. */
void kernel_describe(struct compilation *compilation, struct kernel_info *kernel, LLVMValueRef function);
/* IR of one kernel to code at the end of compilation->code. */
void kernel_compile(struct compilation *compilation, struct kernel_info *kernel);

#endif
