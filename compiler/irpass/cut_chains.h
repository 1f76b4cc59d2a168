/* SPDX-License-Identifier: MIT */
/* Cuts long chains of integers, which passes of LLVM follow anew for each loop or each load. */
#ifndef COMPILER_IRPASS_CUT_CHAINS_H
#define COMPILER_IRPASS_CUT_CHAINS_H

#include "compiler/base/compilation.h"

/*
 * In a function that is large and has many loops, hides each CUT_CHAINS_LENGTH-th integer of a chain, so that scalar
 * evolution follows none further. Others stay as they are.
 */
void cut_chains(struct compilation *compilation, LLVMValueRef function);
/*
 * Hides them where a block has CUT_CHAINS_ACCESSES loads and stores: LLVM's vectorizer of these subtracts the address
 * of each from those of up to 64 others, and a difference of two sums takes as long as they are.
 */
void cut_chains_of_addresses(struct compilation *compilation, LLVMValueRef function);
/* Shows what was hidden. */
void cut_chains_join(struct compilation *compilation);

#define CUT_CHAINS_LENGTH 32u
#define CUT_CHAINS_INSNS 4096u
#define CUT_CHAINS_LOOPS 64u
#define CUT_CHAINS_ACCESSES 64u
#define CUT_CHAINS_PREFIX "__ppu_cut_"

#endif
