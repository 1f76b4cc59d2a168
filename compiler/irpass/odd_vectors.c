/* SPDX-License-Identifier: MIT */
/*
 * Loads, stores and casts vectors whose elements are no whole registers as one integer: LLVM packs their bits in memory
 * one element behind the other. What is left of such vectors has elements, but no place in memory. Integers above 64
 * bits, and vectors of these, are split afterwards (split_integers.c).
 */
#include "compiler/irpass/odd_vectors.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/part_access.h"

#define WORD_BITS 32u
#define MOST_BITS 64u /* of an element that selection has registers for */

/* 0: it is no vector of integers. */
static uint32_t element_bits(LLVMTypeRef type)
{
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;

    return is_vector && LLVMGetTypeKind(LLVMGetElementType(type)) == LLVMIntegerTypeKind
               ? LLVMGetIntTypeWidth(LLVMGetElementType(type))
               : 0;
}

static bool is_odd(LLVMTypeRef type)
{
    uint32_t bits = element_bits(type);

    return bits > MOST_BITS ? bits % WORD_BITS != 0 : bits > 0 && (bits < 8 || (bits & (bits - 1)) != 0);
}

/* The integer of all bits. */
static LLVMTypeRef packed_type(LLVMTypeRef type)
{
    return LLVMIntTypeInContext(LLVMGetTypeContext(type), element_bits(type) * LLVMGetVectorSize(type));
}

static LLVMValueRef element_index(LLVMTypeRef type, uint32_t e)
{
    return LLVMConstInt(LLVMInt32TypeInContext(LLVMGetTypeContext(type)), e, false);
}

static LLVMValueRef pack(LLVMBuilderRef builder, LLVMValueRef vector)
{
    LLVMTypeRef type = LLVMTypeOf(vector), packed = packed_type(type);
    LLVMValueRef all = LLVMConstNull(packed);

    for (uint32_t e = 0; e < LLVMGetVectorSize(type); e++) {
        LLVMValueRef element = LLVMBuildExtractElement(builder, vector, element_index(type, e), "");
        element = LLVMBuildShl(builder, LLVMBuildZExt(builder, element, packed, ""),
                               LLVMConstInt(packed, (uint64_t)e * element_bits(type), false), "");
        all = LLVMBuildOr(builder, all, element, "");
    }
    return all;
}

static LLVMValueRef unpack(LLVMBuilderRef builder, LLVMValueRef all, LLVMTypeRef type)
{
    LLVMValueRef vector = LLVMGetPoison(type);

    for (uint32_t e = 0; e < LLVMGetVectorSize(type); e++) {
        LLVMValueRef by = LLVMConstInt(LLVMTypeOf(all), (uint64_t)e * element_bits(type), false);
        LLVMValueRef element =
            LLVMBuildTrunc(builder, LLVMBuildLShr(builder, all, by, ""), LLVMGetElementType(type), "");
        vector = LLVMBuildInsertElement(builder, vector, element, element_index(type, e), "");
    }
    return vector;
}

/* NULL: it stays. */
static LLVMValueRef make_cast(LLVMBuilderRef builder, LLVMValueRef insn)
{
    LLVMValueRef from = LLVMGetOperand(insn, 0);
    LLVMTypeRef type = LLVMTypeOf(insn);

    if (!is_odd(type) && !is_odd(LLVMTypeOf(from))) {
        return NULL;
    }
    if (is_odd(LLVMTypeOf(from))) {
        from = pack(builder, from);
    }
    return is_odd(type) ? unpack(builder, LLVMBuildBitCast(builder, from, packed_type(type), ""), type)
                        : LLVMBuildBitCast(builder, from, type, "");
}

static void take_cast(const struct part_access *access, LLVMValueRef insn)
{
    LLVMPositionBuilderBefore(access->builder, insn);
    LLVMValueRef made = make_cast(access->builder, insn);
    if (made) {
        LLVMReplaceAllUsesWith(insn, made);
        LLVMInstructionEraseFromParent(insn);
    }
}

static void take_insn(struct part_access *access, LLVMValueRef insn)
{
    if (ir_is_instruction(insn, LLVMBitCast)) {
        take_cast(access, insn);
        return;
    }
    if (!part_access_begin(access, insn) || !is_odd(part_access_type(access))) {
        return;
    }
    if (ir_is_instruction(insn, LLVMLoad)) {
        LLVMTypeRef type = LLVMTypeOf(insn);
        LLVMReplaceAllUsesWith(insn, unpack(access->builder, part_access_load(access, packed_type(type), 0), type));
    } else {
        part_access_store(access, pack(access->builder, LLVMGetOperand(insn, 0)), 0);
    }
    LLVMInstructionEraseFromParent(insn);
}

void odd_vectors_unpack(struct compilation *compilation, LLVMValueRef function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    struct part_access access = { .compilation = compilation, .builder = builder };

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            take_insn(&access, i);
        }
    }
    LLVMDisposeBuilder(builder);
}
