/* SPDX-License-Identifier: MIT */
/*
 * Finds which elements of a vector a load is about, and which a store. clang loads a whole vector to look at one
 * element, loads four elements for a vector of three, and stores to one element by loading all, inserting it, and
 * storing all. A bit field is stored the same way.
 */
#ifndef COMPILER_IRPASS_SANITIZE_ELEMENTS_H
#define COMPILER_IRPASS_SANITIZE_ELEMENTS_H

#include <llvm-c/Core.h>
#include <stdint.h>

#define ELEMENTS_MOST 16u

/* How many elements a type has; 1 for what is no vector. */
uint32_t elements_count(LLVMTypeRef type);
/* Bit i: the value of the load's element i is used, and not only put back where it was. */
uint32_t elements_needed(LLVMValueRef load);
/* Bit i: the store gives element i a value that it need not have had before. */
uint32_t elements_written(LLVMValueRef store);

#endif
