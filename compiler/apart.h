/* SPDX-License-Identifier: MIT */
/* Loads and stores of vectors become those of their elements. */
#ifndef COMPILER_APART_H
#define COMPILER_APART_H

#include "unit.h"

/* Of vectors of integers and floats that are whole bytes; grouping joins them again, perhaps with other neighbours. */
void apart_accesses(struct unit *unit, LLVMValueRef function);

#endif
