/* SPDX-License-Identifier: MIT */
/* Reads nodes of LLVM's debug information, as far as LLVM-C has no functions for them. */
#ifndef COMPILER_DEBUG_METADATA_H
#define COMPILER_DEBUG_METADATA_H

#include "compiler/base/compilation.h"

#include <llvm-c/DebugInfo.h>

/* Operands that nodes of a kind have at the same place. */
enum {
    METADATA_SCOPE_OF_BLOCK = 1,
    METADATA_NAME_OF_VARIABLE = 1,
    METADATA_TYPE_OF_VARIABLE = 3,
    METADATA_NAME = 2, /* of a type or a function */
    METADATA_BASE = 3, /* of a derived or composite type */
    METADATA_ELEMENTS = 4,
};

/* An operand that is a node; NULL: there is none. */
LLVMMetadataRef metadata_operand(const struct compilation *compilation, LLVMMetadataRef node, uint32_t operand);
uint32_t metadata_operands(const struct compilation *compilation, LLVMMetadataRef node);
/* An operand that is a text, in the compilation's arena; "" where there is none. */
const char *metadata_text(struct compilation *compilation, LLVMMetadataRef node, uint32_t operand);
/* An operand that is a number; false: it is none. */
bool metadata_number(const struct compilation *compilation, LLVMMetadataRef node, uint32_t operand, uint64_t *number);
/* The word behind "field: " in the node as LLVM prints it, in the compilation's arena; "" where there is none. */
const char *metadata_field(struct compilation *compilation, LLVMMetadataRef node, const char *field);

#endif
