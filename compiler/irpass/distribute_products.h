/* SPDX-License-Identifier: MIT */
/* Multiplies each part of a sum by a constant, while it is known that nothing wraps. */
#ifndef COMPILER_IRPASS_DISTRIBUTE_PRODUCTS_H
#define COMPILER_IRPASS_DISTRIBUTE_PRODUCTS_H

#include "compiler/base/compilation.h"

/*
 * Makes (x + a) * b, where neither wraps with or without a sign, x * b + a * b, of which the same is known. LLVM does
 * so as well, but forgets that they do not wrap with a sign. The turns of an unrolled loop have such indexes, which are
 * then no constant distance from each other (address-const-offset).
 */
void distribute_products(struct compilation *compilation, LLVMValueRef function);

#endif
