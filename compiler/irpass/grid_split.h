/* SPDX-License-Identifier: MIT */
/*
 * Finds kernels whose launches may be split: the work-items of a range may run as several grids, each with its global
 * offset, when none of them can observe its work-group. All that they know of themselves is their global id.
 */
#ifndef COMPILER_IRPASS_GRID_SPLIT_H
#define COMPILER_IRPASS_GRID_SPLIT_H

#include "compiler/base/compilation.h"

/* Marks the kernels of the module. When the library has been linked, and before any function is inlined. */
void grid_split_mark(struct compilation *compilation);
/* True when a kernel was marked. Its shared memory is not considered, as more is known of it later. */
bool grid_split_allowed(LLVMValueRef kernel);

#endif
