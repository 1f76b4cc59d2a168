/* SPDX-License-Identifier: MIT */
/*
 * Reuses addresses (common subexpression elimination): sums get the form in which the machine adds them, before
 * addresses are looked at (A7).
 */
#ifndef COMPILER_IRPASS_ADDRESS_REUSE_H
#define COMPILER_IRPASS_ADDRESS_REUSE_H

#include "compiler/base/compilation.h"

/* Reassociates sums. LLVM writes a sum of numbers without common bits as a bitwise or, which becomes a sum again. */
void address_reuse(struct compilation *compilation, LLVMValueRef function);
/*
 * Addresses of accesses that differ by a constant from one accessed before in the same loop become that one and the
 * constant, for which an instruction has a field. Leaves instructions that nobody uses.
 */
void address_reuse_near(struct compilation *compilation, LLVMValueRef function);

#endif
