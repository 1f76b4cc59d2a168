/* SPDX-License-Identifier: MIT */
#include "compiler/mir/functions.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/kernel.h"
#include "ppu/macros.h"

#define FIRST_OBJECT 16u /* address 0 of local memory is left free */

/* ---- which ---- */

struct search {
    struct compilation *compilation;
    struct kernel_info *kernel;
    LLVMValueRef *way; /* from the kernel to the function looked at */
    uint32_t depth;
    unsigned way_cap;
};

static void find_callees(struct search *search, LLVMValueRef caller);

static bool is_known(const struct kernel_info *kernel, LLVMValueRef function)
{
    for (uint32_t i = 0; i < kernel->function_count; i++) {
        if (kernel->functions[i].function == function) {
            return true;
        }
    }
    return false;
}

static void visit(struct search *search, LLVMValueRef function)
{
    struct kernel_info *kernel = search->kernel;
    size_t len;

    for (uint32_t i = 0; i < search->depth; i++) {
        if (search->way[i] == function) {
            compilation_fail(search->compilation, PPU_COMPILE_UNSUPPORTED, "recursion: '%s' calls itself",
                             LLVMGetValueName2(function, &len));
        }
    }
    if (is_known(kernel, function)) {
        return;
    }
    find_callees(search, function);
    kernel->functions = arena_grow(&search->compilation->arena, kernel->functions, sizeof(kernel->functions[0]),
                                   kernel->function_count, &kernel->function_cap);
    kernel->functions[kernel->function_count++] =
        (struct function){ .function = function, .name = LLVMGetValueName2(function, &len) };
}

static void find_callees(struct search *search, LLVMValueRef caller)
{
    search->way =
        arena_grow(&search->compilation->arena, search->way, sizeof(LLVMValueRef), search->depth, &search->way_cap);
    search->way[search->depth++] = caller;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(caller); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = ir_called(i);
            if (callee) {
                visit(search, callee);
            }
        }
    }
    search->depth--;
}

void function_find_all(struct compilation *compilation, struct kernel_info *kernel)
{
    struct search search = { .compilation = compilation, .kernel = kernel };

    find_callees(&search, kernel->function);
}

/* ---- frames ---- */

uint32_t function_elements(LLVMTypeRef type)
{
    uint32_t count = 0;

    switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(type);
    case LLVMArrayTypeKind:
        return (uint32_t)LLVMGetArrayLength2(type) * function_elements(LLVMGetElementType(type));
    case LLVMStructTypeKind:
        for (uint32_t i = 0; i < LLVMCountStructElementTypes(type); i++) {
            count += function_elements(LLVMStructGetTypeAtIndex(type, i));
        }
        return count;
    case LLVMVoidTypeKind:
        return 0;
    default:
        return 1;
    }
}

struct frames {
    const struct kernel_info *kernel;
    uint32_t end;
};

static void find_end(LLVMValueRef insn, void *opaque)
{
    struct frames *frames = opaque;
    LLVMValueRef callee = ir_called(insn);

    for (uint32_t i = 0; callee && i < frames->kernel->function_count; i++) {
        const struct function *function = &frames->kernel->functions[i];
        if (function->function == callee) {
            frames->end = PPU_MAX(frames->end, function->frame_end);
        }
    }
}

uint32_t function_callees_end(const struct kernel_info *kernel, LLVMValueRef caller)
{
    struct frames frames = { kernel, 0 };

    ir_each_instruction(caller, find_end, &frames);
    return frames.end;
}

uint32_t function_lay_out(struct compilation *compilation, struct function *function, uint32_t begin)
{
    uint32_t count = LLVMCountParams(function->function), at = begin != 0 ? begin : FIRST_OBJECT;

    function->argument_at = arena_new(&compilation->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        function->argument_at[i] = at;
        at += FUNCTION_ELEMENT_BYTES * function_elements(LLVMTypeOf(LLVMGetParam(function->function, i)));
    }
    function->result_at = at;
    at += FUNCTION_ELEMENT_BYTES * function_elements(LLVMGetReturnType(LLVMGlobalGetValueType(function->function)));
    function->return_at = at;
    return at + FUNCTION_ELEMENT_BYTES;
}
