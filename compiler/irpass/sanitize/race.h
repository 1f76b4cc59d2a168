/* SPDX-License-Identifier: MIT */
/* Notes what work-items do to memory and at which barriers they come together, so that races and divergence show. */
#ifndef COMPILER_IRPASS_SANITIZE_RACE_H
#define COMPILER_IRPASS_SANITIZE_RACE_H

#include "compiler/base/compilation.h"

/* A function without a body, whose result is when the work-item calls it, for what it enqueues then. */
#define RACE_CLOCK "__ppu_sanitizer_clock"

/* Marks the library's functions that enqueue: what they learn of others by atomic operations is theirs alone. */
void race_mark_internal(struct compilation *compilation);
/* Puts the notes into a kernel. */
void race_check(struct compilation *compilation, LLVMValueRef kernel);
/* Where nothing was noted, it is not known when something is enqueued. */
void race_forget_clocks(struct compilation *compilation);
/* True when functions that are called have barriers, which kernels then cannot count. */
bool race_is_blind(const struct compilation *compilation);

#endif
