/* SPDX-License-Identifier: MIT */
/* Says which copies of memory become loops: their lowering and instruction selection must agree on that. */
#ifndef COMPILER_ANALYSIS_MEMCPY_CALL_H
#define COMPILER_ANALYSIS_MEMCPY_CALL_H

#include <llvm-c/Core.h>
#include <stdint.h>

#define MEMCPY_WRITTEN_OUT 256u /* bytes that selection copies without a loop */

/* Returns the alignment of both places of a copy, or of the place that is filled. */
uint32_t memcpy_call_align(LLVMValueRef call);

#endif
