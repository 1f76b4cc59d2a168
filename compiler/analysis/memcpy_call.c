/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/memcpy_call.h"

#include <stdbool.h>
#include <stddef.h>

uint32_t memcpy_call_align(LLVMValueRef call)
{
    uint32_t kind = LLVMGetEnumAttributeKindForName("align", 5), least = UINT32_MAX;

    for (uint32_t i = 0; i < 2; i++) {
        LLVMAttributeRef attribute = LLVMGetCallSiteEnumAttribute(call, i + 1, kind);
        uint32_t align = attribute ? (uint32_t)LLVMGetEnumAttributeValue(attribute) : 1;
        bool pointer = LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, i))) == LLVMPointerTypeKind;
        least = pointer && align < least ? align : least;
    }
    return least;
}
