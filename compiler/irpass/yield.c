/* SPDX-License-Identifier: MIT */
#include "compiler/irpass/yield.h"

#include "compiler/analysis/ir.h"
#include "compiler/base/primitive.h"

#include <stdlib.h>
#include <string.h>

#define YIELD_NAME "__ppu_yield"
#define YIELD_NOW_NAME "ppu_yield"
#define YIELD_EVERY_NAME "ppu_yield_every"
/*
 * A loop that does not look at what others write waits for nobody, and yields for their sake alone. It yields seldom:
 * each time lanes that have left it go on alone, in place of waiting for those that have not.
 */
#define UNBOUNDED_EVERY 1024u

struct numbered {
    LLVMBasicBlockRef block;
    uint32_t number;
};

/* The blocks of a function by number, and the edges between them. */
struct graph {
    struct compilation *compilation;
    LLVMBasicBlockRef *blocks;
    uint32_t count;
    struct numbered *sorted; /* by address */
    uint32_t *pred_first;    /* of each block, in preds; one more for the end */
    uint32_t *preds;
    bool *body;     /* of the loop in question */
    uint32_t *list; /* blocks of it whose predecessors are still to be looked at */
};

static int compare_blocks(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct numbered *)a)->block, y = (uintptr_t)((const struct numbered *)b)->block;

    return (x > y) - (x < y);
}

static uint32_t block_number(const struct graph *g, LLVMBasicBlockRef block)
{
    const struct numbered key = { block, 0 };
    const struct numbered *found = bsearch(&key, g->sorted, g->count, sizeof(key), compare_blocks);

    return found->number;
}

/* Each edge, once with `fill` NULL to count, then to put the predecessors where `fill` says. */
static void each_edge(struct graph *g, uint32_t *fill)
{
    for (uint32_t b = 0; b < g->count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(g->blocks[b]);
        for (uint32_t s = 0; s < LLVMGetNumSuccessors(end); s++) {
            uint32_t to = block_number(g, LLVMGetSuccessor(end, s));
            if (fill) {
                g->preds[fill[to]++] = b;
            } else {
                g->pred_first[to + 1]++;
            }
        }
    }
}

static void find_preds(struct graph *g)
{
    uint32_t *fill = arena_new(&g->compilation->arena, uint32_t, g->count + 1);

    g->pred_first = arena_new(&g->compilation->arena, uint32_t, g->count + 1);
    each_edge(g, NULL);
    for (uint32_t b = 0; b < g->count; b++) {
        g->pred_first[b + 1] += g->pred_first[b];
        fill[b] = g->pred_first[b];
    }
    g->preds = arena_new(&g->compilation->arena, uint32_t, g->pred_first[g->count] + 1);
    each_edge(g, fill);
}

static struct graph graph_new(struct compilation *compilation, LLVMValueRef function)
{
    struct graph g = { .compilation = compilation, .count = LLVMCountBasicBlocks(function) };

    g.blocks = arena_new(&compilation->arena, LLVMBasicBlockRef, g.count);
    g.sorted = arena_new(&compilation->arena, struct numbered, g.count);
    g.body = arena_new(&compilation->arena, bool, g.count);
    g.list = arena_new(&compilation->arena, uint32_t, g.count);
    LLVMGetBasicBlocks(function, g.blocks);
    for (uint32_t b = 0; b < g.count; b++) {
        g.sorted[b] = (struct numbered){ g.blocks[b], b };
    }
    qsort(g.sorted, g.count, sizeof(g.sorted[0]), compare_blocks);
    find_preds(&g);
    return g;
}

static LLVMValueRef yield_function(struct compilation *compilation, const char *name, LLVMTypeRef type)
{
    LLVMValueRef function = LLVMGetNamedFunction(compilation->module, name);
    static const char *const attributes[] = { "convergent", "nounwind" };

    if (function) {
        return function;
    }
    function = LLVMAddFunction(compilation->module, name, type);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t kind = LLVMGetEnumAttributeKindForName(attributes[i], strlen(attributes[i]));
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                                LLVMCreateEnumAttribute(compilation->llvm, kind, 0));
    }
    return function;
}

/* A yield at the end of the block: each time that lanes come there, or of so many times one. */
static void add_yield(struct compilation *compilation, LLVMBasicBlockRef latch, uint32_t every)
{
    const char *name = every == 1 ? YIELD_NAME : YIELD_EVERY_NAME;
    LLVMTypeRef number = LLVMInt32TypeInContext(compilation->llvm);
    LLVMValueRef argument = LLVMConstInt(number, every, false);
    unsigned arguments = every == 1 ? 0 : 1;
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(compilation->llvm), &number, arguments, 0);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);

    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(latch));
    LLVMBuildCall2(builder, type, yield_function(compilation, name, type), &argument, arguments, "");
    LLVMDisposeBuilder(builder);
}

/* ---- loops that wait ---- */

/* One block of the way that a walk in depth has gone. */
struct step {
    uint32_t block;
    uint32_t next; /* successor to visit */
};

static void find_body(struct graph *g, uint32_t header, uint32_t latch)
{
    uint32_t left = 0;

    memset(g->body, 0, g->count);
    g->body[header] = true;
    if (header != latch) {
        g->body[latch] = true;
        g->list[left++] = latch;
    }
    while (left != 0) {
        uint32_t block = g->list[--left];
        for (uint32_t p = g->pred_first[block]; p < g->pred_first[block + 1]; p++) {
            if (!g->body[g->preds[p]]) {
                g->body[g->preds[p]] = true;
                g->list[left++] = g->preds[p];
            }
        }
    }
}

static bool looks_at_memory(LLVMValueRef value)
{
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAtomicCmpXchg:
        return true;
    case LLVMAtomicRMW:
        return LLVMGetFirstUse(value);
    case LLVMLoad:
        return (LLVMGetVolatile(value) || LLVMGetOrdering(value) != LLVMAtomicOrderingNotAtomic) &&
               ir_pointer_space(LLVMGetOperand(value, 0)) != SPACE_PRIVATE; /* nobody else writes there */
    default:
        return false;
    }
}

static bool loop_waits(const struct graph *g)
{
    for (uint32_t b = 0; b < g->count; b++) {
        for (LLVMValueRef i = g->body[b] ? LLVMGetFirstInstruction(g->blocks[b]) : NULL; i;
             i = LLVMGetNextInstruction(i)) {
            if (looks_at_memory(i)) {
                return true;
            }
        }
    }
    return false;
}

void yield_wait_loops(struct compilation *compilation, LLVMValueRef function)
{
    struct graph g = graph_new(compilation, function);
    struct step *stack = arena_new(&compilation->arena, struct step, g.count + 1);
    uint8_t *state = arena_new(&compilation->arena, uint8_t, g.count); /* 1 on the stack, 2 done */
    uint32_t top = 0;

    stack[top++] = (struct step){ 0, 0 };
    state[0] = 1;
    while (top != 0) {
        struct step *step = &stack[top - 1];
        LLVMValueRef end = LLVMGetBasicBlockTerminator(g.blocks[step->block]);
        if (step->next == LLVMGetNumSuccessors(end)) {
            state[step->block] = 2;
            top--;
            continue;
        }
        uint32_t to = block_number(&g, LLVMGetSuccessor(end, step->next++));
        if (state[to] == 0) {
            state[to] = 1;
            stack[top++] = (struct step){ to, 0 };
        } else if (state[to] == 1) {
            find_body(&g, to, step->block);
            if (loop_waits(&g)) {
                add_yield(compilation, g.blocks[step->block], 1);
            }
        }
    }
}

/* ---- loops without a bound ---- */

/* True for a step that brings a value to any bound, or around: adding a constant, shifting by one. */
static bool is_step(LLVMValueRef value)
{
    if (!ir_is_instruction(value, LLVMAdd) && !ir_is_instruction(value, LLVMLShr)) {
        return false;
    }
    LLVMValueRef by = LLVMGetOperand(value, 1);
    return LLVMIsAConstantInt(by) && !LLVMIsNull(by);
}

/* A phi of the loop's header that each turn moves by a step, or that step. */
static bool is_counter(const struct ir *ir, uint32_t loop, LLVMValueRef value)
{
    LLVMValueRef phi = is_step(value) ? LLVMGetOperand(value, 0) : value;

    if (!ir_is_instruction(phi, LLVMPHI) || ir->block_of[ir_value(ir, phi)] != ir->flow->loops[loop].header) {
        return false;
    }
    for (uint32_t i = 0; i < LLVMCountIncoming(phi); i++) {
        uint32_t from = ir_block(ir, LLVMGetIncomingBlock(phi, i));
        LLVMValueRef next = LLVMGetIncomingValue(phi, i);
        if (from != FLOW_NONE && flow_in_loop(ir->flow, loop, from) &&
            !(is_step(next) && LLVMGetOperand(next, 0) == phi)) {
            return false;
        }
    }
    return true;
}

static bool is_exit_test(const struct ir *ir, uint32_t loop, uint32_t block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(ir->blocks[block]);
    const struct flow_block *b = &ir->flow->blocks[block];

    if (b->succs != 2 || flow_in_loop(ir->flow, loop, b->succ[0]) == flow_in_loop(ir->flow, loop, b->succ[1])) {
        return false;
    }
    LLVMValueRef test = LLVMGetCondition(end);
    if (!ir_is_instruction(test, LLVMICmp)) {
        return false;
    }
    for (uint32_t i = 0; i < 2; i++) {
        if (is_counter(ir, loop, LLVMGetOperand(test, i)) && ir_is_invariant(ir, loop, LLVMGetOperand(test, 1 - i))) {
            return true;
        }
    }
    return false;
}

static bool is_yield(const char *name)
{
    return strcmp(name, YIELD_NAME) == 0 || strcmp(name, YIELD_NOW_NAME) == 0 || strcmp(name, YIELD_EVERY_NAME) == 0;
}

/* For each loop, whether a yield is in it and in no loop inside, of ours or of the program. */
static bool *find_yields(const struct ir *ir)
{
    bool *found = arena_new(ir->flow->arena, bool, ir->flow->loop_count + 1);

    for (uint32_t v = ir->argument_count; v < ir->value_count; v++) {
        uint32_t loop = ir->flow->blocks[ir->block_of[v]].loop;
        if (loop != FLOW_NONE && ir_is_instruction(ir->values[v], LLVMCall) && is_yield(ir_callee(ir->values[v]))) {
            found[loop] = true;
        }
    }
    return found;
}

/* True: what others write may be looked at in the loop, there or in a function that it calls. */
static bool may_wait(const struct ir *ir, uint32_t loop)
{
    const uint32_t end = ir_loop_end(ir, loop);

    for (uint32_t v = ir_loop_begin(ir, loop); v < end; v++) {
        LLVMValueRef value = ir->values[v];

        if (flow_in_loop(ir->flow, loop, ir->block_of[v]) &&
            (looks_at_memory(value) ||
             (ir_is_instruction(value, LLVMCall) && strncmp(ir_callee(value), "llvm.", 5) != 0))) {
            return true;
        }
    }
    return false;
}

/* Lanes that come to a barrier of their work-group wait for all others there. */
static bool has_barrier(const struct ir *ir, uint32_t block)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(ir->blocks[block]); i; i = LLVMGetNextInstruction(i)) {
        if (ir_is_instruction(i, LLVMCall) && primitive_find(ir_callee(i)) == PRIMITIVE_BARRIER) {
            return true;
        }
    }
    return false;
}

/*
 * A test that every turn passes ends the loop after a number of turns known at its entry; or every turn passes a
 * barrier, which gives all others their turn.
 */
static bool is_bounded(const struct ir *ir, uint32_t loop, uint32_t latch)
{
    for (uint32_t b = latch;; b = ir->flow->blocks[b].idom) {
        if (ir->flow->blocks[b].loop == loop && (is_exit_test(ir, loop, b) || has_barrier(ir, b))) {
            return true;
        }
        if (b == ir->flow->loops[loop].header) {
            return false;
        }
    }
}

/*
 * Where the yield of a loop's latch goes. A latch that only goes on is left without code when it stays empty: then the
 * yield goes before the test that ends the loop.
 */
static LLVMBasicBlockRef position_of_yield(const struct ir *ir, uint32_t loop, uint32_t latch)
{
    const struct flow_block *block = &ir->flow->blocks[latch];

    if (!LLVMIsATerminatorInst(LLVMGetFirstInstruction(ir->blocks[latch])) || block->pred_count != 1) {
        return ir->blocks[latch];
    }
    const struct flow_block *test = &ir->flow->blocks[block->preds[0]];
    bool exits = test->loop == loop && test->succs == 2 &&
                 !flow_in_loop(ir->flow, loop, test->succ[test->succ[0] == latch ? 1 : 0]);
    return ir->blocks[exits ? block->preds[0] : latch];
}

void yield_unbounded_loops(struct compilation *compilation, LLVMValueRef function)
{
    struct ir *ir = ir_new(compilation, function);
    const bool *has_yield = find_yields(ir);

    for (uint32_t loop = 0; loop < ir->flow->loop_count; loop++) {
        const struct flow_block *header = &ir->flow->blocks[ir->flow->loops[loop].header];
        for (uint32_t p = 0; p < header->pred_count; p++) {
            uint32_t latch = header->preds[p];
            if (flow_in_loop(ir->flow, loop, latch) && !has_yield[loop] && !is_bounded(ir, loop, latch)) {
                add_yield(compilation, position_of_yield(ir, loop, latch), may_wait(ir, loop) ? 1 : UNBOUNDED_EVERY);
            }
        }
    }
}

static bool may_yield(LLVMBasicBlockRef block)
{
    bool found = false;

    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && !found; i = LLVMGetNextInstruction(i)) {
        found = ir_may_yield(i);
    }
    return found;
}

void yield_keep_entry(struct compilation *compilation, LLVMValueRef function)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function);

    if (!ir_is_kernel(function) || !may_yield(entry)) {
        return;
    }
    LLVMBasicBlockRef first = LLVMInsertBasicBlockInContext(compilation->llvm, entry, "");
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(compilation->llvm);
    LLVMPositionBuilderAtEnd(builder, first);
    for (LLVMValueRef i = LLVMGetFirstInstruction(entry), next; i; i = next) { /* variables belong to the first block */
        next = LLVMGetNextInstruction(i);
        if (ir_is_instruction(i, LLVMAlloca)) {
            LLVMInstructionRemoveFromParent(i);
            LLVMInsertIntoBuilder(builder, i);
        }
    }
    LLVMBuildBr(builder, entry);
    LLVMDisposeBuilder(builder);
}
