/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/work_item.h"

#include "compiler/analysis/work_group_size.h"
#include "compiler/base/primitive.h"

#include <string.h>

#define ID_DEPTH 4u
#define ID_BITS 32u

/* A global id is the sum of these, each at most once. */
enum id_part {
    ID_THREAD = 1,
    ID_GROUP = 2,  /* its number times its size */
    ID_OFFSET = 4, /* its lower word, or all of it */
    ID_HIGH = 8,   /* its upper word */
};

bool work_item_sizes_are(LLVMValueRef function, const char *uniform)
{
    static const char name[] = "uniform-work-group-size";
    LLVMAttributeRef attribute =
        LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
    unsigned len;

    return attribute && strncmp(LLVMGetStringAttributeValue(attribute, &len), uniform, strlen(uniform)) == 0;
}

/* Where all work-groups are whole, each has the size of a whole one. */
static uint32_t whole_register(LLVMValueRef call, uint32_t sr)
{
    bool size = sr >= PPU_SR_SIZE_X && sr <= PPU_SR_SIZE_Z, last = sr >= PPU_SR_LAST_X && sr <= PPU_SR_LAST_Z;
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));

    if ((!size && !last) || !work_item_sizes_are(function, "true")) {
        return sr;
    }
    return PPU_SR_NTID_X + sr - (size ? PPU_SR_SIZE_X : PPU_SR_LAST_X);
}

uint32_t work_item_register(LLVMValueRef value)
{
    if (!ir_is_instruction(value, LLVMCall) || primitive_find(ir_callee(value)) != PRIMITIVE_SR ||
        !LLVMIsAConstantInt(LLVMGetOperand(value, 0))) {
        return PPU_SR_COUNT;
    }
    return whole_register(value, (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(value, 0)));
}

static LLVMValueRef without_width(LLVMValueRef value)
{
    while (ir_is_instruction(value, LLVMZExt) || ir_is_instruction(value, LLVMTrunc)) {
        value = LLVMGetOperand(value, 0);
    }
    return value;
}

uint32_t work_item_offset_word(LLVMValueRef value)
{
    LLVMValueRef which = ir_is_instruction(value, LLVMCall) && primitive_find(ir_callee(value)) == PRIMITIVE_LAUNCH
                             ? LLVMGetOperand(value, 0)
                             : NULL;

    return which && LLVMIsAConstantInt(which) && LLVMConstIntGetZExtValue(which) < 24
               ? (uint32_t)LLVMConstIntGetZExtValue(which) / 4
               : 6;
}

/* The upper word of an offset, in its place. */
static bool is_high(LLVMValueRef value, uint32_t dimension)
{
    return ir_is_instruction(value, LLVMShl) &&
           work_item_offset_word(without_width(LLVMGetOperand(value, 0))) == 2 * dimension + 1;
}

LLVMValueRef id_narrow(LLVMValueRef value)
{
    while (ir_is_instruction(value, LLVMZExt) || ir_is_instruction(value, LLVMSExt) ||
           (ir_is_instruction(value, LLVMTrunc) && ir_bits_of_integer(value) >= ID_BITS)) {
        value = LLVMGetOperand(value, 0);
    }
    return value;
}

/* Is the begin of a work-group whose size is a constant. */
static bool is_constant_begin(LLVMValueRef value, uint32_t dimension)
{
    uint64_t size = 1;

    if (!LLVMIsAInstruction(value)) {
        return false;
    }
    bool times = ir_is_instruction(value, LLVMMul), shifted = ir_is_instruction(value, LLVMShl);
    LLVMValueRef number = times || shifted ? LLVMGetOperand(value, 0) : value;
    LLVMValueRef by = times || shifted ? LLVMGetOperand(value, 1) : NULL;
    if (work_item_register(id_narrow(number)) != PPU_SR_CTA_X + dimension) {
        return false;
    }
    if (by) {
        uint64_t constant = LLVMIsAConstantInt(by) ? LLVMConstIntGetZExtValue(by) : 0;
        size = times ? constant : constant < ID_BITS ? 1ull << constant : 0;
    }
    return size != 0 && size == work_group_size_of(LLVMGetBasicBlockParent(LLVMGetInstructionParent(value)), dimension);
}

bool work_item_is_work_group_begin(LLVMValueRef value, uint32_t dimension)
{
    value = id_narrow(value);
    if (is_constant_begin(value, dimension)) {
        return true;
    }
    if (!ir_is_instruction(value, LLVMMul)) {
        return false;
    }
    uint32_t a = work_item_register(id_narrow(LLVMGetOperand(value, 0)));
    uint32_t b = work_item_register(id_narrow(LLVMGetOperand(value, 1)));
    return (a == PPU_SR_CTA_X + dimension && b == PPU_SR_NTID_X + dimension) ||
           (b == PPU_SR_CTA_X + dimension && a == PPU_SR_NTID_X + dimension);
}

/* The parts that the value is a sum of; 0: of something else too. */
static uint32_t id_parts(LLVMValueRef value, uint32_t dimension, uint32_t effort)
{
    value = without_width(value);
    if ((ir_is_instruction(value, LLVMAdd) || ir_is_instruction(value, LLVMOr)) && effort != 0) {
        uint32_t a = id_parts(LLVMGetOperand(value, 0), dimension, effort - 1);
        uint32_t b = id_parts(LLVMGetOperand(value, 1), dimension, effort - 1);
        return a != 0 && b != 0 && (a & b) == 0 ? a | b : 0;
    }
    if (work_item_register(value) == PPU_SR_TID_X + dimension) {
        return ID_THREAD;
    }
    if (work_item_is_work_group_begin(value, dimension)) {
        return ID_GROUP;
    }
    return work_item_offset_word(value) == 2 * dimension ? ID_OFFSET : is_high(value, dimension) ? ID_HIGH : 0;
}

uint32_t work_item_dimension(LLVMValueRef value)
{
    uint32_t dimension = 0;

    while (dimension < 3 && id_parts(value, dimension, ID_DEPTH) == 0) {
        dimension++;
    }
    return dimension;
}

bool work_item_is_global(LLVMValueRef value)
{
    for (uint32_t dimension = 0; dimension < 3; dimension++) {
        if ((id_parts(value, dimension, ID_DEPTH) & (ID_GROUP | ID_OFFSET)) != 0) {
            return true;
        }
    }
    return false;
}
