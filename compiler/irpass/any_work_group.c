/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/any_work_group.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"
#include "ppu/macros.h"

#include <string.h>

#define MARK "ppu-any-work-group"

/* What is made of the work-group's number and size, but is the same whatever work-groups there are. */
static const char *const same[] = { "_Z13get_global_idj", "_Z15get_global_sizej" };

/* A kernel and all that it calls, each once. */
struct closure {
    struct compilation *compilation;
    LLVMValueRef *functions;
    unsigned count, cap;
};

static void add_function(struct closure *closure, LLVMValueRef function)
{
    for (unsigned i = 0; i < closure->count; i++) {
        if (closure->functions[i] == function) {
            return;
        }
    }
    closure->functions = arena_grow(&closure->compilation->arena, closure->functions, sizeof(LLVMValueRef),
                                    closure->count, &closure->cap);
    closure->functions[closure->count++] = function;
}

/* True when something about the work-group may be learned by the call itself; what it calls is looked at later. */
static bool call_tells(struct closure *closure, LLVMValueRef call)
{
    LLVMValueRef function = ir_called(call);
    const char *name = ir_callee(call);

    if (!function) {
        return !LLVMIsAFunction(LLVMGetCalledValue(call)) || primitive_tells_cta(primitive_find(name));
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(same); i++) {
        if (strcmp(name, same[i]) == 0) {
            return false;
        }
    }
    add_function(closure, function);
    return false;
}

static bool function_tells(struct closure *closure, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (ir_is_instruction(i, LLVMCall) && call_tells(closure, i)) {
                return true;
            }
        }
    }
    return false;
}

static bool takes_shared(LLVMValueRef kernel)
{
    for (uint32_t i = 0; i < LLVMCountParams(kernel); i++) {
        LLVMValueRef param = LLVMGetParam(kernel, i);
        if (LLVMGetTypeKind(LLVMTypeOf(param)) == LLVMPointerTypeKind && ir_pointer_space(param) == SPACE_LOCAL) {
            return true;
        }
    }
    return false;
}

static bool work_group_shows(struct compilation *compilation, LLVMValueRef kernel)
{
    struct closure closure = { .compilation = compilation };
    bool tells = takes_shared(kernel);

    add_function(&closure, kernel);
    for (unsigned i = 0; i < closure.count && !tells; i++) {
        tells = function_tells(&closure, closure.functions[i]);
    }
    return tells;
}

void any_work_group_mark(struct compilation *compilation)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(compilation->module); f; f = LLVMGetNextFunction(f)) {
        if (ir_is_kernel(f) && !LLVMIsDeclaration(f) && !work_group_shows(compilation, f)) {
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                    LLVMCreateStringAttribute(compilation->llvm, MARK, (unsigned)strlen(MARK), "", 0));
        }
    }
}

bool any_work_group_is_right(LLVMValueRef kernel)
{
    return LLVMGetStringAttributeAtIndex(kernel, LLVMAttributeFunctionIndex, MARK, (unsigned)strlen(MARK));
}
