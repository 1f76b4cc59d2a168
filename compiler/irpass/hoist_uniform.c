/* SPDX-License-Identifier: MIT */
/*
 * A value of a block that lanes may pass apart is no scalar, as those that come later would find it overwritten
 * (analysis/uniformity.c). So `if (i < lane) sum += part[i]` computes the address of the same element for each lane,
 * each turn, where the load could take it from a scalar register. What is moved has no effect, and nothing uses it
 * where it was not computed before. Addresses of stores stay: a branch before a store to one place mostly leaves one
 * lane, and the tier has no fast way for stores of several lanes to one.
 */
#include "compiler/irpass/hoist_uniform.h"

#include "compiler/analysis/ir.h"

#define MOST_LOOKED_AT 64u /* values that an address is computed from */

struct uniform {
    struct ir *ir;
    LLVMBuilderRef builder;
    bool *moved; /* of each value: it stands where the warp is together */
    uint32_t to; /* the block that an address is moved to */
};

static bool is_together(const struct uniform *u, LLVMValueRef value)
{
    const uint32_t number = ir_value(u->ir, value);

    return number == IR_NO_VALUE || u->ir->scalar[number] || u->moved[number];
}

static bool is_movable(LLVMValueRef insn)
{
    return LLVMIsAInstruction(insn) && ir_may_be_guarded(insn) && !ir_is_instruction(insn, LLVMLoad) &&
           !ir_is_instruction(insn, LLVMStore) &&
           (ir_bits_of_integer(insn) != 0 || LLVMGetTypeKind(LLVMTypeOf(insn)) == LLVMPointerTypeKind);
}

/* True when lanes may pass the block apart, and come there from where an address is moved to. */
static bool may_leave(const struct uniform *u, uint32_t block)
{
    return !u->ir->flow->convergent[block] && flow_dominates(u->ir->flow, u->to, block);
}

/* True when the value is the same for all lanes, though some of them alone may compute it. */
static bool is_uniform(const struct uniform *u, LLVMValueRef value, uint32_t *left)
{
    if (is_together(u, value)) {
        return true;
    }
    if (*left == 0 || !is_movable(value) || !may_leave(u, u->ir->block_of[ir_value(u->ir, value)])) {
        return false;
    }
    --*left;
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        if (!is_uniform(u, LLVMGetOperand(value, (unsigned)i), left)) {
            return false;
        }
    }
    return true;
}

/* What the value is computed from goes first. */
static void move(struct uniform *u, LLVMValueRef value, LLVMValueRef before)
{
    if (is_together(u, value)) {
        return;
    }
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        move(u, LLVMGetOperand(value, (unsigned)i), before);
    }
    LLVMInstructionRemoveFromParent(value);
    LLVMPositionBuilderBefore(u->builder, before);
    LLVMInsertIntoBuilder(u->builder, value);
    u->moved[ir_value(u->ir, value)] = true;
}

/* An access adds constants to its address at no cost. */
static LLVMValueRef without_constants(LLVMValueRef pointer)
{
    while (ir_is_instruction(pointer, LLVMGetElementPtr) && LLVMGetNumOperands(pointer) == 2 &&
           LLVMIsAConstantInt(LLVMGetOperand(pointer, 1))) {
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer;
}

static void hoist_address(struct uniform *u, uint32_t number)
{
    const struct flow *flow = u->ir->flow;
    LLVMValueRef insn = u->ir->values[number];
    LLVMValueRef pointer = ir_is_instruction(insn, LLVMLoad) ? LLVMGetOperand(insn, 0) : NULL;
    uint32_t left = MOST_LOOKED_AT;

    u->to = u->ir->block_of[number];
    if (!pointer || flow->convergent[u->to]) {
        return;
    }
    while (!flow->convergent[u->to] && u->to != 0) {
        u->to = flow->blocks[u->to].idom;
    }
    pointer = without_constants(pointer);
    if (flow->convergent[u->to] && is_uniform(u, pointer, &left)) {
        move(u, pointer, LLVMGetBasicBlockTerminator(u->ir->blocks[u->to]));
    }
}

void hoist_uniform(struct compilation *compilation, LLVMValueRef function)
{
    struct uniform u = { .ir = ir_new(compilation, function) };

    ir_find_scalars(u.ir);
    u.builder = LLVMCreateBuilderInContext(compilation->llvm);
    u.moved = arena_new(&compilation->arena, bool, u.ir->value_count);
    for (uint32_t v = u.ir->argument_count; v < u.ir->value_count; v++) {
        hoist_address(&u, v);
    }
    LLVMDisposeBuilder(u.builder);
}
