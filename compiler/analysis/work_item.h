/* SPDX-License-Identifier: MIT */
/* Recognises values that are the ids of work-items, as the library computes them (A7). */
#ifndef COMPILER_ANALYSIS_WORK_ITEM_H
#define COMPILER_ANALYSIS_WORK_ITEM_H

#include "compiler/analysis/ir.h"
#include "ppu/isa.h"

/* True: the program says that work-groups are of one size ("true"), or may be of several ("false": OpenCL C 2.0 and
 * later without -cl-uniform-work-group-size). */
bool work_item_sizes_are(LLVMValueRef function, const char *uniform);
/* The special register that a call reads; PPU_SR_COUNT: it is no such call. The size of a work-group is that of a whole
 * one where all are whole. */
uint32_t work_item_register(LLVMValueRef value);
/* A word of the launch's global offset: its number, 0 to 5; 6: it is none. */
uint32_t work_item_offset_word(LLVMValueRef value);
/* The value before it was widened, or cut to what all ids have room in. */
LLVMValueRef id_narrow(LLVMValueRef value);
/* A work-group's number times its size (analysis/work_group_size.h): the id that its first work-item has, but for the
 * offset. */
bool work_item_is_work_group_begin(LLVMValueRef value, uint32_t dimension);
/* The dimension of a global id or a part of one, also of less than its bits; 3: it is none. */
uint32_t work_item_dimension(LLVMValueRef value);
/* A global id, or a part of one that is not the thread alone. */
bool work_item_is_global(LLVMValueRef value);

#endif
