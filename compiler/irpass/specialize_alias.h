/* SPDX-License-Identifier: MIT */
/*
 * Tells LLVM what is known of the launches that a kernel is specialised for (F2 to F5). There are two kinds, which must
 * not be mixed: that arguments are disjoint says that no access through one touches what an access through the other
 * does, however their addresses compare; a distance is about the addresses alone.
 */
#ifndef COMPILER_IRPASS_SPECIALIZE_ALIAS_H
#define COMPILER_IRPASS_SPECIALIZE_ALIAS_H

#include "compiler/analysis/affine.h"

/* Removes the kernels that the facts are not about and nothing else needs; fails when there is no such kernel. */
void alias_extract_kernel(struct compilation *compilation);
/* True when the facts tell what some arguments have in common. */
bool alias_has_common(const struct compilation *compilation);
/*
 * What the launch's shape tells (irpass/specialize_shape.h), constants in place of arguments, alignment of arguments,
 * an argument that is another one plus a known distance as just that, and scopes of LLVM's alias analysis for accesses
 * through disjoint arguments. After inlining.
 */
void specialize_alias(struct compilation *compilation);

/* Bytes of memory that one execution of an instruction touches. */
struct alias_access {
    LLVMValueRef insn; /* load or store */
    struct affine address;
    uint64_t bytes;
};

/* False only when the two, executed once each in one turn of all loops around them, cannot touch the same byte. */
bool alias_may_overlap(struct compilation *compilation, const struct alias_access *a, const struct alias_access *b);
/* Low bits that are known to be 0 of the address. */
uint32_t alias_zero_bits(const struct affine *address);

#endif
