/* SPDX-License-Identifier: MIT */
/* Declares the pass that takes vectors of integers of unusual widths out of memory and casts. */
#ifndef COMPILER_IRPASS_ODD_VECTORS_H
#define COMPILER_IRPASS_ODD_VECTORS_H

#include "compiler/base/compilation.h"

void odd_vectors_unpack(struct compilation *compilation, LLVMValueRef function);

#endif
