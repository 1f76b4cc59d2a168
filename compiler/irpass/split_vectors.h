/* SPDX-License-Identifier: MIT */
/* Splits loads and stores of vectors into those of their elements. */
#ifndef COMPILER_IRPASS_SPLIT_VECTORS_H
#define COMPILER_IRPASS_SPLIT_VECTORS_H

#include "compiler/base/compilation.h"

/* Of vectors of integers and floats that are whole bytes; grouping joins them again, perhaps with other neighbours. */
void split_vectors(struct compilation *compilation, LLVMValueRef function);

#endif
