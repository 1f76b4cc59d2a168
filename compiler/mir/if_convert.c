/* SPDX-License-Identifier: MIT */
#include "compiler/mir/if_convert.h"

#include "compiler/mir/liveness.h"

#include <string.h>

/*
 * A branch that parts the warp costs a token, a branch and a wait, and both sides are executed when lanes differ; one
 * that does not part it costs itself.
 */
#define MAX_PARTING 8u
#define MAX_BETWEEN 32u /* the same, between barriers: code without a branch is what the engine translates there */
#define MAX_TOGETHER 2u
#define MAX_REST 6u    /* of a thread that ends otherwise, or before it does: all that parts the warp then is an exit */
#define MAX_BLOCKS 16u /* of a region */

/* How often registers are read and written; those from `regs` on were made here, and are not counted. */
struct counted {
    struct mir_counts of;
    uint32_t regs;
    uint32_t *branches; /* of each block, that were in it */
    bool *meets;        /* of each loop, and of what is in none: it has a barrier, those in it aside */
};

/* What is known of a block that may be moved. */
struct side {
    uint32_t block;
    bool moved;
    struct mir_ref edge[2]; /* predicates of its lanes that go on to each successor; reg 0: nobody asks for it */
};

/*
 * What lies between a branch and the block where all its ways meet again, or end: blocks without loops, which nothing
 * else leads to. Each is moved to the end of the branch's block, guarded by a predicate that tells which lanes come
 * there.
 */
struct region {
    struct mir *mir;
    struct liveness *live;
    uint32_t head, join;
    struct side side[MAX_BLOCKS]; /* in the order of the code */
    uint32_t sides;
    uint32_t branches, insns;
    bool parting;
    bool may_end;           /* lanes may end on one of the ways; else all ways meet */
    uint32_t exit;          /* where these end; FLOW_NONE: none do */
    struct mir_ref edge[2]; /* of the head */
    struct mir_ref ended;   /* predicate of the lanes that end in the region */
};

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

/* ---- the region ---- */

/* Instructions that stand for the whole warp stay in a block of their own. */
static bool may_guard(const struct mir_insn *insn)
{
    const struct ppu_isa_row *row = ppu_isa_row(insn->code.op);

    return !(row->flags & PPU_IF_B) && insn->code.op != PPU_OP_BAR && insn->code.op != PPU_OP_CWAIT &&
           !mir_is_of_lanes(insn->code.op);
}

/* The number of a block among the region's sides; MAX_BLOCKS: it is none. */
static uint32_t side_of(const struct region *r, uint32_t block)
{
    for (uint32_t i = 0; i < r->sides; i++) {
        if (r->side[i].block == block) {
            return i;
        }
    }
    return MAX_BLOCKS;
}

static bool region_has(const struct region *r, uint32_t block)
{
    return block == r->head || side_of(r, block) != MAX_BLOCKS;
}

/* All of the block can be guarded, and nothing but the region leads to it. */
static bool may_be_side(const struct region *r, uint32_t block)
{
    const struct flow_block *at = &r->mir->flow->blocks[block];
    const struct mir_block *side = &r->mir->blocks[block];

    if (side->end == MIR_RETURN || (side->end == MIR_EXIT && !r->may_end) ||
        at->loop != r->mir->flow->blocks[r->head].loop) {
        return false;
    }
    for (uint32_t p = 0; p < at->pred_count; p++) {
        if (!region_has(r, at->preds[p])) {
            return false;
        }
    }
    for (uint32_t s = 0; s < at->succs; s++) {
        if (at->succ[s] <= block || (at->succs == 2 && at->succ[0] == at->succ[1])) {
            return false;
        }
    }
    for (uint32_t i = 0; i < side->count; i++) {
        if (!may_guard(&side->insns[i])) {
            return false;
        }
    }
    return true;
}

/* Takes the block into the region, and counts what it has. */
static bool take_side(struct region *r, uint32_t block, const struct counted *counts)
{
    const uint32_t insns = r->insns + r->mir->blocks[block].count;

    if (r->sides == MAX_BLOCKS || insns > MAX_BETWEEN * MAX_BLOCKS || !may_be_side(r, block)) {
        return false;
    }
    r->side[r->sides++] = (struct side){ .block = block };
    r->insns = insns;
    r->branches += counts->branches[block] + (r->mir->blocks[block].end == MIR_BRANCH);
    r->parting |= flow_has_token(r->mir->flow, block);
    return true;
}

/* Lanes that go there from the region end. */
static bool is_exit(const struct region *r, uint32_t block)
{
    return r->may_end && mir_only_ends(r->mir, block);
}

/* The first block from `from` on, in the order of the code, that the region leads to and does not have. */
static uint32_t next_behind(const struct region *r, uint32_t from)
{
    const struct flow *flow = r->mir->flow;
    uint32_t first = FLOW_NONE;

    for (uint32_t i = 0; i <= r->sides; i++) {
        const struct flow_block *at = &flow->blocks[i == 0 ? r->head : r->side[i - 1].block];
        for (uint32_t s = 0; s < at->succs; s++) {
            const uint32_t to = at->succ[s];
            if (to >= from && to < first && !region_has(r, to) && !is_exit(r, to)) {
                first = to;
            }
        }
    }
    return first;
}

/* The block is the last of its way. */
static bool is_last(const struct region *r, uint32_t block)
{
    const struct flow_block *at = &r->mir->flow->blocks[block];

    return at->succs == 0 || (at->succs == 1 && is_exit(r, at->succ[0]));
}

/* Takes one of the blocks that the region leads to, from the first of them on: rather one where threads end. */
static bool take_next(struct region *r, uint32_t first, const struct counted *counts)
{
    for (uint32_t any = r->may_end ? 0 : 1; any < 2; any++) {
        for (uint32_t block = first; block != FLOW_NONE; block = next_behind(r, block + 1)) {
            if ((any || is_last(r, block)) && take_side(r, block, counts)) {
                return true;
            }
        }
    }
    return false;
}

/* Takes blocks into the region until it leads to one alone, where its ways meet. */
static bool find_join(struct region *r, const struct counted *counts)
{
    for (r->join = next_behind(r, 0); r->join != FLOW_NONE; r->join = next_behind(r, 0)) {
        if (next_behind(r, r->join + 1) == FLOW_NONE) {
            return r->sides != 0;
        }
        if (!take_next(r, r->join, counts)) {
            return false;
        }
    }
    return false; /* all ways end */
}

/* Where lanes end that go on from a block of the region. */
static void find_exit(struct region *r, uint32_t block)
{
    const struct flow_block *at = &r->mir->flow->blocks[block];

    r->exit = at->succs == 0 && r->exit == FLOW_NONE ? block : r->exit;
    for (uint32_t s = 0; s < at->succs; s++) {
        r->exit = is_exit(r, at->succ[s]) ? at->succ[s] : r->exit;
    }
}

/* Tokens that are pushed in the region must be for those that meet in it, or where it ends. */
static bool owns_tokens(const struct region *r)
{
    const struct flow *flow = r->mir->flow;

    for (uint32_t t = 0; t < flow->token_count; t++) {
        const uint32_t target = flow->tokens[t].target;
        const bool inside = target != r->head && region_has(r, target);
        if (region_has(r, flow->tokens[t].block) ? !inside && target != r->join : inside) {
            return false;
        }
    }
    return true;
}

/* All ways wait for the same where the region ends. */
static bool waits_alike(const struct region *r)
{
    const struct flow *flow = r->mir->flow;

    for (uint32_t i = 0; i < r->sides; i++) {
        const uint32_t from = r->side[i].block, *const succ = flow->blocks[from].succ;
        const bool leads = succ[0] == r->join || (flow->blocks[from].succs == 2 && succ[1] == r->join);
        for (uint32_t t = 0; leads && t < flow->token_count; t++) {
            const struct flow_token *token = &flow->tokens[t];
            if (token->target == r->join && !region_has(r, token->block) &&
                flow_may_wait(token, from) != flow_may_wait(token, r->head)) {
                return false;
            }
        }
    }
    return true;
}

/* Whether a region begins with the block's branch. */
static bool find_region(struct region *r, const struct counted *counts)
{
    const struct flow_block *at = &r->mir->flow->blocks[r->head];

    if (r->mir->blocks[r->head].end != MIR_BRANCH || at->succ[0] == at->succ[1] || at->succ[0] <= r->head ||
        at->succ[1] <= r->head) {
        return false;
    }
    r->branches = 1;
    if (!find_join(r, counts)) {
        return false;
    }
    find_exit(r, r->head);
    for (uint32_t i = 0; i < r->sides; i++) {
        find_exit(r, r->side[i].block);
    }
    /* Nothing is gained where lanes only end. */
    return (!r->may_end || (r->exit != FLOW_NONE && r->insns != 0)) && owns_tokens(r) && waits_alike(r);
}

/* What is counted in `meets` for the block. */
static uint32_t loop_of(const struct flow *flow, uint32_t block)
{
    const uint32_t loop = flow->blocks[block].loop;

    return loop == FLOW_NONE ? flow->loop_count : loop;
}

static bool worth_it(const struct region *r, const struct counted *counts)
{
    const struct flow *flow = r->mir->flow;

    for (uint32_t i = 0; i < r->sides; i++) {
        if (flow->guarded && flow->guarded[r->side[i].block]) {
            return true; /* others count on it */
        }
    }
    const bool parting = r->parting || flow_has_token(flow, r->head) || !flow->convergent[r->head];
    const bool divergent = !flow->divergent || flow->divergent[r->head];
    const bool rest = (r->exit != FLOW_NONE && divergent) || (flow->ends && flow->ends[r->join]);
    const uint32_t most_parting = counts->meets[loop_of(flow, r->head)] ? MAX_BETWEEN : MAX_PARTING;
    const uint32_t most = parting ? most_parting : rest ? MAX_REST : MAX_TOGETHER;

    /* A debugger steps through the ways that the source has. */
    return r->insns <= r->branches * most && (r->branches == 1 || !compilation_keeps_variables(r->mir->compilation));
}

/* ---- what lanes of other ways need ---- */

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
                                    const struct counted *counts)
{
    const struct mir_insn *insn = &side->insns[copy];
    struct mir_ref from = insn->code.op == PPU_OP_POR ? insn->a : insn->b;
    const struct mir_reg *reg = &mir->regs[from.reg];
    uint32_t reads = insn->code.op == PPU_OP_POR ? 2 : 1;
    struct mir_operand operands[MIR_MAX_OPERANDS];

    if (from.reg >= counts->regs || reg->words != words || reg->class != mir->regs[insn->d.reg].class ||
        counts->of.reads[from.reg] != reads || counts->of.writes[from.reg] != 1) {
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
static void fold_copies(struct mir *mir, uint32_t block, const struct counted *counts)
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

/* Lanes that come to `side` are not the only ones: others wait at blocks that were not moved, or where all meet. */
static bool others_read(const struct region *r, const struct side *side, struct mir_ref ref, uint32_t words)
{
    for (uint32_t i = 0; i <= r->sides; i++) {
        const struct flow_block *from = &r->mir->flow->blocks[i == 0 ? r->head : r->side[i - 1].block];
        for (uint32_t s = 0; s < from->succs && (i == 0 || r->side[i - 1].moved); s++) {
            const uint32_t to = side_of(r, from->succ[s]);
            const bool waits = to == MAX_BLOCKS || (!r->side[to].moved && &r->side[to] != side);
            if (waits && is_live(r->mir, &r->live->in[from->succ[s]], ref, words)) {
                return true;
            }
        }
    }
    return false;
}

/* True when lanes of other ways are not disturbed by an instruction of the side. */
static bool may_run_for_all(const struct region *r, const struct side *side, struct mir_insn *insn)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];
    const uint32_t n = mir_operands(insn, operands);

    for (uint32_t o = 0; o < n; o++) {
        if (operands[o].def && others_read(r, side, *operands[o].ref, operands[o].words)) {
            return false;
        }
    }
    /* What is not there must not be read. */
    return mir_is_pure(insn) && insn->code.format != PPU_FMT_MEM && insn->guard.reg == 0;
}

/* True when that holds for all instructions of the side. */
static bool needs_no_guard(const struct region *r, const struct side *side)
{
    struct mir_block *from = &r->mir->blocks[side->block];
    bool good = true;

    for (uint32_t i = 0; i < from->count; i++) {
        good &= may_run_for_all(r, side, &from->insns[i]);
    }
    return good;
}

/* ---- predicates ---- */

/* Adds `d = a op b` to the region's head. */
static void add_logic(const struct region *r, enum ppu_op op, struct mir_ref d, struct mir_ref a, struct mir_ref b)
{
    struct mir_insn insn = mir_insn(op);

    insn.d = d;
    insn.a = a;
    insn.b = b;
    insn.site = r->mir->blocks[r->head].site;
    mir_add(r->mir, r->head, &insn);
}

/* A predicate that nothing beyond the region's head reads. */
static struct mir_ref new_predicate(const struct region *r)
{
    struct mir_ref ref = mir_reg(r->mir, MIR_PRED, 1, 0);

    r->mir->regs[ref.reg].word = r->mir->words++;
    return ref;
}

static struct mir_ref both_hold(const struct region *r, struct mir_ref a, struct mir_ref b)
{
    struct mir_ref ref = new_predicate(r);

    add_logic(r, PPU_OP_PAND, ref, a, b);
    return ref;
}

static struct mir_ref negate(struct mir_ref pred)
{
    pred.negated = !pred.negated;
    return pred;
}

/* Lanes of a way out of the region end. */
static void add_ended(struct region *r, struct mir_ref lanes)
{
    if (r->ended.reg != 0) {
        struct mir_ref all = new_predicate(r);
        add_logic(r, PPU_OP_POR, all, r->ended, lanes);
        lanes = all;
    }
    r->ended = lanes;
}

/* The head's condition, or a copy where a side writes it. */
static void set_head_edges(struct region *r)
{
    struct mir_ref cond = r->mir->blocks[r->head].cond;
    bool written = false;

    for (uint32_t i = 0; i < r->sides; i++) {
        struct mir_block *side = &r->mir->blocks[r->side[i].block];
        for (uint32_t n = 0; n < side->count; n++) {
            written |= writes_any(&side->insns[n], cond);
        }
    }
    if (written) {
        struct mir_ref copy = new_predicate(r);
        add_logic(r, PPU_OP_POR, copy, cond, cond);
        cond = copy;
    }
    r->edge[0] = cond;
    r->edge[1] = negate(cond);
    for (uint32_t s = 0; s < 2; s++) {
        if (is_exit(r, r->mir->flow->blocks[r->head].succ[s])) {
            add_ended(r, r->edge[s]);
        }
    }
}

/* Predicates of the ways out of a side whose lanes `guard` tells. */
static void set_edges(struct region *r, struct side *side, struct mir_ref guard)
{
    const struct flow_block *at = &r->mir->flow->blocks[side->block];
    const struct mir_ref cond = r->mir->blocks[side->block].cond;

    if (at->succs == 0) {
        add_ended(r, guard);
    }
    for (uint32_t s = 0; s < at->succs; s++) {
        if (at->succ[s] != r->join) {
            side->edge[s] = at->succs == 1 ? guard : both_hold(r, guard, s == 0 ? cond : negate(cond));
        }
        if (is_exit(r, at->succ[s])) {
            add_ended(r, side->edge[s]);
        }
    }
}

/* The predicate of the lanes that come to a side: those of all ways that lead there. */
static struct mir_ref lanes_that_come(const struct region *r, const struct side *side)
{
    struct mir_ref come = { 0 }, sum = { 0 };

    for (uint32_t i = 0; i <= r->sides; i++) {
        const struct flow_block *from = &r->mir->flow->blocks[i == 0 ? r->head : r->side[i - 1].block];
        for (uint32_t s = 0; s < from->succs; s++) {
            const struct mir_ref edge = i == 0 ? r->edge[s] : r->side[i - 1].edge[s];
            if (from->succ[s] != side->block) {
                continue;
            }
            if (come.reg != 0) {
                sum = sum.reg != 0 ? sum : new_predicate(r);
                add_logic(r, PPU_OP_POR, sum, come, edge);
            }
            come = sum.reg != 0 ? sum : edge;
        }
    }
    return come;
}

/* ---- moving ---- */

/* The instructions of the side go to the end of the head, guarded where others would be disturbed. */
static void move_side(struct region *r, struct side *side)
{
    struct mir_block *from = &r->mir->blocks[side->block];
    const struct mir_ref come = lanes_that_come(r, side);
    struct mir_operand operands[MIR_MAX_OPERANDS];
    struct mir_ref own = { 0 }, both = { 0 }; /* a guard of the side, and those of its lanes that come */

    for (uint32_t i = 0; i < from->count; i++) {
        struct mir_insn insn = from->insns[i];
        if (insn.guard.reg != 0) {
            if (both.reg == 0 || own.reg != insn.guard.reg || own.negated != insn.guard.negated) {
                own = insn.guard;
                both = both_hold(r, come, own);
            }
            insn.guard = both;
        } else if (!may_run_for_all(r, side, &insn)) {
            insn.guard = come;
        }
        const uint32_t n = mir_operands(&insn, operands);
        for (uint32_t o = 0; insn.guard.reg != 0 && o < n; o++) {
            insn.keeps |= operands[o].def && others_read(r, side, *operands[o].ref, operands[o].words);
        }
        mir_add(r->mir, r->head, &insn);
        if (writes_any(&insn, own)) {
            both = (struct mir_ref){ 0 };
        }
    }
    from->count = 0;
    set_edges(r, side, come);
    side->moved = true;
}

/* All that lead to the side were moved. */
static bool is_ready(const struct region *r, const struct side *side)
{
    const struct flow_block *at = &r->mir->flow->blocks[side->block];

    for (uint32_t p = 0; p < at->pred_count; p++) {
        if (at->preds[p] != r->head && !r->side[side_of(r, at->preds[p])].moved) {
            return false;
        }
    }
    return !side->moved;
}

/* What all lanes may execute goes first, so that what the others write needs no guard there. */
static struct side *next_side(struct region *r)
{
    struct side *first = NULL;

    for (uint32_t i = r->sides; i-- != 0;) {
        if (is_ready(r, &r->side[i])) {
            first = &r->side[i];
            if (needs_no_guard(r, first)) {
                break;
            }
        }
    }
    return first;
}

/* A condition has more readers than were counted. */
static void note_condition(struct counted *counts, struct mir_ref cond)
{
    if (cond.reg < counts->regs) {
        counts->of.reads[cond.reg] = UINT32_MAX;
    }
}

/* Leaves out predicates that nobody asks for, since all lanes may execute what they lead to. */
static void drop_unread(const struct region *r, uint32_t first, const struct counted *counts)
{
    struct mir_block *head = &r->mir->blocks[r->head];
    struct mir_operand operands[MIR_MAX_OPERANDS];

    for (uint32_t i = head->count; i-- != first;) {
        const struct mir_ref d = head->insns[i].d;
        bool read = d.reg < counts->regs || head->insns[i].code.format != PPU_FMT_PLOP || d.reg == r->ended.reg;
        for (uint32_t later = i + 1; !read && later < head->count; later++) {
            const uint32_t n = mir_operands(&head->insns[later], operands);
            for (uint32_t o = 0; o < n; o++) {
                read |= operands[o].reads && operands[o].ref->reg == d.reg;
            }
        }
        if (!read) {
            memmove(&head->insns[i], &head->insns[i + 1], (head->count - i - 1) * sizeof(head->insns[0]));
            head->count--;
        }
    }
}

static void convert(struct region *r, struct counted *counts)
{
    struct mir *mir = r->mir;
    struct mir_block *head = &mir->blocks[r->head];
    const uint32_t first = head->count;
    uint32_t moved[MAX_BLOCKS] = { 0 };

    for (uint32_t i = 0; i < r->sides; i++) {
        moved[i] = r->side[i].block;
        note_condition(counts, mir->blocks[moved[i]].cond);
    }
    note_condition(counts, head->cond);
    for (uint32_t i = 0; i < r->sides; i++) {
        fold_copies(mir, moved[i], counts);
    }
    set_head_edges(r);
    for (struct side *side = next_side(r); side; side = next_side(r)) {
        move_side(r, side);
    }
    for (uint32_t i = 0; i < r->sides; i++) {
        mir->blocks[moved[i]].end = MIR_JUMP;
        mir->blocks[moved[i]].cond = (struct mir_ref){ 0 };
    }
    drop_unread(r, first, counts);
    counts->branches[r->head] += r->branches;
    head->end = MIR_JUMP;
    head->cond = (struct mir_ref){ 0 };
    flow_bypass(mir->flow, r->head, moved, r->sides, r->join);
    if (r->exit != FLOW_NONE) {
        if (side_of(r, r->exit) != MAX_BLOCKS) {
            mir->blocks[r->exit].end = MIR_EXIT;
            mir->flow->blocks[r->exit].succs = 0;
        }
        head->end = MIR_BRANCH;
        head->cond = r->ended;
        flow_part(mir->flow, r->head, r->exit);
    }
    r->live->out[r->head] = r->live->in[r->join];
}

static void find_barriers(const struct mir *mir, struct counted *counts)
{
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        const struct mir_block *block = &mir->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            counts->meets[loop_of(mir->flow, b)] |= block->insns[i].code.op == PPU_OP_BAR;
        }
    }
}

bool if_convert(struct mir *mir)
{
    bool all = true;

    struct counted counts = { mir_counts_new(mir), mir->reg_count,
                              arena_new(&mir->compilation->arena, uint32_t, mir->flow->count),
                              arena_new(&mir->compilation->arena, bool, mir->flow->loop_count + 1) };

    mir_count(mir, &counts.of);
    find_barriers(mir, &counts);
    struct liveness live = liveness_find(mir);
    /* Later blocks first: an inner branch makes the side of an outer one short, or keeps it apart. */
    for (uint32_t b = mir->flow->count; b-- != 0;) {
        bool done = false;
        for (uint32_t may_end = 0; may_end < 2 && !done; may_end++) {
            struct region region = { .mir = mir, .live = &live, .head = b, .may_end = may_end, .exit = FLOW_NONE };
            done = find_region(&region, &counts) && worth_it(&region, &counts);
            if (done) {
                convert(&region, &counts);
            }
        }
    }
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        all &= !mir->flow->guarded || !mir->flow->guarded[b] || mir->blocks[b].count == 0;
    }
    return all;
}
