/* SPDX-License-Identifier: MIT */
/* Notes where variables of the source are, of what LLVM's debug intrinsics say. */
#ifndef COMPILER_ISEL_SELECT_DEBUG_H
#define COMPILER_ISEL_SELECT_DEBUG_H

#include "compiler/isel/select.h"

/* False: the call is none of them. */
bool select_debug(struct isel *s, LLVMValueRef call, const char *name);

#endif
