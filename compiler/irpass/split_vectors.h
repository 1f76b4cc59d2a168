/* SPDX-License-Identifier: MIT */
/* Splits loads and stores of vectors into those of their elements. */
#ifndef COMPILER_IRPASS_SPLIT_VECTORS_H
#define COMPILER_IRPASS_SPLIT_VECTORS_H

#include "compiler/base/compilation.h"

/* Splits vectors of integers and floats that are whole bytes; coalescing joins them again, perhaps with others. */
void split_vectors(struct compilation *compilation, LLVMValueRef function);

#endif
