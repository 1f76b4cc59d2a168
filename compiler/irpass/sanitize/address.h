/* SPDX-License-Identifier: MIT */
/* Compares accesses with the bounds of the object that their pointer came from. */
#ifndef COMPILER_IRPASS_SANITIZE_ADDRESS_H
#define COMPILER_IRPASS_SANITIZE_ADDRESS_H

#include "compiler/base/compilation.h"

/* Puts the checks into a kernel, or a function that kernels call. */
void address_check(struct compilation *compilation, LLVMValueRef function);

#endif
