/* SPDX-License-Identifier: MIT */
#include "compiler/mir/if_convert.h"

#include "compiler/mir/liveness.h"

#include <string.h>

/*
 * A branch that parts the warp costs a token, a branch and a wait, and both sides are executed when lanes differ; one
 * that does not part it costs itself.
 */
#define MAX_PARTING 6u
#define MAX_TOGETHER 2u

static bool writes_any(struct mir_insn *insn, struct mir_ref reg)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t n = mir_operands(insn, operands);

    for (uint32_t o = 0; o < n; o++) {
        if (operands[o].def && operands[o].ref->reg == reg.reg) {
            return true;
        }
    }
    return false;
}

/* Instructions that stand for the whole warp, or that something else guards, stay in a block of their own. */
static bool may_guard(struct mir_insn *insn, struct mir_ref cond)
{
    const struct ppu_isa_row *row = ppu_isa_row(insn->code.op);

    return insn->guard.reg == 0 && !(row->flags & PPU_IF_B) && insn->code.op != PPU_OP_BAR &&
           insn->code.op != PPU_OP_CWAIT && !mir_is_of_lanes(insn->code.op) && !writes_any(insn, cond);
}

/* True when the block is one side of the branch and goes on to `join`. */
static bool is_side(struct mir *mir, uint32_t block, uint32_t join, struct mir_ref cond)
{
    struct mir_block *side = &mir->blocks[block];

    if (mir->flow->blocks[block].pred_count != 1 || side->end != MIR_JUMP || side->count > MAX_PARTING ||
        mir->flow->blocks[block].succ[0] != join || flow_has_token(mir->flow, block)) {
        return false;
    }
    for (uint32_t i = 0; i < side->count; i++) {
        if (!may_guard(&side->insns[i], cond)) {
            return false;
        }
    }
    return true;
}

/* The rest of a thread that may have nothing to do is short too when it is guarded. */
static bool worth_it(const struct mir *mir, uint32_t block, uint32_t join, uint32_t insns)
{
    bool parting =
        flow_has_token(mir->flow, block) || !mir->flow->convergent[block] || (mir->flow->ends && mir->flow->ends[join]);

    return insns <= (parting ? MAX_PARTING : MAX_TOGETHER);
}

static bool is_live(const struct mir *mir, const struct live_words *live, struct mir_ref ref, uint32_t words)
{
    uint32_t first = mir->regs[ref.reg].word + ref.sub;

    for (uint32_t w = first; w < first + words; w++) {
        if (live_words_have(live, w)) {
            return true;
        }
    }
    return false;
}

/* The instruction of the side that makes what the copy reads, for the copy alone; NULL: there is none. */
static struct mir_insn *find_source(struct mir *mir, struct mir_block *side, uint32_t copy, uint32_t words,
                                    const struct mir_counts *counts)
{
    const struct mir_insn *insn = &side->insns[copy];
    struct mir_ref from = insn->code.op == PPU_OP_POR ? insn->a : insn->b;
    const struct mir_reg *reg = &mir->regs[from.reg];
    uint32_t reads = insn->code.op == PPU_OP_POR ? 2 : 1;
    struct mir_operand operands[MIR_MAX_OPERANDS];

    if (reg->words != words || reg->class != mir->regs[insn->d.reg].class || counts->reads[from.reg] != reads ||
        counts->writes[from.reg] != 1) {
        return NULL;
    }
    for (uint32_t i = copy; i-- != 0;) {
        uint32_t n = mir_operands(&side->insns[i], operands);
        bool used = false;
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].def && operands[o].ref->reg == from.reg) {
                return &side->insns[i];
            }
            used |= operands[o].ref->reg == insn->d.reg;
        }
        if (used) {
            break;
        }
    }
    return NULL;
}

/* What a side makes only to copy it is made in its place: a guarded copy could not be left out later. */
static void fold_copies(struct mir *mir, uint32_t block, const struct mir_counts *counts)
{
    struct mir_block *side = &mir->blocks[block];

    for (uint32_t i = 0; i < side->count;) {
        uint32_t words;
        struct mir_insn *source =
            mir_is_copy(&side->insns[i], &words) ? find_source(mir, side, i, words, counts) : NULL;
        if (!source) {
            i++;
            continue;
        }
        source->d = side->insns[i].d;
        memmove(&side->insns[i], &side->insns[i + 1], (side->count - i - 1) * sizeof(side->insns[0]));
        side->count--;
    }
}

/*
 * The side's instructions go to the end of the block, guarded. Lanes of the other side keep what they still read:
 * what is `live` for them.
 */
static void move_side(struct mir *mir, uint32_t block, uint32_t from, struct mir_ref guard,
                      const struct live_words *live)
{
    struct mir_block *side = &mir->blocks[from];
    struct mir_operand operands[MIR_MAX_OPERANDS];

    for (uint32_t i = 0; i < side->count; i++) {
        struct mir_insn insn = side->insns[i];
        uint32_t n = mir_operands(&insn, operands);
        for (uint32_t o = 0; o < n; o++) {
            insn.keeps |= guard.reg != 0 && operands[o].def && is_live(mir, live, *operands[o].ref, operands[o].words);
        }
        insn.guard = guard;
        mir_add(mir, block, &insn);
    }
    side->count = 0;
}

/* True when lanes of the other side, which read what is `live` there, are not disturbed by this one's instructions. */
static bool may_run_for_all(struct mir *mir, uint32_t from, const struct live_words *live)
{
    struct mir_block *side = &mir->blocks[from];
    struct mir_operand operands[MIR_MAX_OPERANDS];

    for (uint32_t i = 0; i < side->count; i++) {
        struct mir_insn *insn = &side->insns[i];
        uint32_t n = mir_operands(insn, operands);
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].def && is_live(mir, live, *operands[o].ref, operands[o].words)) {
                return false;
            }
        }
        if (!mir_is_pure(insn) || insn->code.format == PPU_FMT_MEM) { /* what is not there must not be read */
            return false;
        }
    }
    return true;
}

static bool convert(struct mir *mir, uint32_t block, struct liveness *live, const struct mir_counts *counts)
{
    const struct flow_block *at = &mir->flow->blocks[block];
    struct mir_block *head = &mir->blocks[block];
    struct mir_ref cond = head->cond, none = { 0 };

    if (head->end != MIR_BRANCH || at->succ[0] == at->succ[1]) {
        return false;
    }
    uint32_t yes = at->succ[0], no = at->succ[1], join = mir->flow->blocks[yes].succ[0];
    if (mir->flow->blocks[yes].succs != 1 || !is_side(mir, yes, join, cond) || !is_side(mir, no, join, cond) ||
        !worth_it(mir, block, join, mir->blocks[yes].count + mir->blocks[no].count)) {
        return false;
    }
    fold_copies(mir, yes, counts);
    fold_copies(mir, no, counts);
    const struct live_words *yes_in = &live->in[yes], *no_in = &live->in[no];
    struct mir_ref not_cond = cond;
    not_cond.negated = !cond.negated;
    if (may_run_for_all(mir, no, yes_in)) {
        move_side(mir, block, no, none, yes_in);
        move_side(mir, block, yes, cond, &live->out[no]);
    } else {
        move_side(mir, block, yes, may_run_for_all(mir, yes, no_in) ? none : cond, no_in);
        move_side(mir, block, no, not_cond, &live->out[yes]);
    }
    head->end = MIR_JUMP;
    head->cond = (struct mir_ref){ 0 };
    flow_bypass(mir->flow, block, join);
    live->out[block] = live->in[join];
    return true;
}

void if_convert(struct mir *mir)
{
    struct mir_counts counts = mir_counts_new(mir);

    mir_count(mir, &counts);
    struct liveness live = liveness_find(mir);
    /* Later blocks first: an inner branch makes the side of an outer one short, or keeps it apart. */
    for (uint32_t b = mir->flow->count; b-- != 0;) {
        convert(mir, b, &live, &counts);
    }
}
