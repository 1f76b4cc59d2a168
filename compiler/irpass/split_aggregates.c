/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/split_aggregates.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/part_access.h"

static bool is_aggregate(LLVMTypeRef type)
{
    LLVMTypeKind kind = LLVMGetTypeKind(type);

    return kind == LLVMStructTypeKind || kind == LLVMArrayTypeKind;
}

static unsigned count_members(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMCountStructElementTypes(type)
                                                       : (unsigned)LLVMGetArrayLength2(type);
}

static LLVMTypeRef member_type(LLVMTypeRef type, unsigned i)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(type, i) : LLVMGetElementType(type);
}

static uint64_t member_offset(const struct part_access *access, LLVMTypeRef type, unsigned i)
{
    LLVMTargetDataRef layout = access->compilation->layout;

    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMOffsetOfElement(layout, type, i)
                                                       : i * LLVMABISizeOfType(layout, LLVMGetElementType(type));
}

static LLVMValueRef load_members(const struct part_access *access, LLVMTypeRef type, uint64_t offset)
{
    if (!is_aggregate(type)) {
        return part_access_load(access, type, offset);
    }
    LLVMValueRef value = LLVMGetPoison(type);
    for (unsigned i = 0; i < count_members(type); i++) {
        LLVMValueRef member = load_members(access, member_type(type, i), offset + member_offset(access, type, i));
        value = LLVMBuildInsertValue(access->builder, value, member, i, "");
    }
    return value;
}

static void store_members(const struct part_access *access, LLVMValueRef value, uint64_t offset)
{
    LLVMTypeRef type = LLVMTypeOf(value);

    if (!is_aggregate(type)) {
        part_access_store(access, value, offset);
        return;
    }
    for (unsigned i = 0; i < count_members(type); i++) {
        LLVMValueRef member = LLVMBuildExtractValue(access->builder, value, i, "");
        store_members(access, member, offset + member_offset(access, type, i));
    }
}

static void split(struct part_access *access, LLVMValueRef insn)
{
    if (!part_access_begin(access, insn) || !is_aggregate(part_access_type(access))) {
        return;
    }
    if (ir_is_instruction(insn, LLVMLoad)) {
        LLVMReplaceAllUsesWith(insn, load_members(access, LLVMTypeOf(insn), 0));
    } else {
        store_members(access, LLVMGetOperand(insn, 0), 0);
    }
    LLVMInstructionEraseFromParent(insn);
}

void split_aggregates(struct compilation *compilation, LLVMValueRef function)
{
    struct part_access access = { .compilation = compilation,
                                  .builder = LLVMCreateBuilderInContext(compilation->llvm) };

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            split(&access, i);
        }
    }
    LLVMDisposeBuilder(access.builder);
}
