/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/sub_group_size.h"

#include <stdlib.h>
#include <string.h>

static bool is_possible(uint64_t size)
{
    return size == PPU_LANES || size == 2 * PPU_LANES || size == PPU_MAX_WAVE;
}

/* 0: the kernel requires none. */
static uint64_t required(const struct compilation *compilation, LLVMValueRef kernel)
{
    static const char kind[] = "intel_reqd_sub_group_size";
    LLVMValueRef node =
        LLVMGetMetadata(kernel, LLVMGetMDKindIDInContext(compilation->llvm, kind, (unsigned)strlen(kind)));
    LLVMValueRef size = NULL;

    if (node && LLVMGetMDNodeNumOperands(node) == 1) {
        LLVMGetMDNodeOperands(node, &size);
    }
    return size && LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
}

void sub_group_size_choose(struct compilation *compilation)
{
    const char *first = NULL;
    uint64_t chosen = 0;
    size_t len;

    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        const uint64_t size = required(compilation, f);
        const char *name = LLVMGetValueName2(f, &len);
        if (size == 0) {
            continue;
        }
        if (!is_possible(size)) {
            compilation_fail(compilation, PPU_COMPILE_UNSUPPORTED,
                             "kernel '%s' requires sub-groups of %llu work-items; they have 32, 64 or 128", name,
                             (unsigned long long)size);
        }
        if (first && size != chosen) {
            compilation_fail(compilation, PPU_COMPILE_UNSUPPORTED,
                             "kernels '%s' and '%s' of one program require sub-groups of %llu and %llu work-items",
                             first, name, (unsigned long long)chosen, (unsigned long long)size);
        }
        first = name;
        chosen = size;
    }
    compilation->wave = chosen != 0 ? (uint32_t)chosen : compilation->wave;
}
