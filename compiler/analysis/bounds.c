/* SPDX-License-Identifier: MIT */
#include "compiler/analysis/bounds.h"

#include "compiler/analysis/work_item.h"
#include "ppu/limits.h"
#include "ppu/macros.h"

#include <string.h>

#define EFFORT 6u /* how deep questions go */
#define SMALL_IDS "ppu-small-ids"
#define CONDITION_DEPTH 6u
#define MOST_CONSTANT 0x40000000 /* added to what is asked about */

struct question {
    const struct ir *ir;
    uint32_t block; /* where the answer is to hold; 0: anywhere */
    bool small_ids; /* of a launch whose ids are below PPU_MAX_SMALL_ID */
};

static uint64_t most_of(struct question q, LLVMValueRef value, uint32_t effort);
static bool is_natural(struct question q, LLVMValueRef value, uint32_t effort);
static bool at_least(struct question q, LLVMValueRef value, int64_t least, uint32_t effort);

bool bounds_small_ids(LLVMValueRef kernel)
{
    return LLVMGetStringAttributeAtIndex(kernel, LLVMAttributeFunctionIndex, SMALL_IDS, (unsigned)strlen(SMALL_IDS));
}

void bounds_assume_small_ids(struct compilation *compilation, LLVMValueRef kernel)
{
    LLVMAddAttributeAtIndex(
        kernel, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(compilation->llvm, SMALL_IDS, (unsigned)strlen(SMALL_IDS), "", 0));
}

/* ---- bounds ---- */

static uint64_t add_bounds(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t call_bound(LLVMValueRef call)
{
    static const uint32_t most[PPU_SR_COUNT] = {
#define PPU_SR(name, text, number, of, most, doc) [number] = (most),
#include "ppu/isa.def"
    };
    uint32_t sr = work_item_register(call);

    return sr < PPU_SR_COUNT ? most[sr] : UINT64_MAX;
}

static uint64_t operation_bound(struct question q, LLVMValueRef value, uint32_t effort)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);

    if (opcode == LLVMCall) {
        return call_bound(value);
    }
    if (opcode == LLVMZExt) {
        return most_of(q, LLVMGetOperand(value, 0), effort);
    }
    if (LLVMGetNumOperands(value) != 2 || LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMIntegerTypeKind) {
        return UINT64_MAX;
    }
    if (opcode != LLVMAnd && opcode != LLVMURem && opcode != LLVMLShr && opcode != LLVMAdd && opcode != LLVMMul &&
        opcode != LLVMShl && opcode != LLVMOr) {
        return UINT64_MAX;
    }
    uint64_t a = most_of(q, LLVMGetOperand(value, 0), effort);
    uint64_t b = most_of(q, LLVMGetOperand(value, 1), effort);
    switch (opcode) {
    case LLVMAnd:
        return PPU_MIN(a, b);
    case LLVMURem:
        return b != UINT64_MAX && b != 0 ? b - 1 : a;
    case LLVMLShr:
        return a != UINT64_MAX && LLVMIsAConstantInt(LLVMGetOperand(value, 1)) && b < 64 ? a >> b : a;
    case LLVMAdd:
        return add_bounds(a, b);
    case LLVMOr: /* no bit above the highest of either */
        return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : add_bounds(a, b);
    case LLVMMul:
        return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
    default: /* shl */
        return LLVMIsAConstantInt(LLVMGetOperand(value, 1)) && b < 32 && a <= UINT32_MAX ? a << b : UINT64_MAX;
    }
}

static uint64_t most_of(struct question q, LLVMValueRef value, uint32_t effort)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    uint64_t bound = UINT64_MAX;

    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || LLVMGetIntTypeWidth(type) > 64) {
        return UINT64_MAX;
    }
    uint32_t bits = LLVMGetIntTypeWidth(type);
    uint64_t most = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (LLVMIsAConstantInt(value)) {
        return LLVMConstIntGetZExtValue(value);
    }
    if (effort != 0 && LLVMIsAInstruction(value)) {
        bound = operation_bound(q, value, effort - 1);
    }
    bound = PPU_MIN(bound, most);
    uint64_t id = q.small_ids ? PPU_MAX_SMALL_ID : bits == 64 ? PPU_MAX_ID : UINT64_MAX;
    return bound >= id && work_item_is_global(value) ? id - 1 : bound;
}

/* ---- branches ---- */

/* Returns the predicate that holds when the comparison is known to be false. */
static LLVMIntPredicate opposite(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntEQ:
        return LLVMIntNE;
    case LLVMIntNE:
        return LLVMIntEQ;
    case LLVMIntUGT:
        return LLVMIntULE;
    case LLVMIntUGE:
        return LLVMIntULT;
    case LLVMIntULT:
        return LLVMIntUGE;
    case LLVMIntULE:
        return LLVMIntUGT;
    case LLVMIntSGT:
        return LLVMIntSLE;
    case LLVMIntSGE:
        return LLVMIntSLT;
    case LLVMIntSLT:
        return LLVMIntSGE;
    default:
        return LLVMIntSGT;
    }
}

/* Returns the predicate of the comparison with its sides exchanged. */
static LLVMIntPredicate turned(LLVMIntPredicate predicate)
{
    switch (predicate) {
    case LLVMIntUGT:
        return LLVMIntULT;
    case LLVMIntUGE:
        return LLVMIntULE;
    case LLVMIntULT:
        return LLVMIntUGT;
    case LLVMIntULE:
        return LLVMIntUGE;
    case LLVMIntSGT:
        return LLVMIntSLT;
    case LLVMIntSGE:
        return LLVMIntSLE;
    case LLVMIntSLT:
        return LLVMIntSGT;
    case LLVMIntSLE:
        return LLVMIntSGE;
    default:
        return predicate;
    }
}

/* value + constant, which does not overflow, of which the constant is put into *add; the value, which adds 0. */
static LLVMValueRef without_constant(LLVMValueRef value, int64_t *add)
{
    *add = 0;
    if (ir_is_instruction(value, LLVMAdd) && LLVMGetNSW(value) && LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
        *add = LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
        return LLVMGetOperand(value, 0);
    }
    return value;
}

/* Asks whether value >= least, as signed numbers. */
struct claim {
    LLVMValueRef value;
    int64_t least;
};

/* The comparison says so of its operand `side`, or of what that adds a constant to. */
static bool side_says(struct question q, LLVMValueRef comparison, bool truth, uint32_t side, struct claim claim,
                      uint32_t effort)
{
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(comparison);
    LLVMValueRef operand = LLVMGetOperand(comparison, side), other = LLVMGetOperand(comparison, 1 - side);
    int64_t add, least = claim.least;

    if (operand != claim.value) {
        if (without_constant(operand, &add) != claim.value || add > MOST_CONSTANT || add < -MOST_CONSTANT) {
            return false;
        }
        least += add;
    }
    predicate = truth ? predicate : opposite(predicate);
    predicate = side == 0 ? predicate : turned(predicate);
    switch (predicate) {
    case LLVMIntSGT:
        return at_least(q, other, least - 1, effort);
    case LLVMIntSGE:
    case LLVMIntEQ:
        return at_least(q, other, least, effort);
    case LLVMIntULT:
    case LLVMIntULE:
        return least <= 0 && is_natural(q, other, effort);
    default:
        return false;
    }
}

static bool comparison_says(struct question q, LLVMValueRef comparison, bool truth, struct claim claim, uint32_t effort)
{
    return side_says(q, comparison, truth, 0, claim, effort) || side_says(q, comparison, truth, 1, claim, effort);
}

static bool is_constant(LLVMValueRef value, uint64_t number)
{
    return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == number;
}

/* A condition that is known to be true, or false, says so. */
static bool condition_says(struct question q, LLVMValueRef condition, bool truth, struct claim claim, uint32_t depth,
                           uint32_t effort)
{
    LLVMValueRef a, b;

    if (ir_is_instruction(condition, LLVMICmp)) {
        return comparison_says(q, condition, truth, claim, effort);
    }
    if (depth == 0) {
        return false;
    }
    if (ir_is_instruction(condition, truth ? LLVMAnd : LLVMOr)) {
        a = LLVMGetOperand(condition, 0);
        b = LLVMGetOperand(condition, 1);
    } else if (ir_is_instruction(condition, LLVMSelect) &&
               is_constant(LLVMGetOperand(condition, truth ? 2 : 1), truth ? 0 : 1)) { /* and, or without the second */
        a = LLVMGetOperand(condition, 0);
        b = LLVMGetOperand(condition, truth ? 1 : 2);
    } else {
        return false;
    }
    return condition_says(q, a, truth, claim, depth - 1, effort) ||
           condition_says(q, b, truth, claim, depth - 1, effort);
}

/* Some branch on every way to the block says so. */
static bool branches_say(struct question q, struct claim claim, uint32_t effort)
{
    const struct flow *flow = q.ir ? q.ir->flow : NULL;

    for (uint32_t b = flow ? q.block : 0; b != 0; b = flow->blocks[b].idom) {
        uint32_t from = flow->blocks[b].pred_count == 1 ? flow->blocks[b].preds[0] : FLOW_NONE;
        if (from != FLOW_NONE && flow->blocks[from].succs == 2 &&
            flow->blocks[from].succ[0] != flow->blocks[from].succ[1]) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(q.ir->blocks[from]);
            struct question there = { q.ir, from, q.small_ids };
            if (condition_says(there, LLVMGetCondition(end), flow->blocks[from].succ[0] == b, claim, CONDITION_DEPTH,
                               effort)) {
                return true;
            }
        }
    }
    return false;
}

/* ---- numbers that are not negative ---- */

static bool both_natural(struct question q, LLVMValueRef value, uint32_t first, uint32_t effort)
{
    return is_natural(q, LLVMGetOperand(value, first), effort) &&
           is_natural(q, LLVMGetOperand(value, first + 1), effort);
}

/* Every way in brings what is not negative, or the phi itself with something added that cannot overflow. */
static bool natural_phi(struct question q, LLVMValueRef phi, uint32_t effort)
{
    for (uint32_t i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef in = LLVMGetIncomingValue(phi, i);
        bool moves = ir_is_instruction(in, LLVMAdd) && LLVMGetNSW(in) && LLVMGetOperand(in, 0) == phi &&
                     is_natural(q, LLVMGetOperand(in, 1), effort);
        if (in != phi && !moves && !is_natural(q, in, effort)) {
            return false;
        }
    }
    return true;
}

static bool natural_instruction(struct question q, LLVMValueRef value, uint32_t effort)
{
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMZExt:
        return true;
    case LLVMSExt:
        return is_natural(q, LLVMGetOperand(value, 0), effort);
    case LLVMAdd:
    case LLVMMul:
        return LLVMGetNSW(value) && both_natural(q, value, 0, effort);
    case LLVMOr:
    case LLVMUDiv:
    case LLVMSDiv:
        return both_natural(q, value, 0, effort);
    case LLVMAnd:
        return is_natural(q, LLVMGetOperand(value, 0), effort) || is_natural(q, LLVMGetOperand(value, 1), effort);
    case LLVMSelect:
        return both_natural(q, value, 1, effort);
    case LLVMPHI:
        return natural_phi(q, value, effort);
    default:
        return false;
    }
}

static bool at_least(struct question q, LLVMValueRef value, int64_t least, uint32_t effort)
{
    uint32_t bits = ir_bits_of_integer(value);
    int64_t add;

    if (bits == 0 || bits > 64 || least > MOST_CONSTANT || least < -MOST_CONSTANT) {
        return false;
    }
    if (LLVMIsAConstantInt(value)) {
        return LLVMConstIntGetSExtValue(value) >= least;
    }
    if (least <= 0 && most_of(q, value, effort) >> (bits - 1) == 0) {
        return true;
    }
    if (effort == 0) {
        return false;
    }
    if (least <= 0 && LLVMIsAInstruction(value) && natural_instruction(q, value, effort - 1)) {
        return true;
    }
    LLVMValueRef rest = without_constant(value, &add);
    if (rest != value && add <= MOST_CONSTANT && add >= -MOST_CONSTANT && at_least(q, rest, least - add, effort - 1)) {
        return true;
    }
    return branches_say(q, (struct claim){ value, least }, effort - 1);
}

static bool is_natural(struct question q, LLVMValueRef value, uint32_t effort)
{
    return at_least(q, value, 0, effort);
}

uint64_t bounds_most(const struct ir *ir, LLVMValueRef value)
{
    return most_of((struct question){ .ir = ir }, value, EFFORT);
}

bool bounds_natural(const struct ir *ir, LLVMValueRef value, uint32_t block)
{
    struct question q = { .ir = ir, .block = block };

    if (is_natural(q, value, EFFORT)) {
        return true;
    }
    if (!ir || !ir_is_kernel(ir->function)) {
        return false;
    }
    q.small_ids = true;
    if (!is_natural(q, value, EFFORT)) {
        return false;
    }
    bounds_assume_small_ids(ir->compilation, ir->function);
    return true;
}

/* ---- numbers that a branch bounds ---- */

/* What a comparison of the value with a constant says, when it is true or false; UINT64_MAX: nothing. */
static uint64_t comparison_bound(LLVMValueRef condition, bool truth, LLVMValueRef value, bool natural)
{
    if (!ir_is_instruction(condition, LLVMICmp)) {
        return UINT64_MAX;
    }
    uint32_t side = LLVMGetOperand(condition, 0) == value ? 0 : 1;
    LLVMValueRef other = LLVMGetOperand(condition, 1 - side);
    if (LLVMGetOperand(condition, side) != value || !LLVMIsAConstantInt(other)) {
        return UINT64_MAX;
    }
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(condition);
    predicate = truth ? predicate : opposite(predicate);
    predicate = side == 0 ? predicate : turned(predicate);
    uint64_t limit = LLVMConstIntGetZExtValue(other);
    bool signed_ok = natural && LLVMConstIntGetSExtValue(other) >= 0;
    switch (predicate) {
    case LLVMIntULT:
        return limit != 0 ? limit - 1 : 0;
    case LLVMIntULE:
    case LLVMIntEQ:
        return limit;
    case LLVMIntSLT:
        return !signed_ok ? UINT64_MAX : limit != 0 ? limit - 1 : 0;
    case LLVMIntSLE:
        return signed_ok ? limit : UINT64_MAX;
    default:
        return UINT64_MAX;
    }
}

uint64_t bounds_most_in(const struct ir *ir, LLVMValueRef value, uint32_t block)
{
    const struct flow *flow = ir->flow;
    uint64_t most = bounds_most(ir, value);
    bool natural = is_natural((struct question){ .ir = ir, .block = block }, value, EFFORT);

    for (uint32_t b = block; b != 0; b = flow->blocks[b].idom) {
        uint32_t from = flow->blocks[b].pred_count == 1 ? flow->blocks[b].preds[0] : FLOW_NONE;
        if (from != FLOW_NONE && flow->blocks[from].succs == 2 &&
            flow->blocks[from].succ[0] != flow->blocks[from].succ[1]) {
            LLVMValueRef condition = LLVMGetCondition(LLVMGetBasicBlockTerminator(ir->blocks[from]));
            uint64_t bound = comparison_bound(condition, flow->blocks[from].succ[0] == b, value, natural);
            most = PPU_MIN(most, bound);
        }
    }
    return most;
}

/* ---- objects ---- */

#define NEAR 0x8000 /* bytes beside an object: twice that is what PPU_MAX_OBJECT leaves */

static bool is_constant_step(LLVMValueRef value, LLVMValueRef from, LLVMTargetDataRef layout)
{
    if (!ir_is_instruction(value, LLVMGetElementPtr) || LLVMGetNumOperands(value) != 2 ||
        LLVMGetOperand(value, 0) != from || !LLVMIsAConstantInt(LLVMGetOperand(value, 1))) {
        return false;
    }
    int64_t count = LLVMConstIntGetSExtValue(LLVMGetOperand(value, 1));
    uint64_t size = LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(value));
    return size <= NEAR && count <= NEAR && count >= -NEAR && (uint64_t)(count < 0 ? -count : count) * size <= NEAR;
}

/* A constant step within one object: where it leads to is accessed, so that it also begins there. */
static bool is_step_inside(LLVMValueRef value, LLVMValueRef from)
{
    return ir_is_instruction(value, LLVMGetElementPtr) && LLVMIsInBounds(value) && LLVMGetNumOperands(value) == 2 &&
           LLVMGetOperand(value, 0) == from && LLVMIsAConstantInt(LLVMGetOperand(value, 1));
}

/* Every use is an access, or one near by. */
static bool only_accessed(const struct ir *ir, LLVMValueRef address, uint32_t steps)
{
    for (LLVMUseRef use = LLVMGetFirstUse(address); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool accessed = ir_is_instruction(user, LLVMLoad) ||
                        (ir_is_instruction(user, LLVMStore) && LLVMGetOperand(user, 0) != address) ||
                        (ir_is_instruction(user, LLVMAtomicRMW) && LLVMGetOperand(user, 1) != address);
        if (!accessed &&
            (steps == 0 ||
             !(is_constant_step(user, address, ir->compilation->layout) || is_step_inside(user, address)) ||
             !only_accessed(ir, user, steps - 1))) {
            return false;
        }
    }
    return true;
}

static bool is_near_object(const struct ir *ir, LLVMValueRef pointer)
{
    if (ir_is_instruction(pointer, LLVMGetElementPtr) &&
        is_constant_step(pointer, LLVMGetOperand(pointer, 0), ir->compilation->layout)) {
        pointer = LLVMGetOperand(pointer, 0);
    }
    return LLVMIsAArgument(pointer) || LLVMIsAGlobalVariable(pointer) ||
           (ir_is_instruction(pointer, LLVMGetElementPtr) && LLVMIsInBounds(pointer));
}

/* Made from a pointer into an object by nothing but steps forward, which are then no longer than the whole way. */
static bool leads_forward(const struct ir *ir, LLVMValueRef pointer, uint32_t block)
{
    while (!is_near_object(ir, pointer)) {
        if (!ir_is_instruction(pointer, LLVMGetElementPtr) || LLVMGetNumOperands(pointer) != 2 ||
            !bounds_natural(ir, LLVMGetOperand(pointer, 1), block)) {
            return false;
        }
        pointer = LLVMGetOperand(pointer, 0);
    }
    return true;
}

bool bounds_inside(const struct ir *ir, LLVMValueRef gep, LLVMValueRef base, uint32_t block)
{
    bool within = LLVMIsInBounds(gep);

    for (LLVMValueRef p = LLVMGetOperand(gep, 0); p != base; p = LLVMGetOperand(p, 0)) {
        within &= LLVMIsInBounds(p) != 0;
    }
    return within ||
           (ir_is_instruction(gep, LLVMGetElementPtr) && only_accessed(ir, gep, 1) && leads_forward(ir, base, block));
}
