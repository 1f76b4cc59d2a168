/* SPDX-License-Identifier: MIT */
/* Finds the object that a pointer came from, and how far behind its begin the pointer leads. */
#ifndef COMPILER_IRPASS_SANITIZE_OBJECT_H
#define COMPILER_IRPASS_SANITIZE_OBJECT_H

#include "compiler/base/compilation.h"

/* What every way to the pointer began with: an argument of a kernel, a variable, an array. NULL: it is not known. */
LLVMValueRef object_root(LLVMValueRef pointer);
/* True when accesses to the root are possible whose pointer is not known to come from it. */
bool object_escapes(LLVMValueRef root);
/* Bytes of a root whose size the module says; 0: it does not. */
uint64_t object_bytes(const struct compilation *compilation, LLVMValueRef root);
/* Emits the distance of the pointer from its root: bytes, 64 bits; a constant where it is one. */
LLVMValueRef object_offset(const struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef pointer,
                           LLVMValueRef root);

#endif
