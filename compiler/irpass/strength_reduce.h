/* SPDX-License-Identifier: MIT */
/* Reduces strength: addresses that a loop computes anew each turn become pointers that it moves on. */
#ifndef COMPILER_IRPASS_STRENGTH_REDUCE_H
#define COMPILER_IRPASS_STRENGTH_REDUCE_H

#include "compiler/base/compilation.h"

/* Expects loops with a preheader and one latch; leaves instructions that nobody uses. */
void strength_reduce(struct compilation *compilation, LLVMValueRef function);

#endif
