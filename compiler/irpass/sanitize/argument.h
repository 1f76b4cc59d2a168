/* SPDX-License-Identifier: MIT */
/* Compares arguments of built-in functions with what the language asks of them (argument.def). */
#ifndef COMPILER_IRPASS_SANITIZE_ARGUMENT_H
#define COMPILER_IRPASS_SANITIZE_ARGUMENT_H

#include "compiler/base/compilation.h"

/* Begins the names of functions that stand for a check until argument_check() lowers it. They use no pointer. */
#define ARGUMENT_CALL "ppu.argument."

/* Before the device library is linked: puts checks before calls of the program's. */
void argument_mark(struct compilation *compilation, LLVMValueRef function);
/* Lowers them, when what the function calls has been inlined. */
void argument_check(struct compilation *compilation, LLVMValueRef function);
/* True when a kernel compares values among the work-items of a group, from argument_mark() on. */
bool argument_compares(LLVMValueRef kernel);
/* True for an instruction that looks at a pointer's bits alone, for a check. */
bool argument_looks(LLVMValueRef insn);

#endif
