/* SPDX-License-Identifier: MIT */
/*
 * Splits integers of more than 64 bits into words of 32. No source has them, but LLVM's passes make them: a struct that
 * is copied and read in pieces becomes one integer and shifts. Loads and stores of integers whose size is no power of
 * two are split into those of such sizes.
 */
#ifndef COMPILER_IRPASS_SPLIT_INTEGERS_H
#define COMPILER_IRPASS_SPLIT_INTEGERS_H

#include "compiler/base/compilation.h"

void split_integers(struct compilation *compilation, LLVMValueRef function);

#endif
