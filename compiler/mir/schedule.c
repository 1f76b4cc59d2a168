/* SPDX-License-Identifier: MIT */
#include "compiler/mir/schedule.h"

#include "compiler/mir/liveness.h"

#include <string.h>

/* Bounds what the values of a moved load may take of the vector registers, as a part of them. */
#define PRESSURE_PART 2u

struct schedule {
    struct mir *mir;
    struct mir_block *block;
    uint32_t *live;     /* words of vector registers live before each instruction of the block */
    bool *vectors;      /* of each word: it is one of a vector register */
    uint32_t *marks;    /* of each word: `live_mark` when it is live */
    uint32_t live_mark; /* another for each block */
    uint32_t most;      /* that may be live where a load is moved over */
};

static bool is_free_load(const struct mir_insn *insn)
{
    switch (insn->code.op) {
    case PPU_OP_LDG:
    case PPU_OP_LDS:
    case PPU_OP_LDL:
    case PPU_OP_LDU:
        return !insn->ordered;
    default:
        return false;
    }
}

/* What no load may pass: it may change memory, or what other threads see of it. */
static bool is_wall(const struct mir_insn *insn)
{
    switch (insn->code.op) {
    case PPU_OP_STG:
    case PPU_OP_STS:
    case PPU_OP_STL:
    case PPU_OP_STU:
    case PPU_OP_BAR:
    case PPU_OP_FENCE:
        return true;
    default:
        return insn->ordered || insn->code.format == PPU_FMT_ATOM || (ppu_isa_row(insn->code.op)->flags & PPU_IF_B);
    }
}

static bool shares(const struct mir_operand *x, const struct mir_operand *y)
{
    return x->ref->reg == y->ref->reg && x->ref->sub < y->ref->sub + y->words && y->ref->sub < x->ref->sub + x->words;
}

/* True when there is a hazard: one writes what the other reads or writes. */
static bool depends(struct mir_insn *x, struct mir_insn *y)
{
    struct mir_operand of_x[MIR_MAX_OPERANDS], of_y[MIR_MAX_OPERANDS];
    uint32_t n = mir_operands(x, of_x), m = mir_operands(y, of_y);

    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < m; k++) {
            if ((of_x[i].def || of_y[k].def) && shares(&of_x[i], &of_y[k])) {
                return true;
            }
        }
    }
    return false;
}

/* ---- pressure ---- */

/* The words of vector registers. */
static bool *find_vectors(const struct mir *mir)
{
    bool *vectors = arena_new(&mir->compilation->arena, bool, mir->words + 1);

    for (uint32_t r = 1; r < mir->reg_count; r++) {
        for (uint32_t w = mir->regs[r].word; w < mir->regs[r].word + mir->regs[r].words; w++) {
            vectors[w] = mir->regs[r].class == MIR_VECTOR;
        }
    }
    return vectors;
}

/* Makes the word live or dead; by how much the number of live vector words changes. */
static int32_t set_live(struct schedule *s, uint32_t word, bool live)
{
    if ((s->marks[word] == s->live_mark) == live) {
        return 0;
    }
    s->marks[word] = live ? s->live_mark : 0;
    return !s->vectors[word] ? 0 : live ? 1 : -1;
}

static int32_t set_operand_live(struct schedule *s, const struct mir_operand *operand, bool live)
{
    uint32_t first = s->mir->regs[operand->ref->reg].word + operand->ref->sub;
    int32_t change = 0;

    for (uint32_t w = first; w < first + operand->words; w++) {
        change += set_live(s, w, live);
    }
    return change;
}

static void find_pressure(struct schedule *s, const struct live_words *out)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t now = 0;

    s->live_mark++;
    for (uint32_t i = 0; i < out->count; i++) {
        now += (uint32_t)set_live(s, out->list[i], true);
    }
    for (uint32_t i = s->block->count; i-- != 0;) {
        uint32_t n = mir_operands(&s->block->insns[i], operands);
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].def && !operands[o].reads) {
                now += (uint32_t)set_operand_live(s, &operands[o], false);
            }
        }
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].reads) {
                now += (uint32_t)set_operand_live(s, &operands[o], true);
            }
        }
        s->live[i] = now;
    }
}

/* ---- moving ---- */

/* The position that load `at` may be moved up to: behind the last thing it may not pass, or another load. */
static uint32_t earliest(struct schedule *s, uint32_t at)
{
    struct mir_insn *load = &s->block->insns[at];
    uint32_t to = at;

    while (to != 0) {
        struct mir_insn *before = &s->block->insns[to - 1];
        if (is_wall(before) || is_free_load(before) || depends(before, load) ||
            s->live[to - 1] + load->code.wd > s->most) {
            break;
        }
        to--;
    }
    return to;
}

static void move(struct schedule *s, uint32_t from, uint32_t to)
{
    struct mir_insn load = s->block->insns[from];

    memmove(&s->block->insns[to + 1], &s->block->insns[to], (from - to) * sizeof(load));
    s->block->insns[to] = load;
    memmove(&s->live[to + 1], &s->live[to], (from - to) * sizeof(s->live[0]));
    for (uint32_t i = to + 1; i <= from; i++) {
        s->live[i] += load.code.wd;
    }
}

static bool has_loads(const struct mir_block *block)
{
    for (uint32_t i = 1; i < block->count; i++) {
        if (is_free_load(&block->insns[i])) {
            return true;
        }
    }
    return false;
}

static void schedule_block(struct schedule *s, const struct live_words *out)
{
    s->live = arena_new(&s->mir->compilation->arena, uint32_t, s->block->count);
    find_pressure(s, out);
    for (uint32_t i = 1; i < s->block->count; i++) {
        uint32_t to = is_free_load(&s->block->insns[i]) ? earliest(s, i) : i;
        if (to != i) {
            move(s, i, to);
        }
    }
}

void schedule_loads(struct mir *mir, const struct register_limits *limits)
{
    struct liveness live = liveness_find(mir);
    struct schedule s = { .mir = mir,
                          .vectors = find_vectors(mir),
                          .marks = arena_new(&mir->compilation->arena, uint32_t, mir->words + 1),
                          .most = limits->registers[MIR_VECTOR] / PRESSURE_PART };

    for (uint32_t b = 0; b < mir->flow->count; b++) {
        s.block = &mir->blocks[b];
        if (has_loads(s.block)) {
            schedule_block(&s, &live.out[b]);
        }
    }
}
