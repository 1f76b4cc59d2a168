/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/specialize_shape.h"

#include "compiler/analysis/bounds.h"
#include "compiler/analysis/ir.h"
#include "compiler/analysis/launch_shape.h"
#include "compiler/analysis/work_group_size.h"
#include "compiler/analysis/work_item.h"

#include <string.h>

/* ---- sizes ---- */

/* A size, or a local id where the size is 1, is a constant. The work-groups of a dimension whose size is known are all
 * whole. */
static void write_size(LLVMValueRef insn, void *opaque)
{
    const uint32_t *size = opaque;
    uint32_t sr = work_item_register(insn), value = 0;
    bool known = false;

    for (uint32_t d = 0; d < CTA_DIMENSIONS; d++) {
        if ((sr == PPU_SR_NTID_X + d || sr == PPU_SR_SIZE_X + d || sr == PPU_SR_LAST_X + d) && size[d] != 0) {
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
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f)) {
            work_group_size_write(compilation, f, size);
            ir_each_instruction(f, write_size, copy);
        }
    }
}

/* ---- values above ids ---- */

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
    uint32_t side = ir_is_instruction(insn, LLVMICmp) ? shape_side(insn, above->argument) : 2;

    if (side < 2 && ir_bits_of_integer(LLVMGetOperand(insn, side)) >= 32) {
        uint32_t dimension = shape_dimension(LLVMGetOperand(insn, 1 - side));
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
            ir_each_instruction(kernel, write_comparison, &above);
        }
    }
    if (work_group_size_is_possible(facts->work_group)) {
        write_sizes(compilation, facts->work_group);
    }
}

/* ---- small ids ---- */

static LLVMValueRef only_kernel(struct compilation *compilation)
{
    LLVMValueRef found = NULL;

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (!LLVMIsDeclaration(f) && ir_is_kernel(f)) {
            if (found) {
                return NULL;
            }
            found = f;
        }
    }
    return found;
}

void specialize_ids(struct compilation *compilation)
{
    LLVMValueRef ids = LLVMGetNamedFunction(compilation->module, "_Z13get_global_idj");
    LLVMValueRef kernel = compilation->options->facts->small_ids != 0 ? only_kernel(compilation) : NULL;

    if (!ids || LLVMIsDeclaration(ids) || !kernel) {
        return;
    }
    LLVMBuilderRef b = LLVMCreateBuilderInContext(compilation->llvm);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(ids); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (ir_is_instruction(end, LLVMRet)) {
            LLVMPositionBuilderBefore(b, end);
            LLVMValueRef id = LLVMGetOperand(end, 0);
            LLVMValueRef low = LLVMBuildTrunc(b, id, LLVMInt32TypeInContext(compilation->llvm), "");
            LLVMSetOperand(end, 0, LLVMBuildZExt(b, low, LLVMTypeOf(id), ""));
        }
    }
    LLVMDisposeBuilder(b);
    bounds_assume_small_ids(compilation, kernel);
}
