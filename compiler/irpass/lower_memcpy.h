/* SPDX-License-Identifier: MIT */
/* Copies of memory that become loops. */
#ifndef COMPILER_IRPASS_LOWER_MEMCPY_H
#define COMPILER_IRPASS_LOWER_MEMCPY_H

#include "compiler/base/compilation.h"

#define MEMCPY_WRITTEN_OUT 256u /* bytes that selection copies without a loop */

/*
 * Replaces calls of llvm.memcpy, memmove and memset but for short ones by calls of functions that
 * device-lib/opencl/copy.cl has. False: there was none.
 */
bool lower_memcpy(struct compilation *compilation);

/* What both places of a copy, or the place that is filled, are aligned to. */
uint32_t lower_memcpy_align(LLVMValueRef call);

#endif
