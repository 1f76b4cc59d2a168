/* SPDX-License-Identifier: MIT */
/* Summarises what a kernel does with the memory behind its arguments (F1). */
#ifndef COMPILER_ANALYSIS_ACCESS_SUMMARY_H
#define COMPILER_ANALYSIS_ACCESS_SUMMARY_H

#include "compiler/base/kernel.h"

/* Of a kernel's argument that is a pointer. */
struct access_summary access_summary_of(struct compilation *compilation, LLVMValueRef argument);
/* Of one that is an integer: what depends on it. */
uint8_t access_summary_of_value(struct compilation *compilation, LLVMValueRef argument);

#endif
