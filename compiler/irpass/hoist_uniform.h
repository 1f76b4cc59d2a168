/* SPDX-License-Identifier: MIT */
/* Computes addresses of loads that are the same for all lanes before the branch that parts these. */
#ifndef COMPILER_IRPASS_HOIST_UNIFORM_H
#define COMPILER_IRPASS_HOIST_UNIFORM_H

#include "compiler/base/compilation.h"

/*
 * Moves what the addresses of loads are computed from: integers and pointers that are the same for all lanes
 * of a warp, from blocks where only some of the lanes may be to the end of the last block where all of them are. Each
 * takes a scalar register there, and is computed once; behind the branch each lane computes its own.
 */
void hoist_uniform(struct compilation *compilation, LLVMValueRef function);

#endif
