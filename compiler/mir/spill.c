/* SPDX-License-Identifier: MIT */
#include "compiler/mir/spill.h"

#include <string.h>

#define MAX_COST 2u /* instructions that make a register again; one would load it */

/* Says which instruction makes a word of a register. */
struct maker {
    const struct mir_insn *insn; /* the latest */
    uint32_t writers;
};

struct spill {
    struct mir *mir;
    struct arena *arena;
    const struct ranges *words;
    struct maker *makers; /* of each word */
    uint32_t *uses;       /* positions, those of a register together */
    uint32_t *first_use;  /* of each register: into uses; one more at the end */
    const bool *gone;     /* of each register; NULL: none is */
    bool *rematerialized; /* of each register that is gone: it is rematerialized */
    uint32_t *slot;       /* of the others: spill slot, an offset in local memory; of predicates: vector register */
    uint32_t block;       /* being rewritten */
    uint32_t position;    /* of the instruction being rewritten */
    uint32_t site;
};

/* ---- what can be rematerialized ---- */

static bool is_cheap(uint32_t op)
{
    switch (op) {
    case PPU_OP_MOV:
    case PPU_OP_MOV64:
    case PPU_OP_RDSR:
    case PPU_OP_LDP:
        return true;
    case PPU_OP_DIV:
    case PPU_OP_DIVU:
    case PPU_OP_REM:
    case PPU_OP_REMU:
    case PPU_OP_DIV64:
    case PPU_OP_DIVU64:
    case PPU_OP_REM64:
    case PPU_OP_REMU64:
        return false;
    default: /* the other operations on integers */
        return (op >= PPU_OP_ADD && op <= PPU_OP_MADWU) || (op >= PPU_OP_ADD64 && op <= PPU_OP_POPC64);
    }
}

static bool may_repeat(const struct mir_insn *insn)
{
    return is_cheap(insn->code.op) && insn->guard.reg == 0 && !insn->keeps && !insn->ordered &&
           (insn->code.op != PPU_OP_LDP || insn->code.no_base);
}

static uint32_t word_of(const struct spill *s, struct mir_ref ref)
{
    return s->mir->regs[ref.reg].word + ref.sub;
}

static void note_maker(struct spill *s, const struct mir_insn *insn, const struct mir_operand *o)
{
    for (uint32_t w = word_of(s, *o->ref); w < word_of(s, *o->ref) + o->words; w++) {
        s->makers[w].insn = insn;
        s->makers[w].writers++;
    }
}

/* Counts the uses of each register, or notes where they are. */
static void find_uses(struct spill *s, bool count)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t begin = 0;

    for (uint32_t b = 0; b < s->mir->flow->count; b++) {
        struct mir_block *block = &s->mir->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t n = mir_is_idle(&block->insns[i]) ? 0 : mir_operands(&block->insns[i], operands);
            for (uint32_t o = 0; o < n; o++) {
                uint32_t reg = operands[o].ref->reg;
                if (count && operands[o].def) {
                    note_maker(s, &block->insns[i], &operands[o]);
                }
                if (operands[o].reads && count) {
                    s->first_use[reg + 1]++;
                } else if (operands[o].reads) {
                    s->uses[s->first_use[reg]++] = begin + 2 * i;
                }
            }
        }
        begin += 2 * block->count + 2;
    }
}

static struct spill *spill_new(struct mir *mir, const struct ranges *words, const bool *gone)
{
    struct spill *s = arena_new(&mir->compilation->arena, struct spill, 1);
    uint32_t count = mir->reg_count;

    s->mir = mir;
    s->arena = &mir->compilation->arena;
    s->words = words;
    s->gone = gone;
    s->makers = arena_new(s->arena, struct maker, mir->words + 1);
    s->first_use = arena_new(s->arena, uint32_t, count + 2);
    find_uses(s, true);
    for (uint32_t r = 0; r < count; r++) {
        s->first_use[r + 1] += s->first_use[r];
    }
    s->uses = arena_new(s->arena, uint32_t, s->first_use[count] + 1);
    find_uses(s, false);
    for (uint32_t r = count; r != 0; r--) { /* each was moved on to where the next begins */
        s->first_use[r] = s->first_use[r - 1];
    }
    s->first_use[0] = 0;
    return s;
}

/* The words can be read where they are, and have one value wherever they are live. */
static bool is_there(const struct spill *s, struct mir_ref ref, uint32_t words, uint32_t position)
{
    for (uint32_t w = word_of(s, ref); w < word_of(s, ref) + words; w++) {
        if (s->makers[w].writers != 1 || !ranges_hold(&s->words[w], position)) {
            return false;
        }
    }
    return !s->gone[ref.reg];
}

/* The one instruction that makes the word, NULL: there are more, or it cannot be repeated. */
static const struct mir_insn *maker_of(const struct spill *s, uint32_t word)
{
    const struct maker *maker = &s->makers[word];

    return maker->writers == 1 && may_repeat(maker->insn) ? maker->insn : NULL;
}

/*
 * Instructions that make the words of a register again at a position; above MAX_COST: it cannot be. What they read has
 * one writer, which is passed before them on every way: the values are the same.
 */
static uint32_t cost(const struct spill *s, struct mir_ref ref, uint32_t words, uint32_t position, uint32_t depth)
{
    const struct mir_insn *last = NULL;
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t sum = 0;

    for (uint32_t w = word_of(s, ref); w < word_of(s, ref) + words && sum <= MAX_COST; w++) {
        const struct mir_insn *maker = maker_of(s, w);
        if (!maker || depth == 0) {
            return MAX_COST + 1;
        }
        if (maker == last) {
            continue;
        }
        struct mir_insn copy = *maker;
        uint32_t n = mir_operands(&copy, operands);
        for (uint32_t o = 0; o < n; o++) {
            if (!operands[o].def && !is_there(s, *operands[o].ref, operands[o].words, position)) {
                sum +=
                    operands[o].pred ? MAX_COST + 1 : cost(s, *operands[o].ref, operands[o].words, position, depth - 1);
            }
        }
        sum++;
        last = maker;
    }
    return sum;
}

/*
 * True when the register can be rematerialized at each of its uses. Without uses: when what writes it is left out.
 */
static bool is_rematerializable(const struct spill *s, uint32_t reg)
{
    const struct mir_reg *r = &s->mir->regs[reg];

    if (r->class != MIR_VECTOR || r->brief) {
        return false;
    }
    for (uint32_t w = r->word; w < r->word + r->words; w++) {
        if (!maker_of(s, w)) {
            return false;
        }
    }
    for (uint32_t u = s->first_use[reg]; u < s->first_use[reg + 1]; u++) {
        if (cost(s, (struct mir_ref){ .reg = reg }, r->words, s->uses[u], MAX_COST) > MAX_COST) {
            return false;
        }
    }
    return true;
}

/* ---- rematerialization ---- */

static struct mir_ref brief(struct mir *mir, enum mir_class class, uint32_t words)
{
    struct mir_ref ref = mir_reg(mir, class, words, 0);

    mir->regs[ref.reg].brief = true;
    return ref;
}

/* The words of a wider load of parameters alone. */
static void narrow(struct mir_insn *load, uint32_t first, uint32_t words)
{
    load->code.imm += (int32_t)(4 * first);
    load->code.wd = (uint8_t)words;
    load->code.width = words == 4 ? PPU_WIDTH_B128 : words == 2 ? PPU_WIDTH_B64 : PPU_WIDTH_B32;
}

/* The words of a register, recomputed in one that lives for one instruction. */
static struct mir_ref rematerialize(struct spill *s, struct mir_ref ref, uint32_t words)
{
    const struct mir_insn *last = NULL;
    struct mir_operand operands[MIR_MAX_OPERANDS];
    const struct mir_insn *first = maker_of(s, word_of(s, ref));
    bool is_part = first->code.op == PPU_OP_LDP && first->d.sub + first->code.wd >= ref.sub + words;
    struct mir_ref made = brief(s->mir, MIR_VECTOR, is_part ? words : s->mir->regs[ref.reg].words);

    for (uint32_t w = word_of(s, ref); w < word_of(s, ref) + words; w++) {
        const struct mir_insn *maker = maker_of(s, w);
        if (maker == last) {
            continue;
        }
        struct mir_insn copy = *maker;
        uint32_t n = mir_operands(&copy, operands);
        for (uint32_t o = 0; o < n; o++) {
            if (!operands[o].def && !is_there(s, *operands[o].ref, operands[o].words, s->position)) {
                *operands[o].ref = rematerialize(s, *operands[o].ref, operands[o].words);
            }
        }
        if (is_part) {
            narrow(&copy, ref.sub - maker->d.sub, words);
        }
        copy.d = is_part ? made : mir_sub(made, maker->d.sub);
        copy.code.scalar = 0;
        copy.site = s->site;
        mir_add(s->mir, s->block, &copy);
        last = maker;
    }
    return is_part ? made : mir_sub(made, ref.sub);
}

/* ---- kept ---- */

static struct mir_insn local_access(bool store, uint32_t address, struct mir_ref data, uint32_t words)
{
    struct mir_insn insn = mir_insn(store ? PPU_OP_STL : PPU_OP_LDL);

    insn.code.width = words == 4 ? PPU_WIDTH_B128 : words == 2 ? PPU_WIDTH_B64 : PPU_WIDTH_B32;
    insn.code.wd = (uint8_t)words;
    insn.code.wa = insn.code.wb = 0;
    insn.code.no_base = 1;
    insn.code.imm = (int32_t)address;
    insn.d = data;
    insn.ordered = true;
    return insn;
}

static void load_pred(struct spill *s, struct mir_ref from, struct mir_ref to)
{
    struct mir_insn insn = mir_insn(PPU_OP_ISETP);

    insn.code.cmp = PPU_ICMP_NE;
    insn.a = from;
    insn.code.immed = 1;
    insn.d = to;
    insn.site = s->site;
    mir_add(s->mir, s->block, &insn);
}

static void store_pred(struct spill *s, struct mir_ref to, struct mir_ref from, struct mir_ref guard)
{
    struct mir_insn insn = mir_insn(PPU_OP_MOV);

    insn.code.immed = 1;
    insn.d = to;
    insn.site = s->site;
    insn.guard = guard;
    insn.keeps = guard.reg != 0;
    mir_add(s->mir, s->block, &insn);
    insn.code.imm = 1;
    insn.guard = from;
    insn.keeps = true;
    mir_add(s->mir, s->block, &insn);
}

/* ---- rewriting ---- */

/* The register that is gone, for the time of one instruction. */
static void before(struct spill *s, const struct mir_operand *o)
{
    uint32_t slot = s->slot[o->ref->reg];

    if (s->rematerialized[o->ref->reg]) {
        *o->ref = rematerialize(s, *o->ref, o->words);
        return;
    }
    struct mir_ref now = brief(s->mir, o->pred ? MIR_PRED : MIR_VECTOR, o->words);
    now.negated = o->ref->negated;
    if (o->reads && o->pred) {
        struct mir_ref to = now;
        to.negated = false;
        load_pred(s, (struct mir_ref){ .reg = slot }, to);
    } else if (o->reads) {
        struct mir_insn insn = local_access(false, slot + 4u * o->ref->sub, now, o->words);
        insn.site = s->site;
        mir_add(s->mir, s->block, &insn);
    }
    *o->ref = now;
}

static bool is_left_out(const struct spill *s, const struct mir_insn *insn)
{
    return mir_is_idle(insn) || (insn->d.reg != 0 && mir_is_pure(insn) && s->rematerialized[insn->d.reg]);
}

static void rewrite_insn(struct spill *s, struct mir_insn insn)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t count = mir_operands(&insn, operands), slot = 0, sub = 0, words = 0;
    bool stores = false, pred = false;

    s->site = insn.site;
    for (uint32_t o = 0; o < count; o++) {
        if (!s->gone[operands[o].ref->reg]) {
            continue;
        }
        if (operands[o].def) {
            stores = true;
            pred = operands[o].pred;
            slot = s->slot[operands[o].ref->reg];
            sub = operands[o].ref->sub;
            words = operands[o].words;
        }
        before(s, &operands[o]);
    }
    mir_add(s->mir, s->block, &insn);
    struct mir_ref guard = insn.guard;
    if (insn.keeps) { /* the lanes left out got their value back before */
        guard.reg = 0;
    }
    if (stores && pred) {
        store_pred(s, (struct mir_ref){ .reg = slot }, insn.d, guard);
    } else if (stores) {
        struct mir_insn store = local_access(true, slot + 4 * sub, insn.d, words);
        store.guard = guard;
        store.site = insn.site;
        mir_add(s->mir, s->block, &store);
    }
}

static void rewrite_block(struct spill *s, uint32_t b, uint32_t begin)
{
    struct mir_block old = s->mir->blocks[b], *block = &s->mir->blocks[b];

    block->insns = NULL;
    block->count = block->cap = 0;
    s->block = b;
    for (uint32_t i = 0; i < old.count; i++) {
        s->position = begin + 2 * i;
        if (!is_left_out(s, &old.insns[i])) {
            rewrite_insn(s, old.insns[i]);
        }
    }
    if (block->end == MIR_BRANCH && s->gone[block->cond.reg]) {
        s->site = block->site;
        before(s, &(struct mir_operand){ &block->cond, 1, true, false, true });
    }
}

/* Where each register goes, and which are rematerialized. */
static void decide(struct spill *s)
{
    struct mir *mir = s->mir;
    uint32_t count = mir->reg_count;

    s->rematerialized = arena_new(s->arena, bool, count);
    s->slot = arena_new(s->arena, uint32_t, count);
    for (uint32_t r = 1; r < count; r++) {
        if (!s->gone[r]) {
            continue;
        }
        s->rematerialized[r] = is_rematerializable(s, r);
        mir->rematerialized += s->rematerialized[r];
        mir->spilled += !s->rematerialized[r];
        if (mir->regs[r].class == MIR_PRED) {
            s->slot[r] = mir_reg(mir, MIR_VECTOR, 1, 0).reg;
        } else if (!s->rematerialized[r]) {
            s->slot[r] = (mir->local_bytes + 15u) / 16u * 16u + 16u + mir->spill_bytes;
            mir->spill_bytes += 4u * mir->regs[r].words;
        }
    }
}

void spill_registers(struct mir *mir, const struct ranges *words, const bool *gone)
{
    struct spill *s = spill_new(mir, words, gone);
    uint32_t begin = 0;

    decide(s);
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        uint32_t count = mir->blocks[b].count;
        rewrite_block(s, b, begin);
        begin += 2 * count + 2;
    }
}
