/* SPDX-License-Identifier: MIT */
/*
 * Keeps variables of the source in private memory, for debuggers: what reads or writes one becomes volatile, so that no
 * pass that comes later takes the variable away, splits it, or moves its accesses to another line.
 */
#ifndef COMPILER_IRPASS_KEEP_VARIABLES_H
#define COMPILER_IRPASS_KEEP_VARIABLES_H

#include "compiler/base/compilation.h"

void keep_variables(struct compilation *compilation, LLVMValueRef function);

#endif
