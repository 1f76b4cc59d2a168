/* SPDX-License-Identifier: MIT */
/* Marks the bytes that kernels write, and reports reads of bytes that have no mark. */
#ifndef COMPILER_IRPASS_SANITIZE_UNINIT_H
#define COMPILER_IRPASS_SANITIZE_UNINIT_H

#include "compiler/base/compilation.h"

/* Before variables are promoted: keeps those in memory that are read before they are written, or may be. */
void uninit_keep(struct compilation *compilation, LLVMValueRef function);
/* Puts marks and checks into all functions of the module. */
void uninit_check(struct compilation *compilation);

#endif
