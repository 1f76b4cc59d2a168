/* SPDX-License-Identifier: MIT */
/*
 * Gives each work-item its own copy of the structures that a kernel gets by value, where the kernel does more than read
 * them: the parameters are the same for all, and nothing can be written there.
 */
#ifndef COMPILER_IRPASS_COPY_ARGUMENTS_H
#define COMPILER_IRPASS_COPY_ARGUMENTS_H

#include "compiler/base/compilation.h"

/*
 * Copies those that are written, or whose address goes elsewhere than to loads and to choices between such structures.
 * Loads from the others get pointers that have not been converted to generic ones, so that what LLVM makes of several
 * such loads is one from the parameters, too (ir_memory_of()).
 */
void copy_arguments(struct compilation *compilation, LLVMValueRef function);

#endif
