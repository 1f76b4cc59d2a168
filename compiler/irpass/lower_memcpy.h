/* SPDX-License-Identifier: MIT */
/* Lowers copies of memory (memcpy, memmove, memset) to loops. */
#ifndef COMPILER_IRPASS_LOWER_MEMCPY_H
#define COMPILER_IRPASS_LOWER_MEMCPY_H

#include "compiler/base/compilation.h"

/*
 * Replaces calls of llvm.memcpy, memmove and memset but for short ones by calls of functions that
 * device-lib/opencl/copy.cl has. False: there was none.
 */
bool lower_memcpy(struct compilation *compilation);

#endif
