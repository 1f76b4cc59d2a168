/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/split_vectors.h"

#include "compiler/analysis/ir.h"
#include "compiler/irpass/part_access.h"

#define MOST_ELEMENTS 16u

struct splitter {
    struct part_access access;
    LLVMTypeRef vector, element;
    uint32_t bytes; /* of an element */
};

static uint32_t element_bytes(const struct compilation *compilation, LLVMTypeRef vector)
{
    LLVMTypeRef element = LLVMGetElementType(vector);
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    uint64_t bits = LLVMSizeOfTypeInBits(compilation->layout, element);
    bool number = kind == LLVMIntegerTypeKind || kind == LLVMHalfTypeKind || kind == LLVMFloatTypeKind ||
                  kind == LLVMDoubleTypeKind;

    return number && (bits == 8 || bits == 16 || bits == 32 || bits == 64) ? (uint32_t)bits / 8 : 0;
}

static bool describe(struct splitter *splitter, LLVMValueRef insn)
{
    if (!part_access_begin(&splitter->access, insn) || LLVMGetVolatile(insn)) {
        return false;
    }
    splitter->vector = part_access_type(&splitter->access);
    if (LLVMGetTypeKind(splitter->vector) != LLVMVectorTypeKind ||
        LLVMGetVectorSize(splitter->vector) > MOST_ELEMENTS) {
        return false;
    }
    splitter->element = LLVMGetElementType(splitter->vector);
    splitter->bytes = element_bytes(splitter->access.compilation, splitter->vector);
    return splitter->bytes != 0;
}

static LLVMValueRef index_of(const struct splitter *splitter, uint32_t i)
{
    return LLVMConstInt(LLVMInt64TypeInContext(splitter->access.compilation->llvm), i, false);
}

/* True: element `i` of the vector has no value. OpenCL's vectors of three are stored as four, the last one of which is
 * so. */
static bool is_undefined(LLVMValueRef vector, uint32_t i)
{
    if (LLVMIsConstant(vector)) {
        LLVMValueRef element = LLVMGetAggregateElement(vector, i);
        return element && LLVMIsUndef(element); /* poison is undefined, too */
    }
    if (ir_is_instruction(vector, LLVMShuffleVector)) {
        int from = LLVMGetMaskValue(vector, i);
        uint32_t count = LLVMGetVectorSize(LLVMTypeOf(LLVMGetOperand(vector, 0)));

        return from == LLVMGetUndefMaskElem() ||
               is_undefined(LLVMGetOperand(vector, (uint32_t)from >= count), (uint32_t)from % count);
    }
    if (ir_is_instruction(vector, LLVMInsertElement) && LLVMIsAConstantInt(LLVMGetOperand(vector, 2))) {
        bool inserted = LLVMConstIntGetZExtValue(LLVMGetOperand(vector, 2)) == i;

        return inserted ? LLVMIsUndef(LLVMGetOperand(vector, 1)) : is_undefined(LLVMGetOperand(vector, 0), i);
    }
    return false;
}

/* An element without a value is zero from here on: a word made of elements has no value when one of them has none. */
static LLVMValueRef element_of(const struct splitter *splitter, LLVMValueRef vector, uint32_t i)
{
    return is_undefined(vector, i)
               ? LLVMConstNull(splitter->element)
               : LLVMBuildExtractElement(splitter->access.builder, vector, index_of(splitter, i), "");
}

static void split(const struct splitter *splitter)
{
    const struct part_access *access = &splitter->access;
    bool load = ir_is_instruction(access->insn, LLVMLoad);
    LLVMValueRef value = load ? LLVMGetPoison(splitter->vector) : LLVMGetOperand(access->insn, 0);

    for (uint32_t i = 0; i < LLVMGetVectorSize(splitter->vector); i++) {
        if (load) {
            LLVMValueRef part = part_access_load(access, splitter->element, i * splitter->bytes);
            value = LLVMBuildInsertElement(access->builder, value, part, index_of(splitter, i), "");
        } else {
            part_access_store(access, element_of(splitter, value, i), i * splitter->bytes);
        }
    }
    if (load) {
        LLVMReplaceAllUsesWith(access->insn, value);
    }
    LLVMInstructionEraseFromParent(access->insn);
}

void split_vectors(struct compilation *compilation, LLVMValueRef function)
{
    struct splitter splitter = { .access = { .compilation = compilation,
                                             .builder = LLVMCreateBuilderInContext(compilation->llvm) } };

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (describe(&splitter, i)) {
                split(&splitter);
            }
        }
    }
    LLVMDisposeBuilder(splitter.access.builder);
}
