/* SPDX-License-Identifier: MIT */
/* What is known of the shape of the launches that a kernel is compiled for: sizes of groups, and values above ids. */
#ifndef COMPILER_SHAPE_H
#define COMPILER_SHAPE_H

#include "unit.h"

/*
 * Constants in place of sizes of groups, of local ids in dimensions of size 1, and of comparisons that hold for all
 * work-items. Before arguments are replaced.
 */
void shape_apply(struct unit *unit, LLVMValueRef kernel);
/* Threads that the groups of a function's launches have in a dimension; 0: it is not known. */
uint32_t shape_group(LLVMValueRef function, uint32_t dimension);
/* True when a local id in a dimension is the same for all threads of each warp. */
bool shape_is_uniform(const struct unit *unit, LLVMValueRef function, uint32_t dimension);
/* True when a kernel asks for more about its group than its global id in dimension 0. */
bool shape_matters(LLVMValueRef kernel);
/* Dimensions whose global ids are compared with the argument, as bits. */
uint8_t shape_compared(LLVMValueRef argument);

#endif
