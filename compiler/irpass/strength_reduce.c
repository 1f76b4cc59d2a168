/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/strength_reduce.h"

#include "compiler/analysis/bounds.h"
#include "compiler/analysis/ir.h"
#include "ppu/limits.h"

#define MAX_POINTERS 12u /* that a loop gets: each takes two registers */
#define MAX_DEPTH 6u

/* factor * multiple * counter + something that the loop does not change. */
struct linear {
    LLVMValueRef counter; /* a phi of the loop's header */
    LLVMValueRef factor;  /* NULL: 1 */
    int64_t multiple;
    int64_t step; /* of the counter, each turn */
    uint32_t operations;
    bool is_unsigned; /* widened with zeros */
    bool modulo;      /* of the index only the low 32 bits are known to be so: it may wrap */
};

struct reduction {
    struct compilation *compilation;
    struct ir *ir;
    uint32_t loop;
    uint32_t latch;
    LLVMBuilderRef builder;
    uint32_t pointers;
};

/* ---- what is linear ---- */

/* Sums and products of 32 bits are those of 64 only when they do not wrap. */
static bool may_be_split(const struct linear *linear, LLVMValueRef value)
{
    return linear->modulo || ir_bits_of_integer(value) == 64 ||
           (linear->is_unsigned ? LLVMGetNUW(value) : LLVMGetNSW(value));
}

/* Returns what a phi of the header takes from the latch. */
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
    if (!ir_is_instruction(next, LLVMAdd) || LLVMGetOperand(next, 0) != phi || !may_be_split(linear, next) ||
        !LLVMIsAConstantInt(LLVMGetOperand(next, 1))) {
        return false;
    }
    linear->counter = phi;
    linear->step = LLVMConstIntGetSExtValue(LLVMGetOperand(next, 1));
    return true;
}

static bool read_linear(const struct reduction *r, LLVMValueRef value, struct linear *linear)
{
    if (read_counter(r, value, linear)) {
        return true;
    }
    if (!LLVMIsAInstruction(value) || LLVMGetNumOperands(value) != 2 || ++linear->operations > MAX_DEPTH) {
        return false;
    }
    LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
    bool left = ir_is_invariant(r->ir, r->loop, a);
    bool right = ir_is_invariant(r->ir, r->loop, b);
    if (left == right) {
        return false;
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
        return may_be_split(linear, value) && read_linear(r, left ? b : a, linear);
    case LLVMSub:
        return may_be_split(linear, value) && right && read_linear(r, a, linear);
    case LLVMMul:
        if (!may_be_split(linear, value) || linear->factor) {
            return false;
        }
        linear->factor = left ? a : b;
        return read_linear(r, left ? b : a, linear);
    case LLVMShl:
        if (!may_be_split(linear, value) || !LLVMIsAConstantInt(b) || LLVMConstIntGetZExtValue(b) > 30) {
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
    return ir_is_instruction(index, LLVMSExt) || ir_is_instruction(index, LLVMZExt) ? LLVMGetOperand(index, 0) : index;
}

static bool has_one_use(LLVMValueRef value)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    return use && !LLVMGetNextUse(use);
}

/* Finds what the index is. It may wrap when it is that of an unsigned number. */
static bool read_index(const struct reduction *r, LLVMValueRef index, struct linear *linear)
{
    bool is_unsigned = ir_is_instruction(index, LLVMZExt) && !LLVMGetNNeg(index);

    index = narrow(index);
    if (ir_bits_of_integer(index) != 32 && ir_bits_of_integer(index) != 64) {
        return false;
    }
    *linear = (struct linear){ .multiple = 1, .is_unsigned = is_unsigned };
    if (read_linear(r, index, linear)) {
        return true;
    }
    *linear = (struct linear){ .multiple = 1, .is_unsigned = is_unsigned, .modulo = true };
    return is_unsigned && read_linear(r, index, linear);
}

/* True for an address with one index from a base that the loop does not change. */
static bool is_address(const struct reduction *r, LLVMValueRef value)
{
    return ir_is_instruction(value, LLVMGetElementPtr) && LLVMGetNumOperands(value) == 2 &&
           LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind &&
           ir_is_invariant(r->ir, r->loop, LLVMGetOperand(value, 0)) && !LLVMIsAConstantInt(LLVMGetOperand(value, 1));
}

/* True when each turn computes the address, and it changes by the same each time. */
static bool is_linear(const struct reduction *r, LLVMValueRef address, struct linear *linear)
{
    return flow_dominates(r->ir->flow, r->ir->block_of[ir_value(r->ir, address)], r->latch) &&
           read_index(r, LLVMGetOperand(address, 1), linear);
}

/* ---- what an index is made of ---- */

static bool part_is_scalar(const struct reduction *r, LLVMValueRef value)
{
    uint32_t number = ir_value(r->ir, value);

    return number == IR_NO_VALUE || r->ir->scalar[number];
}

/* Parts that are not negative make something that is not smaller than any of them. */
static bool grows(const struct reduction *r, LLVMValueRef value, const struct linear *linear)
{
    if (linear->is_unsigned) {
        return LLVMGetNUW(value);
    }
    if (LLVMGetNSW(value) || bounds_most(r->ir, value) < PPU_MAX_ID) {
        return true;
    }
    return ir_is_instruction(value, LLVMAdd) && ir_bits_of_integer(value) == 64 &&
           (bounds_most(r->ir, LLVMGetOperand(value, 0)) < PPU_MAX_ID ||
            bounds_most(r->ir, LLVMGetOperand(value, 1)) < PPU_MAX_ID);
}

/*
 * True when the index is a sum of terms that are not negative, each the same for all lanes or the same in each turn.
 * The latter then is at most the index: within an object, and so less than 32 bits as an offset in bytes.
 */
static bool has_terms(const struct reduction *r, LLVMValueRef value, const struct linear *linear, uint32_t block,
                      bool *lanes)
{
    if (value == linear->counter || ir_is_invariant(r->ir, r->loop, value)) {
        *lanes |= !part_is_scalar(r, value);
        return linear->is_unsigned || bounds_natural(r->ir, value, block);
    }
    if (ir_is_instruction(value, LLVMSub) || !grows(r, value, linear)) {
        return false;
    }
    return has_terms(r, LLVMGetOperand(value, 0), linear, block, lanes) &&
           has_terms(r, LLVMGetOperand(value, 1), linear, block, lanes);
}

/* Terms of an index in the first turn; NULL: 0. */
struct terms {
    LLVMValueRef uniform;
    LLVMValueRef lanes;
};

static LLVMValueRef combined(struct reduction *r, LLVMOpcode opcode, LLVMValueRef a, LLVMValueRef b)
{
    if (!a) {
        return opcode == LLVMAdd ? b : NULL;
    }
    return !b ? a : LLVMBuildBinOp(r->builder, opcode, a, b, "");
}

static LLVMValueRef first_of(const struct reduction *r, LLVMValueRef counter)
{
    return LLVMGetIncomingValue(counter, LLVMGetIncomingValue(counter, 0) == next_of(r, counter) ? 1 : 0);
}

/* Computed where the builder stands. */
static struct terms first_terms(struct reduction *r, LLVMValueRef value, const struct linear *linear)
{
    if (value == linear->counter) {
        return (struct terms){ first_of(r, value), NULL };
    }
    if (ir_is_invariant(r->ir, r->loop, value)) {
        return part_is_scalar(r, value) ? (struct terms){ value, NULL } : (struct terms){ NULL, value };
    }
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
    if (opcode == LLVMAdd) {
        struct terms x = first_terms(r, a, linear), y = first_terms(r, b, linear);
        return (struct terms){ combined(r, opcode, x.uniform, y.uniform), combined(r, opcode, x.lanes, y.lanes) };
    }
    bool left = ir_is_invariant(r->ir, r->loop, a); /* times, or shifted by, what the loop does not change */
    struct terms x = first_terms(r, left ? b : a, linear);
    return (struct terms){ combined(r, opcode, x.uniform, left ? a : b), combined(r, opcode, x.lanes, left ? a : b) };
}

/* The index in the first turn, computed where the builder stands. */
static LLVMValueRef first_index(struct reduction *r, LLVMValueRef value, const struct linear *linear)
{
    if (value == linear->counter) {
        return first_of(r, value);
    }
    if (ir_is_invariant(r->ir, r->loop, value)) {
        return value;
    }
    LLVMValueRef a = first_index(r, LLVMGetOperand(value, 0), linear);
    LLVMValueRef b = first_index(r, LLVMGetOperand(value, 1), linear);
    return LLVMBuildBinOp(r->builder, LLVMGetInstructionOpcode(value), a, b, "");
}

/* ---- what moves on ---- */

static LLVMTypeRef i64(const struct reduction *r)
{
    return LLVMInt64TypeInContext(r->compilation->llvm);
}

static LLVMValueRef as_64(struct reduction *r, LLVMValueRef value, const struct linear *linear)
{
    if (LLVMTypeOf(value) == i64(r)) {
        return value;
    }
    return linear->is_unsigned ? LLVMBuildZExt(r->builder, value, i64(r), "")
                               : LLVMBuildSExt(r->builder, value, i64(r), "");
}

/* The low 32 bits of index * size of the address's elements. */
static LLVMValueRef offset_32(struct reduction *r, LLVMValueRef index, LLVMValueRef address)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(r->compilation->llvm);
    uint64_t size = LLVMABISizeOfType(r->compilation->layout, LLVMGetGEPSourceElementType(address));
    LLVMValueRef word = LLVMTypeOf(index) == i32 ? index : LLVMBuildTrunc(r->builder, index, i32, "");

    for (uint32_t shift = 0; shift < 32; shift++) {
        if (size == 1ull << shift) {
            return shift == 0 ? word : LLVMBuildShl(r->builder, word, LLVMConstInt(i32, shift, false), "");
        }
    }
    return LLVMBuildMul(r->builder, word, LLVMConstInt(i32, size, false), "");
}

/* Elements that the address moves by each turn. */
static LLVMValueRef stride(struct reduction *r, const struct linear *linear)
{
    LLVMValueRef count = LLVMConstInt(i64(r), (uint64_t)(linear->step * linear->multiple), true);

    return !linear->factor ? count : LLVMBuildMul(r->builder, as_64(r, linear->factor, linear), count, "");
}

/* Computes the stride in bytes, where one instruction for both products does not make it. */
static LLVMValueRef stride_bytes(struct reduction *r, const struct linear *linear, LLVMTypeRef element)
{
    LLVMValueRef size = LLVMConstInt(i64(r), LLVMABISizeOfType(r->compilation->layout, element), false);

    return LLVMBuildMul(r->builder, stride(r, linear), size, "");
}

static void before_loop(struct reduction *r)
{
    LLVMPositionBuilderBefore(r->builder,
                              LLVMGetBasicBlockTerminator(r->ir->blocks[r->ir->flow->loops[r->loop].preheader]));
}

/* A phi of the header; the builder then stands where the counter moves too: an empty latch needs no code. */
static LLVMValueRef new_phi(struct reduction *r, LLVMTypeRef type, const struct linear *linear)
{
    LLVMPositionBuilderBefore(r->builder, LLVMGetFirstInstruction(r->ir->blocks[r->ir->flow->loops[r->loop].header]));
    LLVMValueRef phi = LLVMBuildPhi(r->builder, type, "");
    LLVMPositionBuilderBefore(r->builder,
                              LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(next_of(r, linear->counter))));
    return phi;
}

static void close_phi(struct reduction *r, LLVMValueRef phi, LLVMValueRef first, LLVMValueRef next)
{
    LLVMBasicBlockRef blocks[2] = { r->ir->blocks[r->ir->flow->loops[r->loop].preheader], r->ir->blocks[r->latch] };
    LLVMValueRef values[2] = { first, next };

    LLVMAddIncoming(phi, values, blocks, 2);
}

/* A pointer that begins at `first` + index, and moves with the address. */
static LLVMValueRef moving_pointer(struct reduction *r, LLVMValueRef address, LLVMValueRef first, LLVMValueRef index,
                                   const struct linear *linear)
{
    LLVMTypeRef element = LLVMGetGEPSourceElementType(address);

    before_loop(r);
    if (index) {
        index = as_64(r, index, linear);
        first = LLVMBuildGEP2(r->builder, element, first, &index, 1, "");
    }
    bool once = linear->step * linear->multiple != 1;
    LLVMValueRef by = once ? stride_bytes(r, linear, element) : stride(r, linear);
    LLVMValueRef pointer = new_phi(r, LLVMTypeOf(address), linear);
    LLVMTypeRef stepped = once ? LLVMInt8TypeInContext(r->compilation->llvm) : element;
    close_phi(r, pointer, first, LLVMBuildGEP2(r->builder, stepped, pointer, &by, 1, ""));
    return pointer;
}

/* In place of the address one that is an offset of each lane, 32 bits without a sign, from a base. */
static void replace(struct reduction *r, LLVMValueRef address, LLVMValueRef base, LLVMValueRef offset)
{
    LLVMPositionBuilderBefore(r->builder, address);
    LLVMValueRef wide = LLVMBuildZExt(r->builder, offset, i64(r), "");
    LLVMReplaceAllUsesWith(address,
                           LLVMBuildGEP2(r->builder, LLVMInt8TypeInContext(r->compilation->llvm), base, &wide, 1, ""));
}

/* ---- four forms ---- */

/* An address that is a base for all lanes and an index that the loop does not change, not negative in the block. */
static bool is_lane_base(const struct reduction *r, LLVMValueRef base, uint32_t block)
{
    return ir_is_instruction(base, LLVMGetElementPtr) && LLVMGetNumOperands(base) == 2 && !part_is_scalar(r, base) &&
           part_is_scalar(r, LLVMGetOperand(base, 0)) && bounds_natural(r->ir, LLVMGetOperand(base, 1), block);
}

/*
 * One pointer for all lanes moves on, what differs between them stays: scalar base and lane offset. What differs may be
 * part of the index, or of the base.
 */
static bool share(struct reduction *r, LLVMValueRef address, const struct linear *linear)
{
    LLVMValueRef base = LLVMGetOperand(address, 0), index = narrow(LLVMGetOperand(address, 1)), offset = NULL;
    uint32_t block = r->ir->block_of[ir_value(r->ir, address)];
    bool based = is_lane_base(r, base, block), lanes = based;
    LLVMValueRef root = based ? LLVMGetOperand(base, 0) : base;

    if (linear->modulo || !bounds_inside(r->ir, address, root, block) || !part_is_scalar(r, root) ||
        !part_is_scalar(r, linear->counter) || (linear->factor && !part_is_scalar(r, linear->factor)) ||
        !has_terms(r, index, linear, block, &lanes) || !lanes) {
        return false;
    }
    before_loop(r);
    struct terms terms = first_terms(r, index, linear);
    if (terms.lanes) {
        offset = offset_32(r, terms.lanes, address);
    }
    if (based) {
        LLVMValueRef more = offset_32(r, LLVMGetOperand(base, 1), base);
        offset = offset ? LLVMBuildAdd(r->builder, offset, more, "") : more;
    }
    replace(r, address, moving_pointer(r, address, root, terms.uniform, linear), offset);
    return true;
}

/* The base differs between lanes and stays, and the index is one for all of them: the two are exchanged. */
static bool exchange(struct reduction *r, LLVMValueRef address)
{
    LLVMValueRef base = LLVMGetOperand(address, 0), index = LLVMGetOperand(address, 1);
    uint32_t block = r->ir->block_of[ir_value(r->ir, address)];

    if (!is_lane_base(r, base, block) || !part_is_scalar(r, index) || !bounds_natural(r->ir, index, block) ||
        !bounds_inside(r->ir, address, LLVMGetOperand(base, 0), block)) {
        return false;
    }
    before_loop(r);
    LLVMValueRef offset = offset_32(r, LLVMGetOperand(base, 1), base);
    LLVMPositionBuilderBefore(r->builder, address);
    base = LLVMBuildGEP2(r->builder, LLVMGetGEPSourceElementType(address), LLVMGetOperand(base, 0), &index, 1, "");
    replace(r, address, base, offset);
    return true;
}

static bool is_worth_it(LLVMValueRef address, const struct linear *linear)
{
    return has_one_use(narrow(LLVMGetOperand(address, 1))) && linear->operations != 0;
}

/* The base stays, an offset of each lane moves on. */
static bool move_offset(struct reduction *r, LLVMValueRef address, const struct linear *linear)
{
    LLVMValueRef base = LLVMGetOperand(address, 0), index = narrow(LLVMGetOperand(address, 1));
    uint32_t block = r->ir->block_of[ir_value(r->ir, address)];

    if (!bounds_inside(r->ir, address, base, block) || !is_worth_it(address, linear) || !part_is_scalar(r, base) ||
        part_is_scalar(r, index) || !(linear->modulo || bounds_natural(r->ir, index, block))) {
        return false;
    }
    before_loop(r);
    LLVMValueRef first = offset_32(r, first_index(r, index, linear), address);
    LLVMValueRef by = offset_32(r, stride(r, linear), address);
    LLVMValueRef offset = new_phi(r, LLVMTypeOf(first), linear);
    close_phi(r, offset, first, LLVMBuildAdd(r->builder, offset, by, ""));
    replace(r, address, base, offset);
    return true;
}

/* The address itself moves on. */
static bool move_pointer(struct reduction *r, LLVMValueRef address, const struct linear *linear)
{
    if (linear->modulo || !is_worth_it(address, linear)) {
        return false;
    }
    before_loop(r);
    LLVMValueRef index = first_index(r, narrow(LLVMGetOperand(address, 1)), linear);
    LLVMReplaceAllUsesWith(address, moving_pointer(r, address, LLVMGetOperand(address, 0), index, linear));
    return true;
}

/* True when something new moves on in the loop. */
static bool reduce(struct reduction *r, LLVMValueRef address)
{
    struct linear linear;

    if (is_linear(r, address, &linear) &&
        (share(r, address, &linear) || move_offset(r, address, &linear) || move_pointer(r, address, &linear))) {
        return true;
    }
    exchange(r, address);
    return false;
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

void strength_reduce(struct compilation *compilation, LLVMValueRef function)
{
    struct ir *ir = ir_new(compilation, function);

    if (ir->flow->loop_count == 0) {
        return;
    }
    struct reduction r = { .compilation = compilation,
                           .ir = ir,
                           .builder = LLVMCreateBuilderInContext(compilation->llvm) };

    ir_find_scalars(ir);
    for (r.loop = 0; r.loop < ir->flow->loop_count; r.loop++) {
        r.latch = find_latch(ir->flow, r.loop);
        r.pointers = 0;
        const uint32_t end = ir_loop_end(ir, r.loop);
        for (uint32_t v = ir_loop_begin(ir, r.loop); v < end && r.pointers < MAX_POINTERS; v++) {
            if (flow_in_loop(ir->flow, r.loop, ir->block_of[v]) && is_address(&r, ir->values[v])) {
                r.pointers += reduce(&r, ir->values[v]);
            }
        }
    }
    LLVMDisposeBuilder(r.builder);
}
