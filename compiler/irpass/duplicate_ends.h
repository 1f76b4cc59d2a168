/* SPDX-License-Identifier: MIT */
/* Duplicates what all threads do last for those that come there on a short way (tail duplication). */
#ifndef COMPILER_IRPASS_DUPLICATE_ENDS_H
#define COMPILER_IRPASS_DUPLICATE_ENDS_H

#include "compiler/base/compilation.h"

/* LLVM joins the stores of ways that both end, as at the border of a picture. Apart, the short way can be guarded. */
void duplicate_ends(struct compilation *compilation, LLVMValueRef function);

#endif
