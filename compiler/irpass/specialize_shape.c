/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/specialize_shape.h"

#include "compiler/analysis/group_size.h"
#include "compiler/analysis/ir.h"
#include "compiler/analysis/work_item.h"

#include <string.h>

static void each_instruction(LLVMValueRef function, void (*visit)(LLVMValueRef insn, void *opaque), void *opaque)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i != NULL; i = next) {
            next = LLVMGetNextInstruction(i);
            visit(i, opaque);
        }
    }
}

/* ---- sizes ---- */

/* A size, or a local id where the size is 1, is a constant. */
static void write_size(LLVMValueRef insn, void *opaque)
{
    const uint32_t *size = opaque;
    uint32_t sr = work_item_register(insn), value = 0;
    bool known = false;

    for (uint32_t d = 0; d < CTA_DIMENSIONS; d++) {
        if (sr == PPU_SR_NTID_X + d && size[d] != 0) {
            value = size[d];
            known = true;
        } else if (sr == PPU_SR_TID_X + d && size[d] == 1) {
            known = true;
        }
    }
    if (known) {
        LLVMReplaceAllUsesWith(insn, LLVMConstInt(LLVMTypeOf(insn), value, false));
    }
}

static void write_sizes(struct compilation *compilation, const uint32_t size[CTA_DIMENSIONS])
{
    uint32_t copy[CTA_DIMENSIONS];

    memcpy(copy, size, sizeof(copy));
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f != NULL; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            group_size_write(compilation, f, size);
            each_instruction(f, write_size, copy);
        }
    }
}

/* The size is used for nothing but the numbers that groups begin with. */
static bool only_begins(LLVMValueRef size)
{
    for (LLVMUseRef use = LLVMGetFirstUse(size); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (ir_is_instruction(user, LLVMZExt) ? !only_begins(user) : !work_item_is_group_begin(user, 0)) {
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

    each_instruction(kernel, note_use, &matters);
    return matters;
}

/* ---- values above ids ---- */

static LLVMValueRef widened_from(LLVMValueRef value)
{
    while (ir_is_instruction(value, LLVMSExt) || ir_is_instruction(value, LLVMZExt)) {
        value = LLVMGetOperand(value, 0);
    }
    return value;
}

/* Of a global id, or a part of one: its dimension; CTA_DIMENSIONS: it is none. Below 2^31 it keeps its sign. */
static uint32_t dimension_of(LLVMValueRef value)
{
    while (ir_is_instruction(value, LLVMSExt) && ir_bits_of_integer(LLVMGetOperand(value, 0)) >= 32) {
        value = LLVMGetOperand(value, 0);
    }
    return work_item_dimension(value);
}

/* The operand that an argument is compared by; 2: none. */
static uint32_t side_of(LLVMValueRef comparison, LLVMValueRef argument)
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

    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
            uint32_t side = ir_is_instruction(i, LLVMICmp) ? side_of(i, argument) : 2;
            uint32_t dimension = side < 2 ? dimension_of(LLVMGetOperand(i, 1 - side)) : CTA_DIMENSIONS;
            dimensions |= dimension < CTA_DIMENSIONS ? 1u << dimension : 0;
        }
    }
    return (uint8_t)dimensions;
}

/* id < value, and neither is negative. */
static bool holds(LLVMIntPredicate predicate, bool value_first)
{
    switch (predicate) {
    case LLVMIntNE:
        return true;
    case LLVMIntSLT:
    case LLVMIntULT:
    case LLVMIntSLE:
    case LLVMIntULE:
        return !value_first;
    case LLVMIntSGT:
    case LLVMIntUGT:
    case LLVMIntSGE:
    case LLVMIntUGE:
        return value_first;
    default:
        return false;
    }
}

struct above {
    LLVMValueRef argument;
    uint8_t dimensions;
};

static void write_comparison(LLVMValueRef insn, void *opaque)
{
    const struct above *above = opaque;
    uint32_t side = ir_is_instruction(insn, LLVMICmp) ? side_of(insn, above->argument) : 2;

    if (side < 2 && ir_bits_of_integer(LLVMGetOperand(insn, side)) >= 32) {
        uint32_t dimension = dimension_of(LLVMGetOperand(insn, 1 - side));
        if (dimension < CTA_DIMENSIONS && (above->dimensions >> dimension & 1) != 0) {
            bool truth = holds(LLVMGetICmpPredicate(insn), side == 0);
            LLVMReplaceAllUsesWith(insn, LLVMConstInt(LLVMTypeOf(insn), truth, false));
        }
    }
}

void specialize_shape(struct compilation *compilation, LLVMValueRef kernel)
{
    const struct ppu_compile_facts *facts = compilation->options->facts;

    for (uint32_t i = 0; i < LLVMCountParams(kernel) && i < facts->argument_count; i++) {
        struct above above = { LLVMGetParam(kernel, i), facts->arguments[i].above_ids };
        uint32_t bits = ir_bits_of_integer(above.argument);
        if (above.dimensions != 0 && (bits == 32 || bits == 64)) {
            each_instruction(kernel, write_comparison, &above);
        }
    }
    if (group_size_is_possible(facts->group)) {
        write_sizes(compilation, facts->group);
    }
}
