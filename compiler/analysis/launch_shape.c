/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/launch_shape.h"

#include "compiler/analysis/ir.h"
#include "compiler/analysis/work_group_size.h"
#include "compiler/analysis/work_item.h"

/* The size is used for nothing but the numbers that work-groups begin with. */
static bool only_begins(LLVMValueRef size)
{
    for (LLVMUseRef use = LLVMGetFirstUse(size); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_instruction(user, LLVMZExt) ? !only_begins(user) : !work_item_is_work_group_begin(user, 0)) {
            return false;
        }
    }
    return true;
}

static void note_use(LLVMValueRef insn, void *opaque)
{
    bool *matters = opaque;

    switch (work_item_register(insn)) {
    case PPU_SR_TID_Y:
    case PPU_SR_TID_Z:
    case PPU_SR_TID:
    case PPU_SR_NTID_Y:
    case PPU_SR_NTID_Z:
    case PPU_SR_SIZE_X:
    case PPU_SR_SIZE_Y:
    case PPU_SR_SIZE_Z:
        *matters = true;
        break;
    case PPU_SR_NTID_X:
        *matters |= !only_begins(insn);
        break;
    default:
        break;
    }
}

bool shape_matters(LLVMValueRef kernel)
{
    bool matters = false;

    ir_each_instruction(kernel, note_use, &matters);
    return matters;
}

static void note_wide_id(LLVMValueRef insn, void *opaque)
{
    bool *wide = opaque;
    const uint32_t word = work_item_offset_word(insn);

    *wide |= word < 2 * CTA_DIMENSIONS && word % 2 == 1;
}

bool shape_has_wide_ids(LLVMValueRef kernel)
{
    bool wide = false;

    ir_each_instruction(kernel, note_wide_id, &wide);
    return wide;
}

/* ---- values above ids ---- */

static LLVMValueRef widened_from(LLVMValueRef value)
{
    while (ir_is_instruction(value, LLVMSExt) || ir_is_instruction(value, LLVMZExt)) {
        value = LLVMGetOperand(value, 0);
    }
    return value;
}

uint32_t shape_dimension(LLVMValueRef value)
{
    while (ir_is_instruction(value, LLVMSExt) && ir_bits_of_integer(LLVMGetOperand(value, 0)) >= 32) {
        value = LLVMGetOperand(value, 0);
    }
    return work_item_dimension(value);
}

uint32_t shape_side(LLVMValueRef comparison, LLVMValueRef argument)
{
    for (uint32_t side = 0; side < 2; side++) {
        if (widened_from(LLVMGetOperand(comparison, side)) == argument) {
            return side;
        }
    }
    return 2;
}

uint8_t shape_compared(LLVMValueRef argument)
{
    LLVMValueRef function = LLVMGetParamParent(argument);
    uint32_t dimensions = 0;

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            uint32_t side = ir_is_instruction(i, LLVMICmp) ? shape_side(i, argument) : 2;
            uint32_t dimension = side < 2 ? shape_dimension(LLVMGetOperand(i, 1 - side)) : CTA_DIMENSIONS;
            dimensions |= dimension < CTA_DIMENSIONS ? 1u << dimension : 0;
        }
    }
    return (uint8_t)dimensions;
}
