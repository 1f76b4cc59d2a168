/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/kernel_argument.h"

#include <string.h>

#include "compiler/analysis/ir.h"
#include "ppu/image.h"
#include "ppu/macros.h"

const char *kernel_argument_text(struct compilation *compilation, LLVMValueRef kernel, const char *name, uint32_t i)
{
    LLVMValueRef node =
        LLVMGetMetadata(kernel, LLVMGetMDKindIDInContext(compilation->llvm, name, (unsigned)strlen(name)));
    uint32_t count = node ? LLVMGetMDNodeNumOperands(node) : 0;
    unsigned len;

    if (i >= count) {
        return "";
    }
    LLVMValueRef *operands = arena_new(&compilation->arena, LLVMValueRef, count);
    LLVMGetMDNodeOperands(node, operands);
    const char *string = operands[i] ? LLVMGetMDString(operands[i], &len) : NULL;
    if (!string) {
        return "";
    }
    char *copy = arena_alloc(&compilation->arena, len + 1);
    memcpy(copy, string, len);
    return copy;
}

/* Types of OpenCL C that are addresses or numbers to the machine. */
static const struct {
    const char *type;
    uint8_t kind;
} opaque_kinds[] = {
    { "queue_t", PPU_ARGUMENT_QUEUE },
    { "sampler_t", PPU_ARGUMENT_SAMPLER },
    { "image1d_t", PPU_ARGUMENT_IMAGE1D },
    { "image1d_buffer_t", PPU_ARGUMENT_IMAGE1D_BUFFER },
    { "image1d_array_t", PPU_ARGUMENT_IMAGE1D_ARRAY },
    { "image2d_t", PPU_ARGUMENT_IMAGE2D },
    { "image2d_depth_t", PPU_ARGUMENT_IMAGE2D_DEPTH },
    { "image2d_array_t", PPU_ARGUMENT_IMAGE2D_ARRAY },
    { "image2d_array_depth_t", PPU_ARGUMENT_IMAGE2D_ARRAY_DEPTH },
    { "image3d_t", PPU_ARGUMENT_IMAGE3D },
};

uint8_t kernel_argument_kind(struct compilation *compilation, LLVMValueRef kernel, uint32_t i)
{
    LLVMValueRef argument = LLVMGetParam(kernel, i);
    const char *type = kernel_argument_text(compilation, kernel, "kernel_arg_base_type", i);

    for (size_t k = 0; k < PPU_ARRAY_SIZE(opaque_kinds); k++) {
        if (strcmp(type, opaque_kinds[k].type) == 0) {
            return opaque_kinds[k].kind;
        }
    }
    if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind || ir_is_byval(argument)) {
        return PPU_ARGUMENT_VALUE;
    }
    switch (ir_pointer_space(argument)) {
    case SPACE_CONSTANT:
        return PPU_ARGUMENT_CONSTANT;
    case SPACE_LOCAL:
        return PPU_ARGUMENT_LOCAL;
    default:
        return PPU_ARGUMENT_GLOBAL;
    }
}

uint32_t kernel_argument_bounds(struct compilation *compilation, LLVMValueRef kernel)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < LLVMCountParams(kernel); i++) {
        count += ppu_argument_is_memory(kernel_argument_kind(compilation, kernel, i));
    }
    return PPU_MIN(count, PPU_SANITIZER_BOUNDED);
}
