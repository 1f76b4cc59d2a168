/* SPDX-License-Identifier: MIT */
/* Converts branches whose ways are short and meet again to guarded instructions (if-conversion): no token is left. */
#ifndef COMPILER_MIR_IF_CONVERT_H
#define COMPILER_MIR_IF_CONVERT_H

#include "compiler/mir/mir.h"

/*
 * Changes the machine IR's flow graph: blocks that were moved are left empty, and nothing reaches them. False: a block
 * that others count on to be guarded (flow.h) could not be.
 */
bool if_convert(struct mir *mir);

#endif
