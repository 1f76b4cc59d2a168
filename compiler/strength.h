/* SPDX-License-Identifier: MIT */
/* Addresses that a loop computes anew each turn become pointers that it moves on. */
#ifndef COMPILER_STRENGTH_H
#define COMPILER_STRENGTH_H

#include "unit.h"

/* Expects loops with a preheader and one latch; leaves instructions that nobody uses. */
void strength_reduce(struct unit *unit, LLVMValueRef function);

#endif
