/* SPDX-License-Identifier: MIT */
#include "strength.h"

#include "ir.h"

#define MAX_POINTERS 8u /* that a loop gets: each takes two registers a lane */
#define MAX_DEPTH 6u

/* factor * multiple * counter + something that the loop does not change. */
struct linear {
    LLVMValueRef counter; /* a phi of the loop's header */
    LLVMValueRef factor;  /* NULL: 1 */
    int64_t multiple;
    int64_t step; /* of the counter, each turn */
    uint32_t operations;
};

struct reduction {
    struct unit *unit;
    struct ir *ir;
    uint32_t loop;
    uint32_t latch;
    LLVMBuilderRef builder;
    uint32_t pointers;
};

/* ---- what is linear ---- */

/* Sums and products of 32 bits are those of 64 only when they do not wrap. */
static bool does_not_wrap(LLVMValueRef value)
{
    return ir_bits_of_integer(value) == 64 || LLVMGetNSW(value);
}

/* What a phi of the header takes from the latch. */
static LLVMValueRef next_of(const struct reduction *r, LLVMValueRef phi)
{
    return LLVMGetIncomingValue(phi, ir_block(r->ir, LLVMGetIncomingBlock(phi, 0)) == r->latch ? 0 : 1);
}

static bool read_counter(const struct reduction *r, LLVMValueRef phi, struct linear *linear)
{
    const struct flow_loop *loop = &r->ir->flow->loops[r->loop];

    if (!ir_is_instruction(phi, LLVMPHI) || ir_bits_of_integer(phi) == 0 || LLVMCountIncoming(phi) != 2 ||
        r->ir->block_of[ir_value(r->ir, phi)] != loop->header) {
        return false;
    }
    LLVMValueRef next = next_of(r, phi);
    if (!ir_is_instruction(next, LLVMAdd) || LLVMGetOperand(next, 0) != phi || !does_not_wrap(next) ||
        LLVMIsAConstantInt(LLVMGetOperand(next, 1)) == NULL) {
        return false;
    }
    linear->counter = phi;
    linear->step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    return true;
}

static bool read_linear(const struct reduction *r, LLVMValueRef value, struct linear *linear)
{
    bool left, right;

    if (read_counter(r, value, linear)) {
        return true;
    }
    if (LLVMIsAInstruction(value) == NULL || LLVMGetNumOperands(value) != 2 || ++linear->operations > MAX_DEPTH) {
        return false;
    }
    LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
    left = ir_is_invariant(r->ir, r->loop, a);
    right = ir_is_invariant(r->ir, r->loop, b);
    if (left == right) {
        return false;
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
        return does_not_wrap(value) && read_linear(r, left ? b : a, linear);
    case LLVMSub:
        return does_not_wrap(value) && right && read_linear(r, a, linear);
    case LLVMMul:
        if (!does_not_wrap(value) || linear->factor != NULL) {
            return false;
        }
        linear->factor = left ? a : b;
        return read_linear(r, left ? b : a, linear);
    case LLVMShl:
        if (!does_not_wrap(value) || LLVMIsAConstantInt(b) == NULL || LLVMConstIntGetZExtValue(b) > 30) {
            return false;
        }
        linear->multiple *= 1ll << LLVMConstIntGetZExtValue(b);
        return read_linear(r, a, linear);
    default:
        return false;
    }
}

/* The integer that an index is widened from. */
static LLVMValueRef narrow(LLVMValueRef index)
{
    bool widened = ir_is_instruction(index, LLVMSExt) || (ir_is_instruction(index, LLVMZExt) && LLVMGetNNeg(index));

    return widened ? LLVMGetOperand(index, 0) : index;
}

static bool has_one_use(LLVMValueRef value)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    return use != NULL && LLVMGetNextUse(use) == NULL;
}

/* True when the address is computed every turn, by more than one instruction, and changes by the same each time. */
static bool is_worth_it(const struct reduction *r, LLVMValueRef address, struct linear *linear)
{
    LLVMValueRef index;

    *linear = (struct linear){ .multiple = 1 };
    if (!ir_is_instruction(address, LLVMGetElementPtr) || LLVMGetNumOperands(address) != 2 ||
        LLVMGetTypeKind(LLVMTypeOf(address)) != LLVMPointerTypeKind ||
        !ir_is_invariant(r->ir, r->loop, LLVMGetOperand(address, 0)) ||
        !flow_dominates(r->ir->flow, r->ir->block_of[ir_value(r->ir, address)], r->latch)) {
        return false;
    }
    index = narrow(LLVMGetOperand(address, 1));
    return (ir_bits_of_integer(index) == 32 || ir_bits_of_integer(index) == 64) && has_one_use(index) &&
           read_linear(r, index, linear) && linear->operations != 0;
}

/* ---- the pointer ---- */

/* The index in the first turn, computed where the builder stands. */
static LLVMValueRef first_index(struct reduction *r, LLVMValueRef value, const struct linear *linear)
{
    if (value == linear->counter) {
        return LLVMGetIncomingValue(value, LLVMGetIncomingValue(value, 0) == next_of(r, value) ? 1 : 0);
    }
    if (ir_is_invariant(r->ir, r->loop, value)) {
        return value;
    }
    LLVMValueRef a = first_index(r, LLVMGetOperand(value, 0), linear);
    LLVMValueRef b = first_index(r, LLVMGetOperand(value, 1), linear);
    return LLVMBuildBinOp(r->builder, LLVMGetInstructionOpcode(value), a, b, "");
}

static LLVMValueRef as_64(struct reduction *r, LLVMValueRef value)
{
    LLVMTypeRef i64 = LLVMInt64TypeInContext(r->unit->llvm);

    return LLVMTypeOf(value) == i64 ? value : LLVMBuildSExt(r->builder, value, i64, "");
}

/* Elements that the pointer moves by each turn. */
static LLVMValueRef stride(struct reduction *r, const struct linear *linear)
{
    LLVMValueRef count =
        LLVMConstInt(LLVMInt64TypeInContext(r->unit->llvm), (uint64_t)(linear->step * linear->multiple), true);

    return linear->factor == NULL ? count : LLVMBuildMul(r->builder, as_64(r, linear->factor), count, "");
}

static void reduce(struct reduction *r, LLVMValueRef address, const struct linear *linear)
{
    const struct flow_loop *loop = &r->ir->flow->loops[r->loop];
    LLVMBasicBlockRef blocks[2] = { r->ir->blocks[loop->preheader], r->ir->blocks[r->latch] };
    LLVMTypeRef element = LLVMGetGEPSourceElementType(address);
    LLVMValueRef base = LLVMGetOperand(address, 0), index = narrow(LLVMGetOperand(address, 1)), values[2], by, first;

    LLVMPositionBuilderBefore(r->builder, LLVMGetBasicBlockTerminator(blocks[0]));
    first = as_64(r, first_index(r, index, linear));
    values[0] = LLVMBuildGEP2(r->builder, element, base, &first, 1, "");
    by = stride(r, linear);
    LLVMPositionBuilderBefore(r->builder, LLVMGetFirstInstruction(r->ir->blocks[loop->header]));
    LLVMValueRef pointer = LLVMBuildPhi(r->builder, LLVMTypeOf(address), "");
    /* Where the counter moves too: an empty latch needs no code. */
    LLVMPositionBuilderBefore(r->builder,
                              LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(next_of(r, linear->counter))));
    values[1] = LLVMBuildGEP2(r->builder, element, pointer, &by, 1, "");
    LLVMAddIncoming(pointer, values, blocks, 2);
    LLVMReplaceAllUsesWith(address, pointer);
    r->pointers++;
}

static uint32_t find_latch(const struct flow *flow, uint32_t loop)
{
    const struct flow_block *header = &flow->blocks[flow->loops[loop].header];
    uint32_t latch = FLOW_NONE;

    for (uint32_t p = 0; p < header->pred_count; p++) {
        if (flow_in_loop(flow, loop, header->preds[p])) {
            latch = header->preds[p];
        }
    }
    return latch;
}

void strength_reduce(struct unit *unit, LLVMValueRef function)
{
    struct ir *ir = ir_new(unit, function);
    struct reduction r = { .unit = unit, .ir = ir, .builder = LLVMCreateBuilderInContext(unit->llvm) };

    for (r.loop = 0; r.loop < ir->flow->loop_count; r.loop++) {
        r.latch = find_latch(ir->flow, r.loop);
        r.pointers = 0;
        for (uint32_t v = ir->argument_count; v < ir->value_count && r.pointers < MAX_POINTERS; v++) {
            struct linear linear;
            if (flow_in_loop(ir->flow, r.loop, ir->block_of[v]) && is_worth_it(&r, ir->values[v], &linear)) {
                reduce(&r, ir->values[v], &linear);
            }
        }
    }
    LLVMDisposeBuilder(r.builder);
}
