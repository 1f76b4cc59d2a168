/* SPDX-License-Identifier: MIT */
/* Makes loads and stores of parts of what another one accesses. */
#ifndef COMPILER_IRPASS_PART_ACCESS_H
#define COMPILER_IRPASS_PART_ACCESS_H

#include "compiler/base/compilation.h"

/* A load or store that is split, and where its parts are put. */
struct part_access {
    struct compilation *compilation;
    LLVMBuilderRef builder;
    LLVMValueRef insn, pointer;
};

/* False: it is no load or store, or an atomic one. Parts go in front of it. */
bool part_access_begin(struct part_access *access, LLVMValueRef insn);
/* What is loaded or stored. */
LLVMTypeRef part_access_type(const struct part_access *access);
LLVMValueRef part_access_load(const struct part_access *access, LLVMTypeRef type, uint64_t offset);
void part_access_store(const struct part_access *access, LLVMValueRef value, uint64_t offset);

#endif
