/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/sanitize/tag.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

static unsigned kind_of(const struct compilation *compilation, const char *name)
{
    return LLVMGetMDKindIDInContext(compilation->llvm, name, (unsigned)strlen(name));
}

void tag_set(const struct compilation *compilation, LLVMValueRef insn, const char *name)
{
    LLVMMetadataRef node = LLVMMDNodeInContext2(compilation->llvm, NULL, 0);

    LLVMSetMetadata(insn, kind_of(compilation, name), LLVMMetadataAsValue(compilation->llvm, node));
}

bool tag_has(const struct compilation *compilation, LLVMValueRef insn, const char *name)
{
    return LLVMGetMetadata(insn, kind_of(compilation, name));
}
