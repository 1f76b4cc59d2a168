/* SPDX-License-Identifier: MIT */
/*
 * Finds the range of integers (range analysis): from how they are made, from the branches on the way to where they are
 * used, and from what a launch may be.
 *
 * A global id is taken to be below 2^31. Where that was needed the kernel says so (bounds_small_ids()), and is not
 * launched otherwise. Without an `ir` neither branches nor launches are looked at.
 */
#ifndef COMPILER_ANALYSIS_BOUNDS_H
#define COMPILER_ANALYSIS_BOUNDS_H

#include "compiler/analysis/ir.h"

/* An upper bound of an integer taken as unsigned; UINT64_MAX when none is known. */
uint64_t bounds_most(const struct ir *ir, LLVMValueRef value);
/* Returns the bound of an integer in this block, by the branches on the way there too. */
uint64_t bounds_most_in(const struct ir *ir, LLVMValueRef value, uint32_t block);
/* True when an integer, taken as signed, is known not to be negative in this block. */
bool bounds_natural(const struct ir *ir, LLVMValueRef value, uint32_t block);
/*
 * True when steps forward from `base` to the address are no longer than an object and 64 KiB, or it is not used. It is
 * made from the base by one or more additions of indexes that are not negative in the block.
 */
bool bounds_inside(const struct ir *ir, LLVMValueRef gep, LLVMValueRef base, uint32_t block);
/* True when what was found of a kernel holds only while its global ids are below PPU_MAX_SMALL_ID. */
bool bounds_small_ids(LLVMValueRef kernel);
void bounds_assume_small_ids(struct compilation *compilation, LLVMValueRef kernel);

#endif
