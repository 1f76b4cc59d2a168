/* SPDX-License-Identifier: MIT */
/* Builds a single call of the indexed loads of one array (F7). */
#ifndef COMPILER_IRPASS_COALESCE_GATHER_H
#define COMPILER_IRPASS_COALESCE_GATHER_H

#include "compiler/base/compilation.h"

#define GATHER_MOST 4u

/* True for a load of a word of an array that is the kernel's argument, by an index that differs from lane to lane. */
bool gather_takes(LLVMValueRef load);
/* True when both take from the same array. */
bool gather_is_like(LLVMValueRef a, LLVMValueRef b);
/* True when the load's index can be known before `position`, in the same block. */
bool gather_can_move(LLVMValueRef load, LLVMValueRef position);
/* `count` loads, 2 or 4, become one in the position of the first; what the indexes are made of moves there. */
void gather_emit(struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef *loads, uint32_t count);

#endif
