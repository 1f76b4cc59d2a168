/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/copy_arguments.h"

#include "compiler/analysis/ir.h"
#include "ppu/macros.h"

#include <string.h>

/* Choices between pointers that have been looked at. */
struct choices {
    struct compilation *compilation;
    LLVMValueRef *list;
    uint32_t count;
    unsigned cap;
};

static bool is_structure(LLVMValueRef value)
{
    return LLVMIsAArgument(value) && ir_is_byval(value);
}

static bool is_choice(LLVMValueRef value)
{
    return ir_is_instruction(value, LLVMPHI) || ir_is_instruction(value, LLVMSelect);
}

/* False: it was there. */
static bool add_choice(struct choices *choices, LLVMValueRef choice)
{
    for (uint32_t i = 0; i < choices->count; i++) {
        if (choices->list[i] == choice) {
            return false;
        }
    }
    choices->list =
        arena_grow(&choices->compilation->arena, choices->list, sizeof(LLVMValueRef), choices->count, &choices->cap);
    choices->list[choices->count++] = choice;
    return true;
}

/* ---- what is done with a structure ---- */

/* All that the choice may lead to are structures by value. */
static bool leads_to_structures(struct choices *seen, LLVMValueRef choice)
{
    bool all = true;
    bool phi = ir_is_instruction(choice, LLVMPHI);
    uint32_t count = phi ? LLVMCountIncoming(choice) : 2;

    if (!add_choice(seen, choice)) {
        return true;
    }
    for (uint32_t i = 0; i < count && all; i++) {
        LLVMValueRef base = ir_base(phi ? LLVMGetIncomingValue(choice, i) : LLVMGetOperand(choice, i + 1));
        all = is_structure(base) || (is_choice(base) && leads_to_structures(seen, base));
    }
    return all;
}

static bool is_only_read(struct choices *followed, LLVMValueRef pointer);

static bool is_read_by(struct choices *followed, LLVMValueRef user, LLVMValueRef pointer)
{
    struct choices seen = { .compilation = followed->compilation };

    if (!LLVMIsAInstruction(user)) {
        return false;
    }
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
        return true;
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
        return is_only_read(followed, user);
    case LLVMCall:
        return strncmp(ir_callee(user), "llvm.memcpy.", 12) == 0 && LLVMGetOperand(user, 0) != pointer;
    case LLVMPHI:
    case LLVMSelect:
        return ir_pointer_space(user) == SPACE_PRIVATE && leads_to_structures(&seen, user) &&
               (!add_choice(followed, user) || is_only_read(followed, user));
    default:
        return false;
    }
}

static bool is_only_read(struct choices *followed, LLVMValueRef pointer)
{
    bool only = LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMPointerTypeKind;

    for (LLVMUseRef use = LLVMGetFirstUse(pointer); use && only; use = LLVMGetNextUse(use)) {
        only = is_read_by(followed, LLVMGetUser(use), pointer);
    }
    return only;
}

/* ---- copies ---- */

static void copy(struct compilation *compilation, LLVMValueRef function, uint32_t i)
{
    LLVMValueRef argument = LLVMGetParam(function, i);
    uint32_t kind = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
    LLVMTypeRef type = LLVMGetTypeAttributeValue(LLVMGetEnumAttributeAtIndex(function, i + 1, kind));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    uint32_t align = LLVMABIAlignmentOfType(compilation->layout, type);

    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef own = LLVMBuildAlloca(builder, type, "");
    LLVMSetAlignment(own, align);
    LLVMReplaceAllUsesWith(argument, own);
    LLVMBuildMemCpy(
        builder, own, align, argument, align,
        LLVMConstInt(LLVMInt64TypeInContext(compilation->llvm), LLVMABISizeOfType(compilation->layout, type), false));
    LLVMDisposeBuilder(builder);
}

/* ---- generic pointers ---- */

static LLVMValueRef rebuild_step(LLVMBuilderRef builder, LLVMValueRef step, LLVMValueRef from)
{
    LLVMValueRef indices[8];
    uint32_t count = (uint32_t)LLVMGetNumOperands(step) - 1;

    if (count > PPU_ARRAY_SIZE(indices)) {
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        indices[i] = LLVMGetOperand(step, i + 1);
    }
    LLVMPositionBuilderBefore(builder, step);
    LLVMValueRef made = LLVMBuildGEP2(builder, LLVMGetGEPSourceElementType(step), from, indices, count, "");
    LLVMSetIsInBounds(made, LLVMIsInBounds(step));
    return made;
}

/* Loads that reach `from` through a generic pointer to the same reach it directly. */
static void reach_directly(LLVMBuilderRef builder, LLVMValueRef generic, LLVMValueRef from)
{
    for (LLVMUseRef use = LLVMGetFirstUse(generic), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (ir_is_instruction(user, LLVMLoad)) {
            LLVMSetOperand(user, 0, from);
        } else if (ir_is_instruction(user, LLVMGetElementPtr)) {
            LLVMValueRef step = rebuild_step(builder, user, from);
            if (step) {
                reach_directly(builder, user, step);
            }
        }
    }
}

static void leave_generic(LLVMBuilderRef builder, LLVMValueRef pointer)
{
    for (LLVMUseRef use = LLVMGetFirstUse(pointer), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (ir_is_instruction(user, LLVMAddrSpaceCast)) {
            reach_directly(builder, user, pointer);
        } else if (ir_is_instruction(user, LLVMGetElementPtr)) {
            leave_generic(builder, user);
        }
    }
}

void copy_arguments(struct compilation *compilation, LLVMValueRef function)
{
    const uint32_t count = ir_is_kernel(function) ? LLVMCountParams(function) : 0;

    for (bool again = true; again;) { /* what is copied is no structure that a choice may lead to */
        again = false;
        for (uint32_t i = 0; i < count; i++) {
            struct choices followed = { .compilation = compilation };
            LLVMValueRef argument = LLVMGetParam(function, i);
            if (LLVMGetFirstUse(argument) && ir_is_byval(argument) && !is_only_read(&followed, argument)) {
                copy(compilation, function, i);
                again = true;
            }
        }
    }
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    for (uint32_t i = 0; i < count; i++) {
        if (ir_is_byval(LLVMGetParam(function, i))) {
            leave_generic(builder, LLVMGetParam(function, i));
        }
    }
    LLVMDisposeBuilder(builder);
}
