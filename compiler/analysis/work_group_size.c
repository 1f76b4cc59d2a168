/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/work_group_size.h"

#include <stdio.h>
#include <string.h>

#define ATTRIBUTE "ppu-work-group" /* of functions: three numbers */

bool work_group_size_is_possible(const uint32_t size[CTA_DIMENSIONS])
{
    uint64_t threads = 1;

    for (uint32_t d = 0; d < CTA_DIMENSIONS; d++) {
        if (size[d] > PPU_MAX_CTA_DIM) {
            return false;
        }
        threads *= size[d] != 0 ? size[d] : 1;
    }
    return threads <= PPU_MAX_CTA_THREADS && (size[0] | size[1] | size[2]) != 0;
}

void work_group_size_write(struct compilation *compilation, LLVMValueRef function, const uint32_t size[CTA_DIMENSIONS])
{
    char text[48];
    int len = snprintf(text, sizeof(text), "%u %u %u", size[0], size[1], size[2]);

    LLVMAddAttributeAtIndex(
        function, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(compilation->llvm, ATTRIBUTE, (unsigned)strlen(ATTRIBUTE), text, (unsigned)len));
}

uint32_t work_group_size_of(LLVMValueRef function, uint32_t dimension)
{
    LLVMAttributeRef work_group =
        LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, ATTRIBUTE, (unsigned)strlen(ATTRIBUTE));
    uint32_t size[CTA_DIMENSIONS] = { 0 };
    unsigned len;

    if (!work_group || sscanf(LLVMGetStringAttributeValue(work_group, &len), "%u %u %u", &size[0], &size[1],
                              &size[2]) != CTA_DIMENSIONS) {
        return 0;
    }
    return size[dimension];
}

bool work_group_size_required(const struct compilation *compilation, LLVMValueRef function,
                              uint32_t size[CTA_DIMENSIONS])
{
    const uint32_t kind = LLVMGetMDKindIDInContext(compilation->llvm, "reqd_work_group_size", 20);
    LLVMValueRef operands[CTA_DIMENSIONS], node = LLVMGetMetadata(function, kind);

    if (!node || LLVMGetMDNodeNumOperands(node) != CTA_DIMENSIONS) {
        return false;
    }
    LLVMGetMDNodeOperands(node, operands);
    for (uint32_t d = 0; d < CTA_DIMENSIONS; d++) {
        const uint64_t threads = LLVMConstIntGetZExtValue(operands[d]);
        size[d] = threads > PPU_MAX_CTA_DIM ? PPU_MAX_CTA_DIM + 1 : (uint32_t)threads;
    }
    return true;
}

/* Threads of a warp have successive numbers, dimension 0 first: their rows differ only where a warp has several. */
bool work_group_size_is_uniform(const struct compilation *compilation, LLVMValueRef function, uint32_t dimension)
{
    uint32_t before = 1;

    for (uint32_t d = 0; d < dimension; d++) {
        before *= work_group_size_of(function, d);
    }
    return dimension != 0 && before != 0 && before % compilation->wave == 0;
}
