/* SPDX-License-Identifier: MIT */
/* Splits long basic blocks, because a pass of LLVM takes time that grows with the square of their length. */
#ifndef COMPILER_IRPASS_SPLIT_BLOCKS_H
#define COMPILER_IRPASS_SPLIT_BLOCKS_H

#include "compiler/base/compilation.h"

/* Leaves blocks of at most twice SPLIT_BLOCKS_INSNS instructions, phis left out. Simplifying the graph joins them. */
void split_blocks(struct compilation *compilation, LLVMValueRef function);

#define SPLIT_BLOCKS_INSNS 512u

#endif
