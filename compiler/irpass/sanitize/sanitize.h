/* SPDX-License-Identifier: MIT */
/* Makes kernels check themselves, as -fsanitize= asks (docs/design/sanitizers.md). */
#ifndef COMPILER_IRPASS_SANITIZE_SANITIZE_H
#define COMPILER_IRPASS_SANITIZE_SANITIZE_H

#include "compiler/base/compilation.h"

/* Puts the checks in. */
void sanitize(struct compilation *compilation);
/* True for functions of the sanitizers' libraries, which checks call. */
bool sanitize_is_check(LLVMValueRef function);
/* What they call is linked: gives it a word for each place that may be reported. */
void sanitize_linked(struct compilation *compilation);
/* True when a kernel reads the bounds of its arguments behind its implicit ones (PPU_KERNEL_BOUNDED). */
bool sanitize_is_bounded(const struct compilation *compilation, LLVMValueRef kernel);
/* True when it marks the bytes that it writes (PPU_KERNEL_MARKS). */
bool sanitize_marks(const struct compilation *compilation, LLVMValueRef kernel);
/* True when kernels note what they do to memory or at barriers. */
bool sanitize_notes(const struct compilation *compilation);
/* True when it needs cells for what it notes (PPU_KERNEL_CELLS). */
bool sanitize_has_cells(const struct compilation *compilation, LLVMValueRef kernel);

#endif
