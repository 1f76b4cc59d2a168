/* SPDX-License-Identifier: MIT */
/*
 * Finds the values that are the same for all lanes, and where the warp is together (divergence analysis). Each needs
 * the other, so both start with everything true and take away until nothing changes.
 *
 * A scalar register is one for the whole warp. Were it written where only some lanes pass, or pass at different
 * times, it would lose what the others still need; so a value is scalar only when its block is convergent. Where lanes
 * yield apart from each other the warp need not meet again, and nothing behind is convergent.
 */
#include "compiler/analysis/ir.h"
#include "compiler/analysis/work_group_size.h"
#include "compiler/base/primitive.h"

#include <string.h>

static bool value_is_scalar(const struct ir *ir, LLVMValueRef value)
{
    uint32_t number = ir_value(ir, value);

    return number == IR_NO_VALUE || ir->scalar[number];
}

static bool operands_scalar(const struct ir *ir, LLVMValueRef value)
{
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        if (!value_is_scalar(ir, LLVMGetOperand(value, (unsigned)i))) {
            return false;
        }
    }
    return true;
}

static bool load_scalar(LLVMValueRef load)
{
    enum ir_memory memory = ir_memory_of(LLVMGetOperand(load, 0));

    return !LLVMGetVolatile(load) && LLVMGetOrdering(load) == LLVMAtomicOrderingNotAtomic && memory != IR_LOCAL &&
           memory != IR_UNIFIED;
}

static bool register_scalar(const struct ir *ir, LLVMValueRef which)
{
    if (!LLVMIsAConstantInt(which)) {
        return false;
    }
    uint64_t sr = LLVMConstIntGetZExtValue(which);
    if (sr == PPU_SR_TID_Y || sr == PPU_SR_TID_Z) {
        return work_group_size_is_uniform(ir->compilation, ir->function, (uint32_t)sr - PPU_SR_TID_X);
    }
    return sr >= PPU_SR_COUNT || ppu_sr_of((uint32_t)sr) != PPU_SR_OF_THREAD;
}

static bool call_scalar(const struct ir *ir, LLVMValueRef call)
{
    switch (primitive_find(ir_callee(call))) {
    case PRIMITIVE_SR:
        return register_scalar(ir, LLVMGetOperand(call, 0));
    case PRIMITIVE_GATHER2:
    case PRIMITIVE_GATHER4:
    case PRIMITIVE_SHUFFLE_UP:
    case PRIMITIVE_SHUFFLE_DOWN:
    case PRIMITIVE_SHUFFLE_XOR:
        return false;
    case PRIMITIVE_SHUFFLE:
        return value_is_scalar(ir, LLVMGetOperand(call, 1));
    case PRIMITIVE_VOTE_ALL:
    case PRIMITIVE_VOTE_ANY:
    case PRIMITIVE_BALLOT:
        return true; /* one answer for all lanes that ask together */
    case PRIMITIVE_NONE:
        return strncmp(ir_callee(call), "llvm.", 5) == 0 && operands_scalar(ir, call);
    default:
        return operands_scalar(ir, call);
    }
}

static bool phi_scalar(const struct ir *ir, LLVMValueRef phi)
{
    for (uint32_t i = 0; i < LLVMCountIncoming(phi); i++) {
        uint32_t pred = ir_block(ir, LLVMGetIncomingBlock(phi, i));
        if (pred != FLOW_NONE && (!ir->flow->convergent[pred] || !value_is_scalar(ir, LLVMGetIncomingValue(phi, i)))) {
            return false;
        }
    }
    return true;
}

/*
 * Only stored, each lane to its own place: a store takes it from a vector register, and a copy each time would cost
 * more than making it there.
 */
static bool only_stored(const struct ir *ir, LLVMValueRef value)
{
    LLVMUseRef use = LLVMGetFirstUse(value);

    if (!use) {
        return false;
    }
    for (; use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!ir_is_instruction(user, LLVMStore) || LLVMGetOperand(user, 0) != value ||
            value_is_scalar(ir, LLVMGetOperand(user, 1))) {
            return false;
        }
    }
    return true;
}

static bool now_scalar(const struct ir *ir, uint32_t number)
{
    LLVMValueRef value = ir->values[number];

    if (ir->force[number] || !ir->flow->convergent[ir->block_of[number]] || only_stored(ir, value)) {
        return false;
    }
    if (number < ir->argument_count) {
        return true;
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMPHI:
        return phi_scalar(ir, value);
    case LLVMLoad:
        return load_scalar(value) && operands_scalar(ir, value);
    case LLVMCall:
        return call_scalar(ir, value);
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return false;
    default:
        return operands_scalar(ir, value);
    }
}

/* Yields let some lanes pass by chance, so that lanes part at them that were together. */
static bool is_yield(LLVMValueRef value)
{
    switch (ir_is_instruction(value, LLVMCall) ? primitive_find(ir_callee(value)) : PRIMITIVE_NONE) {
    case PRIMITIVE_YIELD:
    case PRIMITIVE_YIELD_NOW:
    case PRIMITIVE_YIELD_EVERY:
    case PRIMITIVE_YIELD_CHANCE:
        return true;
    default:
        return false;
    }
}

#define MOST_DEPTH 64u /* of calls; a function that calls itself is refused later (mir/functions.c) */

struct yield_search {
    uint32_t depth;
    bool found;
};

static void find_yield(LLVMValueRef insn, void *opaque)
{
    struct yield_search *search = (struct yield_search *)opaque;
    LLVMValueRef called = ir_called(insn);

    if (search->found || is_yield(insn) || (called && search->depth == MOST_DEPTH)) {
        search->found = true;
    } else if (called) {
        search->depth++;
        ir_each_instruction(called, find_yield, search);
        search->depth--;
    }
}

bool ir_may_yield(LLVMValueRef value)
{
    struct yield_search search = { 0, false };

    find_yield(value, &search);
    return search.found;
}

/* Instructions after which lanes that part do not meet at their token; functions may have some. */
static bool is_break(LLVMValueRef value)
{
    enum primitive primitive = ir_is_instruction(value, LLVMCall) ? primitive_find(ir_callee(value)) : PRIMITIVE_NONE;

    return is_yield(value) || primitive == PRIMITIVE_BARRIER || primitive == PRIMITIVE_WAIT ||
           primitive == PRIMITIVE_MEET || ir_called(value);
}

static void find_breaks(const struct ir *ir, bool *breaks, bool *yields)
{
    for (uint32_t v = ir->argument_count; v < ir->value_count; v++) {
        breaks[ir->block_of[v]] |= is_break(ir->values[v]);
        yields[ir->block_of[v]] = yields[ir->block_of[v]] || ir_may_yield(ir->values[v]);
    }
}

/* Blocks that do nothing but end the thread, or go on to one: lanes that leave there are gone before the others go
 * on. */
static void find_ends(const struct ir *ir, bool *ends)
{
    for (uint32_t b = ir->flow->count; b-- != 0;) {
        LLVMValueRef first = LLVMGetFirstInstruction(ir->blocks[b]);
        const struct flow_block *block = &ir->flow->blocks[b];
        ends[b] = b != 0 && !ir->flow->parted &&
                  (block->succs == 0 ? ir_is_instruction(first, LLVMRet) || ir_is_instruction(first, LLVMUnreachable)
                                     : block->succs == 1 && block->succ[0] > b && ends[block->succ[0]] &&
                                           LLVMIsATerminatorInst(first));
    }
}

bool ir_may_be_guarded(LLVMValueRef insn)
{
    switch (LLVMGetInstructionOpcode(insn)) {
    case LLVMLoad:
    case LLVMStore:
        return !LLVMGetVolatile(insn) && LLVMGetOrdering(insn) == LLVMAtomicOrderingNotAtomic;
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
    case LLVMFNeg:
    case LLVMICmp:
    case LLVMFCmp:
    case LLVMSelect:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMBitCast:
    case LLVMGetElementPtr:
    case LLVMExtractElement:
    case LLVMInsertElement:
    case LLVMShuffleVector:
        return true;
    default:
        return false;
    }
}

/* The block does a little for one branch alone, and goes on to where threads end. */
static bool is_short_end(const struct ir *ir, uint32_t b, const bool *ends)
{
    const struct flow_block *block = &ir->flow->blocks[b];
    uint32_t count = 0;

    if (block->pred_count != 1 || block->loop != FLOW_NONE || ir->flow->blocks[block->preds[0]].loop != FLOW_NONE ||
        block->preds[0] >= b || (block->succs != 0 && (block->succs != 1 || !ends[block->succ[0]]))) {
        return false;
    }
    for (LLVMValueRef insn = LLVMGetFirstInstruction(ir->blocks[b]); insn; insn = LLVMGetNextInstruction(insn)) {
        if (LLVMIsATerminatorInst(insn)) {
            return count <= IR_MOST_GUARDED && (block->succs == 1 || ir_is_instruction(insn, LLVMRet));
        }
        if (!ir_may_be_guarded(insn)) {
            return false;
        }
        count++;
    }
    return false;
}

/* Finds those of divergent branches. Such lanes are gone before the others go on, too, as they are guarded. True: there
 * are more than before. */
static bool find_guarded(const struct ir *ir, const bool *divergent, bool *ends, bool *guarded)
{
    bool more = false;

    for (uint32_t b = 1; b < ir->flow->count && !ir->flow->parted && !ir->bare; b++) {
        const struct flow_block *block = &ir->flow->blocks[b];
        if (!ends[b] && block->pred_count == 1 && divergent[block->preds[0]] && is_short_end(ir, b, ends)) {
            ends[b] = guarded[b] = more = true;
        }
    }
    return more;
}

/* Instructions of each block, but for phis and its end. */
static uint32_t *find_work(const struct ir *ir)
{
    uint32_t *work = arena_new(&ir->compilation->arena, uint32_t, ir->flow->count);

    for (uint32_t v = ir->argument_count; v < ir->value_count; v++) {
        work[ir->block_of[v]] += !ir_is_instruction(ir->values[v], LLVMPHI) && !LLVMIsATerminatorInst(ir->values[v]);
    }
    return work;
}

static bool is_divergent_branch(const struct ir *ir, uint32_t block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(ir->blocks[block]);

    return ir->flow->blocks[block].succs > 1 &&
           (!ir->flow->convergent[block] || !value_is_scalar(ir, LLVMGetCondition(end)));
}

static bool loops_diverge(const struct flow *flow)
{
    for (uint32_t b = 0; b < flow->count; b++) {
        const struct flow_block *const block = &flow->blocks[b];
        for (uint32_t i = 0; flow->divergent[b] && block->loop != FLOW_NONE && i < block->succs; i++) {
            if (!flow_in_loop(flow, block->loop, block->succ[i])) {
                return true;
            }
        }
    }
    return false;
}

void ir_find_scalars(struct ir *ir)
{
    bool *divergent = arena_new(&ir->compilation->arena, bool, ir->flow->count);
    bool *breaks = arena_new(&ir->compilation->arena, bool, ir->flow->count);
    bool *ends = arena_new(&ir->compilation->arena, bool, ir->flow->count);
    bool *yields = arena_new(&ir->compilation->arena, bool, ir->flow->count);
    bool *guarded = arena_new(&ir->compilation->arena, bool, ir->flow->count);
    bool changed = true;

    memset(ir->scalar, true, ir->value_count);
    find_breaks(ir, breaks, yields);
    find_ends(ir, ends);
    ir->flow->ends = ends;
    ir->flow->guarded = guarded;
    ir->flow->yields = yields;
    ir->flow->work = find_work(ir);
    flow_reconverge(ir->flow, divergent, breaks);
    while (changed) {
        bool other_flow = false;
        changed = false;
        for (uint32_t v = 0; v < ir->value_count; v++) {
            bool scalar = ir->scalar[v] && now_scalar(ir, v);
            changed |= scalar != ir->scalar[v];
            ir->scalar[v] = scalar;
        }
        for (uint32_t b = 0; b < ir->flow->count; b++) {
            bool now = divergent[b] || is_divergent_branch(ir, b);
            other_flow |= now != divergent[b];
            divergent[b] = now;
        }
        changed |= other_flow;
        if (find_guarded(ir, divergent, ends, guarded) || other_flow) {
            flow_reconverge(ir->flow, divergent, breaks);
        }
    }
    ir->flow->loops_diverge = loops_diverge(ir->flow);
}
