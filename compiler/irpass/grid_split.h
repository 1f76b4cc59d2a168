/* SPDX-License-Identifier: MIT */
/*
 * Kernels whose launches may be cut: the work-items of a range may run as several grids, each with its global offset,
 * when none of them can learn anything about its group. All they know of themselves is their global id.
 */
#ifndef COMPILER_IRPASS_GRID_SPLIT_H
#define COMPILER_IRPASS_GRID_SPLIT_H

#include "compiler/base/compilation.h"

/* Marks the kernels of the module. When the library has been linked, and before any function is inlined. */
void grid_split_mark(struct compilation *compilation);
/* Whether a kernel was marked. Its shared memory, of which more is known later, is not asked about. */
bool grid_split_allowed(LLVMValueRef kernel);

#endif
