/* SPDX-License-Identifier: MIT */
/* Summarises what a kernel does with the memory behind its arguments (F1). */
#ifndef COMPILER_ANALYSIS_ACCESS_SUMMARY_H
#define COMPILER_ANALYSIS_ACCESS_SUMMARY_H

#include "compiler/analysis/ir.h"
#include "compiler/base/kernel.h"

/* Summarises a kernel's argument that is a pointer. */
struct access_summary access_summary_of(struct compilation *compilation, LLVMValueRef argument);
/* Returns what depends on an argument that is an integer, as PPU_REFERENCE_*. `ir`: of its kernel. */
uint8_t access_summary_of_value(const struct ir *ir, LLVMValueRef argument);

#endif
