/* SPDX-License-Identifier: MIT */
/* Marks loops that LLVM is to unroll (F4). */
#ifndef COMPILER_IRPASS_UNROLL_H
#define COMPILER_IRPASS_UNROLL_H

#include "compiler/base/compilation.h"

/* Keeps LLVM's loop vectorizer, which takes bytes for vectors, from all loops. Before its passes. */
void unroll_disable_vectorize(struct compilation *compilation, LLVMValueRef function);
/*
 * Asks LLVM's unroller for some turns at a time of each innermost loop that accesses memory and that lanes leave
 * together, with a loop for the turns that remain. What the source says about unrolling a loop stays.
 */
void unroll_mark(struct compilation *compilation, LLVMValueRef function);

#endif
