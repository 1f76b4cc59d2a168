/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/split_vectors.h"

#include "compiler/analysis/ir.h"

#include <string.h>

#define MOST_ELEMENTS 16u

struct access {
    struct compilation *compilation;
    LLVMBuilderRef builder;
    LLVMValueRef insn, pointer;
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

static bool describe_access(struct access *access, LLVMValueRef insn)
{
    bool load = ir_is_instruction(insn, LLVMLoad), store = ir_is_instruction(insn, LLVMStore);

    if ((!load && !store) || LLVMGetVolatile(insn) || LLVMGetOrdering(insn) != LLVMAtomicOrderingNotAtomic) {
        return false;
    }
    access->insn = insn;
    access->pointer = LLVMGetOperand(insn, load ? 0 : 1);
    access->vector = LLVMTypeOf(load ? insn : LLVMGetOperand(insn, 0));
    if (LLVMGetTypeKind(access->vector) != LLVMVectorTypeKind || LLVMGetVectorSize(access->vector) > MOST_ELEMENTS) {
        return false;
    }
    access->element = LLVMGetElementType(access->vector);
    access->bytes = element_bytes(access->compilation, access->vector);
    return access->bytes != 0;
}

static LLVMValueRef index_constant(const struct access *access, uint32_t value)
{
    return LLVMConstInt(LLVMInt64TypeInContext(access->compilation->llvm), value, false);
}

static LLVMValueRef pointer_to(const struct access *access, uint32_t i)
{
    LLVMValueRef index = index_constant(access, i * access->bytes);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(access->compilation->llvm);

    return i == 0 ? access->pointer : LLVMBuildInBoundsGEP2(access->builder, i8, access->pointer, &index, 1, "");
}

static void keep_metadata(const struct access *access, LLVMValueRef part, const char *name)
{
    uint32_t kind = LLVMGetMDKindIDInContext(access->compilation->llvm, name, (unsigned)strlen(name));
    LLVMValueRef said = LLVMGetMetadata(access->insn, kind);

    if (said) {
        LLVMSetMetadata(part, kind, said);
    }
}

static void finish_part(const struct access *access, LLVMValueRef part, uint32_t i)
{
    uint32_t align = LLVMGetAlignment(access->insn);

    while (i * access->bytes % align != 0) {
        align /= 2;
    }
    LLVMSetAlignment(part, align);
    keep_metadata(access, part, "alias.scope");
    keep_metadata(access, part, "noalias");
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
static LLVMValueRef element_of(const struct access *access, LLVMValueRef vector, uint32_t i)
{
    return is_undefined(vector, i) ? LLVMConstNull(access->element)
                                   : LLVMBuildExtractElement(access->builder, vector, index_constant(access, i), "");
}

static void split(const struct access *access)
{
    bool load = ir_is_instruction(access->insn, LLVMLoad);
    LLVMValueRef value = load ? LLVMGetPoison(access->vector) : LLVMGetOperand(access->insn, 0);

    LLVMPositionBuilderBefore(access->builder, access->insn);
    for (uint32_t i = 0; i < LLVMGetVectorSize(access->vector); i++) {
        LLVMValueRef pointer = pointer_to(access, i), part;
        if (load) {
            part = LLVMBuildLoad2(access->builder, access->element, pointer, "");
            finish_part(access, part, i);
            value = LLVMBuildInsertElement(access->builder, value, part, index_constant(access, i), "");
        } else {
            part = LLVMBuildStore(access->builder, element_of(access, value, i), pointer);
            finish_part(access, part, i);
        }
    }
    if (load) {
        LLVMReplaceAllUsesWith(access->insn, value);
    }
    LLVMInstructionEraseFromParent(access->insn);
}

void split_vectors(struct compilation *compilation, LLVMValueRef function)
{
    struct access access = { .compilation = compilation, .builder = LLVMCreateBuilderInContext(compilation->llvm) };

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (describe_access(&access, i)) {
                split(&access);
            }
        }
    }
    LLVMDisposeBuilder(access.builder);
}
