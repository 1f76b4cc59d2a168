/* SPDX-License-Identifier: MIT */
/* Converts short sides of a branch to guarded instructions (if-conversion): no branch, no token. */
#ifndef COMPILER_MIR_IF_CONVERT_H
#define COMPILER_MIR_IF_CONVERT_H

#include "compiler/mir/mir.h"

/* Changes the machine IR's flow graph: blocks that were moved are left empty, and nothing reaches them. */
void if_convert(struct mir *mir);

#endif
