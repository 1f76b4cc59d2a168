/* SPDX-License-Identifier: MIT */
/* Writes an address as an affine sum: a pointer, values times sizes, and a constant (F1). */
#ifndef COMPILER_ANALYSIS_AFFINE_H
#define COMPILER_ANALYSIS_AFFINE_H

#include "compiler/base/compilation.h"

#define AFFINE_TERMS 6u

/* scale * value, where the value is widened to 64 bits. */
struct affine_term {
    LLVMValueRef value;
    bool is_signed; /* how; without meaning for 64 bits */
    int64_t scale;
};

/* root + terms + offset, modulo 2^64; terms in an order of their own, so that equal sums look equal. */
struct affine {
    LLVMValueRef root;
    struct affine_term terms[AFFINE_TERMS];
    uint32_t count;
    int64_t offset;
};

/* The pointer taken apart; what has no room among the terms stays in the root. */
struct affine affine_of(const struct compilation *compilation, LLVMValueRef pointer);
/* True when the two differ by their constants alone. */
bool affine_is_parallel(const struct affine *a, const struct affine *b);
/* True when the two have the same terms; their roots may differ. */
bool affine_has_same_terms(const struct affine *a, const struct affine *b);
/* The argument or object that a pointer is made from, through phis and selects too; NULL: more than one, or unknown. */
LLVMValueRef affine_root(LLVMValueRef pointer);
/* Low bits of a value that are known to be 0: their number, at most 6. */
uint32_t affine_zero_bits(LLVMValueRef value);

#endif
