/* SPDX-License-Identifier: MIT */
/* Finds what a kernel asks about the shape of its launch: sizes of work-groups, and values that it
 * compares with ids. */
#ifndef COMPILER_ANALYSIS_LAUNCH_SHAPE_H
#define COMPILER_ANALYSIS_LAUNCH_SHAPE_H

#include "compiler/base/compilation.h"

/* True when a kernel asks for more about its work-group than its global id in dimension 0. */
bool shape_matters(LLVMValueRef kernel);
/* True when a kernel computes with the upper words of global ids. */
bool shape_has_wide_ids(LLVMValueRef kernel);
/* Dimensions whose global ids are compared with the argument, as bits. */
uint8_t shape_compared(LLVMValueRef argument);
/* Returns the dimension of a global id, or of a part of one; else CTA_DIMENSIONS. Below 2^31 it keeps its sign. */
uint32_t shape_dimension(LLVMValueRef value);
/* The operand that an argument is compared by; 2: none. */
uint32_t shape_side(LLVMValueRef comparison, LLVMValueRef argument);

#endif
