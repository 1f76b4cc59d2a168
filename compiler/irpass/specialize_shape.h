/* SPDX-License-Identifier: MIT */
/*
 * Keeps what is known of the shape of the launches that a kernel is specialised for: sizes of work-groups, and values
 * above ids.
 */
#ifndef COMPILER_IRPASS_SPECIALIZE_SHAPE_H
#define COMPILER_IRPASS_SPECIALIZE_SHAPE_H

#include "compiler/base/compilation.h"

/*
 * Constants in place of sizes of work-groups, of local ids in dimensions of size 1, and of comparisons that hold for
 * all work-items. Before arguments are replaced.
 */
void specialize_shape(struct compilation *compilation, LLVMValueRef kernel);
/*
 * Makes global ids numbers of 32 bits where the facts say that they are small, before they are inlined. What a thread
 * launches may have others: a module with several kernels keeps what it has.
 */
void specialize_ids(struct compilation *compilation);

#endif
