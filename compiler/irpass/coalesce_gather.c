/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/coalesce_gather.h"

#include "compiler/analysis/bounds.h"
#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"
#include "ppu/macros.h"

#include <string.h>

#define EFFORT 8u
#define MOST_MOVED 32u
#define WORD_BYTES 4u

/* ---- which ---- */

static LLVMValueRef array_of(LLVMValueRef load)
{
    return LLVMGetOperand(LLVMGetOperand(load, 0), 0);
}

static LLVMValueRef index_of(LLVMValueRef load)
{
    return LLVMGetOperand(LLVMGetOperand(load, 0), 1);
}

static bool is_gather(LLVMValueRef call)
{
    enum primitive primitive = primitive_find(ir_callee(call));

    return primitive == PRIMITIVE_GATHER2 || primitive == PRIMITIVE_GATHER4;
}

/* How the lanes of a line of the work-group have a value. */
enum lanes {
    LANES_SAME, /* all the same, or nothing is known */
    LANES_ROW,  /* each one more than the lane before */
    LANES_ANY,
};

static enum lanes lanes_of_call(LLVMValueRef call)
{
    if (is_gather(call)) {
        return LANES_ANY;
    }
    if (primitive_find(ir_callee(call)) == PRIMITIVE_SR && LLVMIsAConstantInt(LLVMGetOperand(call, 0))) {
        const uint64_t number = LLVMConstIntGetZExtValue(LLVMGetOperand(call, 0));
        return number == PPU_SR_TID_X || number == PPU_SR_TID || number == PPU_SR_LANE ? LANES_ROW : LANES_SAME;
    }
    return bounds_most(NULL, call) < PPU_MAX_CTA_THREADS ? LANES_ANY : LANES_SAME;
}

static enum lanes lanes_of(LLVMValueRef value, uint32_t effort)
{
    const bool sum = ir_is_instruction(value, LLVMAdd) || ir_is_instruction(value, LLVMSub) ||
                     ir_is_instruction(value, LLVMZExt) || ir_is_instruction(value, LLVMSExt) ||
                     ir_is_instruction(value, LLVMTrunc) || ir_is_instruction(value, LLVMFreeze);
    enum lanes all = LANES_SAME;

    if (!LLVMIsAInstruction(value) || effort == 0 || ir_is_instruction(value, LLVMPHI)) {
        return LANES_SAME;
    }
    if (ir_is_instruction(value, LLVMLoad)) {
        return LANES_ANY;
    }
    if (ir_is_instruction(value, LLVMCall)) {
        return lanes_of_call(value);
    }
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        const enum lanes one = lanes_of(LLVMGetOperand(value, (unsigned)i), effort - 1);
        const bool row = sum && all == LANES_SAME && one == LANES_ROW && !(i == 1 && ir_is_instruction(value, LLVMSub));
        all = one == LANES_SAME ? all : row ? LANES_ROW : LANES_ANY;
    }
    return all;
}

static bool is_kernel_argument(LLVMValueRef value)
{
    return LLVMIsAArgument(value) && ir_is_kernel(LLVMGetParamParent(value)) &&
           (ir_pointer_space(value) == SPACE_GLOBAL || ir_pointer_space(value) == SPACE_CONSTANT);
}

/* The instruction adds 32-bit offsets without sign: an index must be small, or lead forward inside of an object. */
static bool index_fits(LLVMValueRef pointer, LLVMValueRef index)
{
    return bounds_most(NULL, index) <= UINT32_MAX / WORD_BYTES ||
           (LLVMIsInBounds(pointer) && bounds_natural(NULL, index, 0));
}

bool gather_takes(LLVMValueRef load)
{
    LLVMValueRef pointer = LLVMGetOperand(load, 0);

    if (!ir_is_instruction(pointer, LLVMGetElementPtr) || LLVMGetNumOperands(pointer) != 2 ||
        LLVMGetAlignment(load) < WORD_BYTES) {
        return false;
    }
    LLVMTypeRef element = LLVMGetGEPSourceElementType(pointer);
    bool word = LLVMGetTypeKind(element) == LLVMFloatTypeKind ||
                (LLVMGetTypeKind(element) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(element) == 8 * WORD_BYTES);
    return word && is_kernel_argument(array_of(load)) && index_fits(pointer, index_of(load)) &&
           lanes_of(index_of(load), EFFORT) == LANES_ANY; /* rows are loaded as such */
}

bool gather_is_like(LLVMValueRef a, LLVMValueRef b)
{
    return array_of(a) == array_of(b);
}

/* ---- moving ---- */

static bool is_before(LLVMValueRef value, LLVMValueRef position)
{
    for (LLVMValueRef i = position; i; i = LLVMGetPreviousInstruction(i)) {
        if (i == value) {
            return i != position;
        }
    }
    return false;
}

static bool is_pure(LLVMValueRef value)
{
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMBitCast:
    case LLVMExtractElement:
    case LLVMGetElementPtr:
    case LLVMSelect:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMFMul:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
        return true;
    default:
        return false;
    }
}

static bool can_move(LLVMValueRef value, LLVMValueRef position, uint32_t *left)
{
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != LLVMGetInstructionParent(position) ||
        is_before(value, position)) {
        return true;
    }
    if (value == position || *left == 0 || !is_pure(value)) {
        return false;
    }
    --*left;
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        if (!can_move(LLVMGetOperand(value, (unsigned)i), position, left)) {
            return false;
        }
    }
    return true;
}

bool gather_can_move(LLVMValueRef load, LLVMValueRef position)
{
    uint32_t left = MOST_MOVED;

    return can_move(index_of(load), position, &left);
}

/* The value is there before `position`. */
static void move_before(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef position)
{
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != LLVMGetInstructionParent(position) ||
        is_before(value, position)) {
        return;
    }
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        move_before(builder, LLVMGetOperand(value, (unsigned)i), position);
    }
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderBefore(builder, position);
    LLVMInsertIntoBuilder(builder, value);
}

/* ---- building ---- */

/* Reads what its argument points to, and does nothing else. */
static void set_effects(struct compilation *compilation, LLVMValueRef function)
{
    static const struct {
        const char *name;
        uint64_t value;
    } effects[] = { { "memory", 1 /* argmem: read */ }, { "nounwind", 0 }, { "willreturn", 0 } };

    for (size_t i = 0; i < PPU_ARRAY_SIZE(effects); i++) {
        uint32_t kind = LLVMGetEnumAttributeKindForName(effects[i].name, strlen(effects[i].name));
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(compilation->llvm, kind, effects[i].value));
    }
}

static LLVMValueRef find_function(struct compilation *compilation, uint32_t count, LLVMTypeRef *type)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(compilation->llvm);
    LLVMTypeRef parameters[1 + GATHER_MOST] = { LLVMPointerTypeInContext(compilation->llvm, SPACE_GLOBAL), i32, i32,
                                                i32, i32 };
    const char *name = count == GATHER_MOST ? "__ppu_gather4" : "__ppu_gather2";
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, name);

    *type = LLVMFunctionType(LLVMVectorType(i32, count), parameters, 1 + count, false);
    if (!function) {
        function = LLVMAddFunction(compilation->module, name, *type);
        set_effects(compilation, function);
    }
    return function;
}

static LLVMValueRef offset_of(LLVMBuilderRef builder, LLVMTypeRef i32, LLVMValueRef index)
{
    LLVMValueRef narrow = ir_bits_of_integer(index) > 32 ? LLVMBuildTrunc(builder, index, i32, "") : index;

    return LLVMBuildShl(builder, narrow, LLVMConstInt(i32, 2, false), "");
}

void gather_emit(struct compilation *compilation, LLVMBuilderRef builder, LLVMValueRef *loads, uint32_t count)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(compilation->llvm), type;
    LLVMValueRef arguments[1 + GATHER_MOST];

    LLVMPositionBuilderBefore(builder, loads[0]);
    arguments[0] = LLVMBuildAddrSpaceCast(builder, array_of(loads[0]),
                                          LLVMPointerTypeInContext(compilation->llvm, SPACE_GLOBAL), "");
    for (uint32_t i = 0; i < count; i++) {
        move_before(builder, index_of(loads[i]), loads[0]);
        LLVMPositionBuilderBefore(builder, loads[0]);
        arguments[1 + i] = offset_of(builder, i32, index_of(loads[i]));
    }
    LLVMValueRef function = find_function(compilation, count, &type);
    LLVMPositionBuilderBefore(builder, loads[0]);
    LLVMValueRef call = LLVMBuildCall2(builder, type, function, arguments, 1 + count, "");
    for (uint32_t i = 0; i < count; i++) {
        LLVMPositionBuilderBefore(builder, loads[0]);
        LLVMValueRef part = LLVMBuildExtractElement(builder, call, LLVMConstInt(i32, i, false), "");
        LLVMReplaceAllUsesWith(loads[i], LLVMBuildBitCast(builder, part, LLVMTypeOf(loads[i]), ""));
    }
    for (uint32_t i = 0; i < count; i++) {
        LLVMInstructionEraseFromParent(loads[i]);
    }
}
