/* SPDX-License-Identifier: MIT */
/* Keeps the sizes of work-groups (CTAs) that are known of the launches of a function, as an attribute of it. */
#ifndef COMPILER_ANALYSIS_WORK_GROUP_SIZE_H
#define COMPILER_ANALYSIS_WORK_GROUP_SIZE_H

#include "compiler/base/compilation.h"

#define CTA_DIMENSIONS 3u

/* Facts come from outside: sizes that no work-group has are not believed. 0: not known. */
bool work_group_size_is_possible(const uint32_t size[CTA_DIMENSIONS]);
void work_group_size_write(struct compilation *compilation, LLVMValueRef function, const uint32_t size[CTA_DIMENSIONS]);
/* Threads that the work-groups of a function's launches have in a dimension; 0: it is not known. */
uint32_t work_group_size_of(LLVMValueRef function, uint32_t dimension);
/* What the source asks for with reqd_work_group_size; sizes that are not possible are more than PPU_MAX_CTA_DIM. False:
 * it does not ask. */
bool work_group_size_required(const struct compilation *compilation, LLVMValueRef function,
                              uint32_t size[CTA_DIMENSIONS]);
/* True when a local id in a dimension is the same for all threads of each warp. */
bool work_group_size_is_uniform(const struct compilation *compilation, LLVMValueRef function, uint32_t dimension);

#endif
