/* SPDX-License-Identifier: MIT */
/* Copies of memory: what their lowering to loops and instruction selection must agree on. */
#ifndef COMPILER_ANALYSIS_MEMCPY_CALL_H
#define COMPILER_ANALYSIS_MEMCPY_CALL_H

#include <llvm-c/Core.h>
#include <stdint.h>

#define MEMCPY_WRITTEN_OUT 256u /* bytes that selection copies without a loop */

/* What both places of a copy, or the place that is filled, are aligned to. */
uint32_t memcpy_call_align(LLVMValueRef call);

#endif
