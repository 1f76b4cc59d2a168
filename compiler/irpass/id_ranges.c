/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/id_ranges.h"

#include "compiler/analysis/ir.h"
#include "compiler/analysis/work_group_size.h"
#include "compiler/analysis/work_item.h"

/* The number is below `most`. */
static void write_range(LLVMValueRef insn, uint32_t most)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(insn));
    LLVMMetadataRef ends[2] = {
        LLVMValueAsMetadata(LLVMConstInt(LLVMTypeOf(insn), 0, false)),
        LLVMValueAsMetadata(LLVMConstInt(LLVMTypeOf(insn), most, false)),
    };
    LLVMValueRef range = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, ends, 2));

    LLVMSetMetadata(insn, LLVMGetMDKindIDInContext(context, "range", 5), range);
}

static void write_ranges(LLVMValueRef insn, void *opaque)
{
    const uint32_t *const size = opaque, sr = work_item_register(insn);

    for (uint32_t d = 0; d < CTA_DIMENSIONS; d++) {
        if (sr == PPU_SR_TID_X + d && size[d] != 0) {
            write_range(insn, size[d]);
        }
    }
}

void id_ranges_write(struct compilation *compilation, LLVMValueRef function)
{
    uint32_t size[CTA_DIMENSIONS];

    if (!work_group_size_required(compilation, function, size)) {
        for (uint32_t d = 0; d < CTA_DIMENSIONS; d++) {
            size[d] = work_group_size_of(function, d);
        }
    }
    ir_each_instruction(function, write_ranges, size);
}
