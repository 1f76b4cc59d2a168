/* SPDX-License-Identifier: MIT */
#include "compiler/mir/subvector/legality.h"

#include "compiler/mir/functions.h"

static bool is_store(uint32_t op)
{
    return op == PPU_OP_STG || op == PPU_OP_STS;
}

/* Classifies an instruction by what it does wherever it is. */
static enum refusal_kind of_operation(const struct mir_insn *insn)
{
    switch (insn->code.op) {
    case PPU_OP_BAR:
        return REFUSAL_BARRIER;
    case PPU_OP_CWAIT:
        return REFUSAL_WAIT;
    case PPU_OP_YIELD:
    case PPU_OP_YIELDN:
    case PPU_OP_YIELDP:
    case PPU_OP_YIELDQ:
    case PPU_OP_WSYNC:
        return REFUSAL_YIELD;
    case PPU_OP_TSTART:
    case PPU_OP_SEMREL:
    case PPU_OP_SEMRELT:
    case PPU_OP_CSENTER:
    case PPU_OP_CSLEAVE:
        return REFUSAL_TASK;
    case PPU_OP_RDTIME:
        return REFUSAL_TIME;
    default:
        if (mir_is_of_lanes(insn->code.op)) {
            return REFUSAL_LANES;
        }
        return insn->code.scalar && is_store(insn->code.op) ? REFUSAL_SCALAR : REFUSAL_NONE;
    }
}

/*
 * Functions have no scalar registers, and lanes meet again before they return. Callees come first: `functions` has what
 * those refuse.
 */
static enum refusal_kind of_function(const struct mir *mir, const enum refusal_kind *functions)
{
    enum refusal_kind kind = REFUSAL_NONE;

    for (uint32_t b = 0; b < mir->flow->count; b++) {
        for (uint32_t i = 0; i < mir->blocks[b].count && kind == REFUSAL_NONE; i++) {
            const struct mir_insn *insn = &mir->blocks[b].insns[i];
            kind = insn->callee != 0 ? functions[insn->callee - 1] : of_operation(insn);
        }
    }
    return kind;
}

static const enum refusal_kind *operations_new(struct mir *mir, const struct kernel_info *kernel,
                                               const struct pressure *pressure)
{
    struct arena *arena = &mir->compilation->arena;
    enum refusal_kind *functions = arena_new(arena, enum refusal_kind, kernel->function_count);
    enum refusal_kind *operation = arena_new(arena, enum refusal_kind, pressure->points);

    for (uint32_t f = 0; f < kernel->function_count; f++) {
        functions[f] = of_function(kernel->functions[f].mir, functions);
    }
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        for (uint32_t i = 0; i < mir->blocks[b].count; i++) {
            const struct mir_insn *insn = &mir->blocks[b].insns[i];
            operation[pressure->first[b] + i] = insn->callee != 0 ? functions[insn->callee - 1] : of_operation(insn);
        }
    }
    return operation;
}

static const struct refusal_block *blocks_new(const struct mir *mir)
{
    const struct flow *flow = mir->flow;
    struct refusal_block *blocks = arena_new(&mir->compilation->arena, struct refusal_block, flow->count);

    for (uint32_t b = 0; b < flow->count; b++) {
        blocks[b] = (struct refusal_block){ mir_only_ends(mir, b), UINT32_MAX, 0, UINT32_MAX, 0 };
    }
    for (uint32_t t = 0; t < flow->token_count; t++) {
        struct refusal_block *block = &blocks[flow->tokens[t].block];
        uint32_t target = flow->tokens[t].target;
        if (!blocks[target].only_ends) {
            block->first_target = PPU_MIN(block->first_target, target);
            block->last_target = PPU_MAX(block->last_target, target);
        }
    }
    for (uint32_t b = 0; b < flow->count; b++) {
        for (uint32_t s = 0; s < flow->blocks[b].succs; s++) {
            const struct flow_token *wait = flow_wait(flow, b, flow->blocks[b].succ[s]);
            if (wait) {
                blocks[b].first_waited = PPU_MIN(blocks[b].first_waited, wait->block);
                blocks[b].last_waited = PPU_MAX(blocks[b].last_waited, wait->block);
            }
        }
    }
    return blocks;
}

struct refusal_code refusal_code_new(struct mir *mir, const struct kernel_info *kernel, bool masks_scalar)
{
    const struct pressure *pressure = pressure_new(mir);

    return (struct refusal_code){ .mir = mir,
                                  .pressure = pressure,
                                  .masks_scalar = masks_scalar,
                                  .operation = operations_new(mir, kernel, pressure),
                                  .blocks = blocks_new(mir) };
}

/*
 * A scalar result is the same for each part when all that goes into it is: what was there before, or was made from that
 * inside. What the part before has written over is neither; so nothing that is live at the beginning may be written.
 */
static enum refusal_kind of_results(const struct refusal_code *code, struct mir_insn *insn, uint32_t from)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t count = insn->code.scalar ? mir_operands(insn, operands) : 0;

    for (uint32_t o = 0; o < count; o++) {
        uint32_t first = code->mir->regs[operands[o].ref->reg].word + operands[o].ref->sub;
        for (uint32_t w = first; operands[o].def && w < first + operands[o].words; w++) {
            if (pressure_is_live(code->pressure, from, w)) {
                return operands[o].pred ? REFUSAL_PREDICATE : REFUSAL_SCALAR;
            }
        }
    }
    return REFUSAL_NONE;
}

enum refusal_kind refusal_of_insn(const struct refusal_code *code, uint32_t point, uint32_t from)
{
    uint32_t b = code->pressure->block[point];
    enum refusal_kind kind = code->operation[point];

    return kind != REFUSAL_NONE ? kind
                                : of_results(code, &code->mir->blocks[b].insns[point - code->pressure->first[b]], from);
}

/* Tokens that are pushed inside are waited for inside, and no others. */
static bool meets_outside(const struct refusal_code *code, uint32_t b, uint32_t first, uint32_t last)
{
    const struct refusal_block *block = &code->blocks[b];

    return block->first_target <= first || block->last_target > last || block->first_waited < first ||
           (block->first_waited <= block->last_waited && block->last_waited >= last) || code->mir->flow->leaks[b];
}

/* The end of a block, which belongs to the code in [first, last], where it does not begin again. */
static enum refusal_kind of_end(const struct refusal_code *code, uint32_t b, uint32_t first, uint32_t last)
{
    const struct flow *flow = code->mir->flow;

    if (code->mir->blocks[b].end == MIR_EXIT || code->mir->blocks[b].end == MIR_RETURN) {
        return REFUSAL_EXIT;
    }
    for (uint32_t s = 0; s < flow->blocks[b].succs; s++) {
        uint32_t to = flow->blocks[b].succ[s];
        if (code->blocks[to].only_ends) {
            return REFUSAL_EXIT;
        }
        if (to <= first || to > last) {
            return REFUSAL_LEAVES;
        }
    }
    return meets_outside(code, b, first, last) ? REFUSAL_MEETS : REFUSAL_NONE;
}

static bool is_entered(const struct flow *flow, uint32_t b, uint32_t first, uint32_t last)
{
    for (uint32_t p = 0; p < flow->blocks[b].pred_count; p++) {
        if (flow->blocks[b].preds[p] < first || flow->blocks[b].preds[p] >= last) {
            return true;
        }
    }
    return false;
}

struct refusal refusal_of(const struct refusal_code *code, uint32_t from, uint32_t to)
{
    const struct pressure *p = code->pressure;
    const struct flow *flow = code->mir->flow;
    uint32_t first = p->block[from], last = p->block[to];
    struct refusal refusal = { REFUSAL_NONE, from };

    if (last == flow->count) { /* where the code ends, threads do */
        return (struct refusal){ REFUSAL_EXIT, to - 1 };
    }
    if (code->masks_scalar && (!flow->convergent[first] || !flow->convergent[last])) {
        return (struct refusal){ REFUSAL_PARTED, from };
    }
    for (uint32_t point = from; point < to; point++) {
        uint32_t b = p->block[point];
        if (b != first && code->blocks[b].only_ends) {
            continue; /* nothing is there */
        }
        refusal.point = point;
        if (b != first && point == p->first[b] && is_entered(flow, b, first, last)) {
            refusal.kind = REFUSAL_ENTERS;
            return refusal;
        }
        refusal.kind = point == pressure_end(p, b) ? of_end(code, b, first, last) : refusal_of_insn(code, point, from);
        if (refusal.kind != REFUSAL_NONE) {
            return refusal;
        }
    }
    if (last != first && to == p->first[last] && is_entered(flow, last, first, last)) {
        return (struct refusal){ REFUSAL_ENTERS, to };
    }
    return refusal;
}

const char *refusal_text(enum refusal_kind kind)
{
    static const char *const texts[] = {
#define REFUSAL(name, text) text,
        REFUSALS(REFUSAL)
#undef REFUSAL
    };

    return texts[kind];
}
