/* SPDX-License-Identifier: MIT */
/* Notes what work-items do to memory and at which barriers they come together, so that races and divergence show. */
#ifndef COMPILER_IRPASS_SANITIZE_RACE_H
#define COMPILER_IRPASS_SANITIZE_RACE_H

#include "compiler/base/compilation.h"

/* Puts the notes into a kernel. */
void race_check(struct compilation *compilation, LLVMValueRef kernel);
/* True when functions that are called have barriers, which kernels then cannot count. */
bool race_is_blind(const struct compilation *compilation);

#endif
