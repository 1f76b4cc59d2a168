/* SPDX-License-Identifier: MIT */
/* Tells what the arguments of a kernel are, from the metadata that clang gives it. */
#ifndef COMPILER_ANALYSIS_KERNEL_ARGUMENT_H
#define COMPILER_ANALYSIS_KERNEL_ARGUMENT_H

#include "compiler/base/compilation.h"

/* String i of the metadata of that name; "" when the kernel has none. */
const char *kernel_argument_text(struct compilation *compilation, LLVMValueRef kernel, const char *name, uint32_t i);
/* enum ppu_argument_kind of argument i. */
uint8_t kernel_argument_kind(struct compilation *compilation, LLVMValueRef kernel, uint32_t i);
/* Counts the arguments that have bounds (struct ppu_sanitizer_bounds). */
uint32_t kernel_argument_bounds(struct compilation *compilation, LLVMValueRef kernel);

#endif
