/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/unroll.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#define MOST_TURNS 8u
#define FEWEST_TURNS 4u        /* what one load or store has words for */
#define BODY_INSTRUCTIONS 200u /* of the unrolled loop, about */
#define MOST_PROPERTIES 16u
#define MOST_ADDED 2u
#define MOST_TERMS 8u
#define DEPTH 8u

struct loop_size {
    uint32_t instructions;
    uint32_t accesses;
    bool waits; /* at a barrier */
};

static struct loop_size size_of(const struct ir *ir, uint32_t loop)
{
    struct loop_size size = { 0, 0, false };
    const uint32_t end = ir_loop_end(ir, loop);

    for (uint32_t v = ir_loop_begin(ir, loop); v < end; v++) {
        if (!flow_in_loop(ir->flow, loop, ir->block_of[v])) {
            continue;
        }
        bool access = ir_is_instruction(ir->values[v], LLVMLoad) || ir_is_instruction(ir->values[v], LLVMStore);
        size.instructions++;
        size.waits |=
            ir_is_instruction(ir->values[v], LLVMCall) && primitive_find(ir_callee(ir->values[v])) == PRIMITIVE_BARRIER;
        size.accesses += access;
    }
    return size;
}

static bool is_innermost(const struct flow *flow, uint32_t loop)
{
    for (uint32_t l = 0; l < flow->loop_count; l++) {
        if (l != loop && flow_in_loop(flow, loop, flow->loops[l].header)) {
            return false;
        }
    }
    return true;
}

static bool begins(const char *text, uint32_t len, const char *with)
{
    return text && len >= strlen(with) && strncmp(text, with, strlen(with)) == 0;
}

/* True for a property of a loop that is about unrolling. */
static bool is_about_unrolling(LLVMValueRef property)
{
    unsigned len;

    if (!property || !LLVMIsAMDNode(property) || LLVMGetMDNodeNumOperands(property) == 0 ||
        LLVMGetMDNodeNumOperands(property) > 2) {
        return false;
    }
    LLVMValueRef operands[2];
    LLVMGetMDNodeOperands(property, operands);
    LLVMValueRef name = operands[0];
    return name && LLVMIsAMDString(name) && begins(LLVMGetMDString(name, &len), len, "llvm.loop.unroll");
}

/* The loop's properties so far, without the first, which is the loop itself. False: not to be touched. */
static bool read_properties(LLVMValueRef id, LLVMMetadataRef *properties, uint32_t *count)
{
    LLVMValueRef operands[MOST_PROPERTIES];

    if (!id) {
        return true;
    }
    uint32_t total = LLVMGetMDNodeNumOperands(id);
    if (total > MOST_PROPERTIES) {
        return false;
    }
    LLVMGetMDNodeOperands(id, operands);
    for (uint32_t i = 1; i < total; i++) {
        if (is_about_unrolling(operands[i])) {
            return false;
        }
        if (operands[i]) {
            properties[(*count)++] = LLVMValueAsMetadata(operands[i]);
        }
    }
    return true;
}

struct property {
    const char *name;
    uint32_t number;
};

static LLVMMetadataRef property_node(struct compilation *compilation, const struct property *property)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(compilation->llvm);
    LLVMMetadataRef terms[2] = { LLVMMDStringInContext2(compilation->llvm, property->name, strlen(property->name)),
                                 LLVMValueAsMetadata(LLVMConstInt(i32, property->number, false)) };

    return LLVMMDNodeInContext2(compilation->llvm, terms, 2);
}

/* Adds some to those of the loop that ends with the branch, unless the source says something about unrolling. */
static void add_properties(struct compilation *compilation, LLVMValueRef branch, const struct property *added,
                           uint32_t added_count)
{
    uint32_t kind = LLVMGetMDKindIDInContext(compilation->llvm, "llvm.loop", 9), count = 1;
    LLVMMetadataRef properties[MOST_PROPERTIES + MOST_ADDED];

    LLVMMetadataRef self = LLVMTemporaryMDNode(compilation->llvm, NULL, 0);
    properties[0] = self;
    if (read_properties(LLVMGetMetadata(branch, kind), properties, &count)) {
        for (uint32_t i = 0; i < added_count; i++) {
            properties[count++] = property_node(compilation, &added[i]);
        }
        LLVMMetadataRef id = LLVMMDNodeInContext2(compilation->llvm, properties, count);
        LLVMMetadataReplaceAllUsesWith(self, id); /* frees it */
        LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(compilation->llvm, id));
    } else {
        LLVMDisposeTemporaryMDNode(self);
    }
}

static LLVMValueRef latch_branch(const struct ir *ir, uint32_t loop)
{
    const struct flow_block *header = &ir->flow->blocks[ir->flow->loops[loop].header];
    LLVMValueRef branch = NULL;

    for (uint32_t p = 0; p < header->pred_count; p++) {
        if (flow_in_loop(ir->flow, loop, header->preds[p])) {
            if (branch) {
                return NULL;
            }
            branch = LLVMGetBasicBlockTerminator(ir->blocks[header->preds[p]]);
        }
    }
    return branch;
}

/*
 * False where a counter of 64 bits may be equal to its limit in the last turn: LLVM then counts turns in 128 bits,
 * which no register has.
 */
static bool turns_fit(LLVMValueRef branch, LLVMBasicBlockRef header)
{
    LLVMValueRef condition = LLVMIsConditional(branch) ? LLVMGetCondition(branch) : NULL;

    if (!condition || !LLVMIsAICmpInst(condition) || ir_bits_of_integer(LLVMGetOperand(condition, 0)) < 64) {
        return true;
    }
    const bool turns_if_true = LLVMGetSuccessor(branch, 0) == header;
    switch (LLVMGetICmpPredicate(condition)) {
    case LLVMIntEQ:
    case LLVMIntNE:
        return true;
    case LLVMIntULT:
    case LLVMIntSLT:
    case LLVMIntUGT:
    case LLVMIntSGT:
        return turns_if_true;
    default:
        return !turns_if_true;
    }
}

/* ---- how often lanes turn ---- */

static bool is_uniform(const struct ir *ir, LLVMValueRef value, uint32_t depth);

static bool has_uniform_operands(const struct ir *ir, LLVMValueRef value, uint32_t depth)
{
    for (int i = 0; i < LLVMGetNumOperands(value); i++) {
        if (!is_uniform(ir, LLVMGetOperand(value, (unsigned)i), depth)) {
            return false;
        }
    }
    return true;
}

/* True for what is the same for all lanes of a warp, also where they have parted. */
static bool is_uniform(const struct ir *ir, LLVMValueRef value, uint32_t depth)
{
    uint32_t number = ir_value(ir, value);

    if (number == IR_NO_VALUE || number < ir->argument_count || ir->scalar[number]) {
        return true;
    }
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMPHI:
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return false;
    case LLVMCall:
        return strncmp(ir_callee(value), "llvm.", 5) == 0 && depth != 0 && has_uniform_operands(ir, value, depth - 1);
    default:
        return depth != 0 && has_uniform_operands(ir, value, depth - 1);
    }
}

/* Terms of a sum that lanes may have different values of. */
struct terms {
    LLVMValueRef list[MOST_TERMS];
    uint32_t count;
};

/* False: too many. */
static bool add_terms(const struct ir *ir, struct terms *terms, LLVMValueRef value)
{
    if (is_uniform(ir, value, DEPTH)) {
        return true;
    }
    if (ir_is_instruction(value, LLVMAdd) || (ir_is_instruction(value, LLVMOr) && LLVMGetIsDisjoint(value))) {
        return add_terms(ir, terms, LLVMGetOperand(value, 0)) && add_terms(ir, terms, LLVMGetOperand(value, 1));
    }
    if (ir_is_instruction(value, LLVMSExt) || ir_is_instruction(value, LLVMZExt)) {
        return add_terms(ir, terms, LLVMGetOperand(value, 0));
    }
    if (terms->count == MOST_TERMS) {
        return false;
    }
    terms->list[terms->count++] = value;
    return true;
}

static bool take_part(struct terms *terms, LLVMValueRef value)
{
    for (uint32_t i = 0; i < terms->count; i++) {
        if (terms->list[i] == value) {
            terms->list[i] = terms->list[--terms->count];
            return true;
        }
    }
    return false;
}

static bool is_same_for_lanes(const struct terms *a, const struct terms *b)
{
    struct terms left = *b;

    for (uint32_t i = 0; i < a->count; i++) {
        if (!take_part(&left, a->list[i])) {
            return false;
        }
    }
    return left.count == 0;
}

/* Returns what a counter of the loop begins with, perhaps after it moved on; NULL: it is no counter. */
static LLVMValueRef first_of(const struct ir *ir, uint32_t loop, LLVMValueRef value)
{
    const struct flow_loop *at = &ir->flow->loops[loop];

    if (ir_is_instruction(value, LLVMAdd) && ir_is_instruction(LLVMGetOperand(value, 0), LLVMPHI)) {
        value = LLVMGetOperand(value, 0);
    }
    if (!ir_is_instruction(value, LLVMPHI) || LLVMCountIncoming(value) != 2 ||
        ir->block_of[ir_value(ir, value)] != at->header) {
        return NULL;
    }
    bool second = flow_in_loop(ir->flow, loop, ir_block(ir, LLVMGetIncomingBlock(value, 0)));
    LLVMValueRef next = LLVMGetIncomingValue(value, second ? 0 : 1);
    bool moves = ir_is_instruction(next, LLVMAdd) && LLVMGetOperand(next, 0) == value &&
                 is_uniform(ir, LLVMGetOperand(next, 1), DEPTH);
    return moves ? LLVMGetIncomingValue(value, second ? 1 : 0) : NULL;
}

/* The condition becomes true in the same turn of all lanes: it compares a counter with what is as far away for all. */
static bool is_met_together(const struct ir *ir, uint32_t loop, LLVMValueRef condition)
{
    struct terms first = { .count = 0 }, end = { .count = 0 };

    if (is_uniform(ir, condition, DEPTH)) {
        return true;
    }
    if (!ir_is_instruction(condition, LLVMICmp)) {
        return false;
    }
    LLVMValueRef a = LLVMGetOperand(condition, 0), b = LLVMGetOperand(condition, 1), begin = first_of(ir, loop, a);
    if (!begin) {
        begin = first_of(ir, loop, b);
        b = a;
    }
    return begin && ir_is_invariant(ir, loop, b) && add_terms(ir, &first, begin) && add_terms(ir, &end, b) &&
           is_same_for_lanes(&first, &end);
}

/*
 * All lanes that enter the loop together leave it after the same number of turns. Where they do not, what remains would
 * be a different number of turns for each, and so as many for the warp as if nothing had been unrolled.
 */
static bool turns_together(const struct ir *ir, uint32_t loop)
{
    for (uint32_t b = 0; b < ir->flow->count; b++) {
        const struct flow_block *block = &ir->flow->blocks[b];
        bool leaves = false;
        for (uint32_t i = 0; i < block->succs && flow_in_loop(ir->flow, loop, b); i++) {
            leaves |= !flow_in_loop(ir->flow, loop, block->succ[i]);
        }
        if (leaves && block->succs > 1 &&
            !is_met_together(ir, loop, LLVMGetCondition(LLVMGetBasicBlockTerminator(ir->blocks[b])))) {
            return false;
        }
    }
    return true;
}

void unroll_mark(struct compilation *compilation, LLVMValueRef function)
{
    struct ir *ir = ir_new(compilation, function);

    if (ir->flow->loop_count == 0) {
        return;
    }
    ir_find_scalars(ir);
    for (uint32_t l = 0; l < ir->flow->loop_count; l++) {
        struct loop_size size = size_of(ir, l);
        uint32_t turns = MOST_TURNS;
        while (turns > FEWEST_TURNS && turns * size.instructions > BODY_INSTRUCTIONS) {
            turns /= 2;
        }
        LLVMValueRef branch = latch_branch(ir, l);
        if (is_innermost(ir->flow, l) && size.accesses != 0 && !size.waits && branch &&
            turns_fit(branch, ir->blocks[ir->flow->loops[l].header]) && turns_together(ir, l)) {
            const struct property property = { "llvm.loop.unroll.count", turns };
            add_properties(compilation, branch, &property, 1);
        }
    }
}

void unroll_disable_vectorize(struct compilation *compilation, LLVMValueRef function)
{
    static const struct property properties[MOST_ADDED] = { { "llvm.loop.vectorize.width", 1 },
                                                            { "llvm.loop.interleave.count", 1 } };
    struct ir *ir = ir_new(compilation, function);

    for (uint32_t l = 0; l < ir->flow->loop_count; l++) {
        LLVMValueRef branch = latch_branch(ir, l);
        if (branch) {
            add_properties(compilation, branch, properties, MOST_ADDED);
        }
    }
}
