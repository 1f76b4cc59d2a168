/* SPDX-License-Identifier: MIT */
/* Emits code from machine IR whose registers are allocated: branches, tokens, encoding. */
#ifndef COMPILER_MIR_EMIT_H
#define COMPILER_MIR_EMIT_H

#include "compiler/base/kernel.h"
#include "compiler/mir/mir.h"

/* Appends the kernel to compilation->code and notes its lines. */
void emit_kernel(struct compilation *compilation, struct kernel_info *kernel, struct mir *mir);

#endif
