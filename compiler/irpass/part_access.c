/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/part_access.h"

#include "compiler/analysis/ir.h"

#include <string.h>

bool part_access_begin(struct part_access *access, LLVMValueRef insn)
{
    bool load = ir_is_instruction(insn, LLVMLoad), store = ir_is_instruction(insn, LLVMStore);

    if ((!load && !store) || LLVMGetOrdering(insn) != LLVMAtomicOrderingNotAtomic) {
        return false;
    }
    access->insn = insn;
    access->pointer = LLVMGetOperand(insn, load ? 0 : 1);
    LLVMPositionBuilderBefore(access->builder, insn);
    return true;
}

LLVMTypeRef part_access_type(const struct part_access *access)
{
    bool load = ir_is_instruction(access->insn, LLVMLoad);

    return LLVMTypeOf(load ? access->insn : LLVMGetOperand(access->insn, 0));
}

static LLVMValueRef pointer_to(const struct part_access *access, uint64_t offset)
{
    LLVMContextRef llvm = access->compilation->llvm;
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(llvm), offset, false);

    return offset == 0
               ? access->pointer
               : LLVMBuildInBoundsGEP2(access->builder, LLVMInt8TypeInContext(llvm), access->pointer, &index, 1, "");
}

static void keep_metadata(const struct part_access *access, LLVMValueRef part, const char *name)
{
    uint32_t kind = LLVMGetMDKindIDInContext(access->compilation->llvm, name, (unsigned)strlen(name));
    LLVMValueRef said = LLVMGetMetadata(access->insn, kind);

    if (said) {
        LLVMSetMetadata(part, kind, said);
    }
}

/* A part is as volatile as the whole, and aligned as far as its place in it is. */
static void finish(const struct part_access *access, LLVMValueRef part, uint64_t offset)
{
    uint32_t align = LLVMGetAlignment(access->insn);

    while (offset % align != 0) {
        align /= 2;
    }
    LLVMSetAlignment(part, align);
    LLVMSetVolatile(part, LLVMGetVolatile(access->insn));
    keep_metadata(access, part, "alias.scope");
    keep_metadata(access, part, "noalias");
}

LLVMValueRef part_access_load(const struct part_access *access, LLVMTypeRef type, uint64_t offset)
{
    LLVMValueRef part = LLVMBuildLoad2(access->builder, type, pointer_to(access, offset), "");

    finish(access, part, offset);
    return part;
}

void part_access_store(const struct part_access *access, LLVMValueRef value, uint64_t offset)
{
    finish(access, LLVMBuildStore(access->builder, value, pointer_to(access, offset)), offset);
}
