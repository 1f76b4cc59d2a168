/* SPDX-License-Identifier: MIT */
/*
 * Coalesces loads and stores of neighbouring memory into one (F4), and indexed loads of one array into a gather (F7).
 */
#ifndef COMPILER_IRPASS_COALESCE_H
#define COMPILER_IRPASS_COALESCE_H

#include "compiler/base/compilation.h"

/*
 * Within each block: loads move up to the first of their group, stores down to the last, where the facts
 * (irpass/specialize_alias.h) say that nothing they pass touches the same bytes. Groups have 2 or 4 words; bytes and
 * halves are joined to words where their address is known to be a multiple of 4.
 */
void coalesce_accesses(struct compilation *compilation, LLVMValueRef function);

#endif
