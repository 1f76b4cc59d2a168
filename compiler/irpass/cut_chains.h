/* SPDX-License-Identifier: MIT */
/* Cuts long chains of integers while LLVM's loop passes run, which follow them anew for each loop. */
#ifndef COMPILER_IRPASS_CUT_CHAINS_H
#define COMPILER_IRPASS_CUT_CHAINS_H

#include "compiler/base/compilation.h"

/*
 * In a function that is large and has many loops, hides each CUT_CHAINS_LENGTH-th integer of a chain, so that scalar
 * evolution follows none further. Others stay as they are.
 */
void cut_chains(struct compilation *compilation, LLVMValueRef function);
/* Shows what was hidden. */
void cut_chains_join(struct compilation *compilation);

#define CUT_CHAINS_LENGTH 32u
#define CUT_CHAINS_INSNS 4096u
#define CUT_CHAINS_LOOPS 64u
#define CUT_CHAINS_PREFIX "__ppu_cut_"

#endif
