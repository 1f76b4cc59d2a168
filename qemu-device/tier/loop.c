/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a unit that is a loop without effects on memory, in which all lanes that are active go the same way or leave.
 * A part of the warp's lanes goes through the loop until it ends, or for a round of it; then the next part does. So
 * registers stay in the host's from one turn of the loop to the next. All parts stop at the same instruction, unless
 * their last lanes have left before: what decides where is the same for all of them.
 */
#include "qemu-device/tier/loop.h"
#include "qemu-device/core/sm/prologue.h"
#include "qemu-device/tier/gather.h"

#include <stdlib.h>
#include <string.h>

/* ---- does the unit fit ---- */

static bool leaves_by(const struct ppu_insn *insn)
{
    return (insn->op == PPU_OP_BRK || insn->op == PPU_OP_SYNC || insn->op == PPU_OP_CONT) && insn->immed &&
           insn->guard != 0;
}

static bool take_control(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = loop_insn_of(l, n);

    if (insn->op == PPU_OP_BRA && insn->immed) {
        return true;
    }
    if (insn->op == PPU_OP_YIELDN && insn->guard == 0) {
        const bool same = !l->yields || l->yields_at == (uint32_t)insn->imm;
        l->yields = true;
        l->yields_at = (uint32_t)insn->imm;
        return same;
    }
    if (!leaves_by(insn) || l->leave_count == LOOP_LEAVES) {
        return false;
    }
    l->leaves[l->leave_count++] = n;
    return true;
}

static bool fits(struct loop *l, uint32_t n, uint32_t *rows, uint32_t *ones)
{
    const struct ppu_insn *const insn = loop_insn_of(l, n);
    struct writer *const t = l->t;

    if (l->gathers && t->kind[n] != KIND_LEAVE && loop_loads_lanes(t->unit, insn)) {
        l->reads = true;
        t->kind[n] = KIND_LOAD;
        *rows += insn->wd;
        return *rows <= LOOP_MOST_GATHERS;
    }
    switch (t->kind[n]) {
    case KIND_VECTOR:
    case KIND_SCALAR:
    case KIND_UNIFORM:
        return true;
    case KIND_CONTROL:
        return take_control(l, n);
    case KIND_LOAD_ONE:
        l->reads = true;
        return ++*ones <= LOOP_PAGES;
    case KIND_LOAD:
        break;
    default:
        return false;
    }
    l->reads = l->needs_whole = true;
    if (insn->lane_off && insn->rb < EXEC_STEADY) {
        l->first_of[insn->rb] = 1;
    }
    return ++*rows <= LOOP_MOST_ROWS && (!insn->lane_off || insn->rb < EXEC_STEADY);
}

/* ---- what it names ---- */

static void name_regs(struct loop *l, uint32_t reg, uint32_t words, bool scalar, bool written)
{
    for (uint32_t i = reg; i < reg + words; i++) {
        if (scalar) {
            l->sreg_named[i] = true;
            l->sreg_written[i] = l->sreg_written[i] || written;
        } else {
            l->reg_named[i] = true;
            l->reg_written[i] = l->reg_written[i] || written;
        }
    }
}

static void name_sources(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = loop_insn_of(l, n);

    if (l->t->kind[n] == KIND_CONTROL || insn->format == PPU_FMT_PLOP) {
        return;
    }
    for (uint32_t i = 0; i < 3; i++) {
        const struct operand_of o = operand_of(insn, i);
        if (!o.immediate && (insn->format != PPU_FMT_MEM || i == 0)) {
            name_regs(l, o.reg, o.words, o.scalar, false);
        }
    }
    if (insn->format == PPU_FMT_MEM && insn->lane_off) {
        name_regs(l, insn->rb, 1, false, false);
    }
}

static void name_preds(struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = loop_insn_of(l, n);

    if (insn->guard != 0) {
        l->pred_named[insn->guard & PPU_GUARD_PRED] = true;
    }
    if (insn->format == PPU_FMT_SEL) {
        l->pred_named[insn->pred & PPU_GUARD_PRED] = true;
    }
    if (insn->format == PPU_FMT_PLOP) {
        l->pred_named[insn->ra & PPU_GUARD_PRED] = l->pred_named[insn->rb & PPU_GUARD_PRED] = true;
    }
    if (insn->format == PPU_FMT_PLOP || insn->format == PPU_FMT_SETP) {
        l->pred_named[insn->rd] = true;
        l->pred_writers[insn->rd] |= l->t->kind[n] == KIND_UNIFORM ? WRITERS_SAME : WRITERS_LANES;
    }
}

static void name_all(struct loop *l)
{
    for (uint32_t n = 0; n < l->t->unit->insns; n++) {
        const struct ppu_insn *const insn = loop_insn_of(l, n);
        name_sources(l, n);
        name_preds(l, n);
        if (l->t->kind[n] != KIND_CONTROL && insn->format != PPU_FMT_SETP && insn->format != PPU_FMT_PLOP) {
            name_regs(l, insn->rd, insn->wd, insn->scalar, true);
        }
    }
    for (uint32_t pred = 0; pred < PPU_PREDS; pred++) {
        l->needs_whole = l->needs_whole || l->pred_writers[pred] == (WRITERS_LANES | WRITERS_SAME);
    }
}

/* Offsets of rows stay what they are when the loop begins. */
static bool rows_stay(const struct loop *l)
{
    for (uint32_t n = 0; n < l->t->unit->insns; n++) {
        const struct ppu_insn *const insn = loop_insn_of(l, n);
        for (uint32_t word = 0; loop_writes_lanes(l, n) && word < insn->wd; word++) {
            if (l->first_of[insn->rd + word]) {
                return false;
            }
        }
    }
    return true;
}

/* ---- blocks ---- */

/* The unit's instruction that a branch names; the number of instructions: none. */
static uint32_t target_of(const struct loop *l, uint32_t n)
{
    const struct ppu_insn *const insn = loop_insn_of(l, n);
    const int64_t to = (int64_t)n + insn->imm;

    return l->t->kind[n] == KIND_CONTROL && insn->op == PPU_OP_BRA && to >= 0 && to < l->t->unit->insns
               ? (uint32_t)to
               : l->t->unit->insns;
}

/* False: it does not jump back. */
static bool find_blocks(struct loop *l)
{
    const uint32_t insns = l->t->unit->insns;
    bool back = false;

    l->begins[0] = true;
    for (uint32_t n = 0; n < insns; n++) {
        const uint32_t target = target_of(l, n);
        if (target < insns) {
            l->begins[target] = true;
            back = back || target <= n;
        }
        if (l->t->kind[n] == KIND_CONTROL && n + 1 < insns) {
            l->begins[n + 1] = true;
        }
    }
    return back;
}

/* The first instruction behind those of the block that transfer no control. */
static uint32_t block_end(const struct loop *l, uint32_t n)
{
    const uint32_t begin = n;

    while (n < l->t->unit->insns && l->t->kind[n] != KIND_CONTROL && (n == begin || !l->begins[n])) {
        n++;
    }
    return n;
}

/* The block that begins there has made the predicate the same for all lanes, last. */
static bool made_same(const struct loop *l, uint32_t begin, uint32_t end, uint32_t pred)
{
    bool same = l->pred_writers[pred] == WRITERS_SAME;

    for (uint32_t n = begin; n < end; n++) {
        const struct ppu_insn *const insn = loop_insn_of(l, n);
        if ((insn->format == PPU_FMT_SETP || insn->format == PPU_FMT_PLOP) && insn->rd == pred) {
            same = l->t->kind[n] == KIND_UNIFORM;
        }
    }
    return same;
}

static void find_guesses(struct loop *l)
{
    const uint32_t insns = l->t->unit->insns;

    for (uint32_t begin = 0; begin < insns; begin++) {
        const uint32_t end = l->begins[begin] ? block_end(l, begin) : insns;
        if (end < insns && l->t->kind[end] == KIND_CONTROL && loop_insn_of(l, end)->op == PPU_OP_BRA &&
            loop_insn_of(l, end)->guard != 0 &&
            !made_same(l, begin, end, loop_insn_of(l, end)->guard & PPU_GUARD_PRED)) {
            l->guesses = true;
        }
    }
}

/* ---- how NaNs of registers are where blocks begin ---- */

static enum flow join(enum flow a, enum flow b, bool *conflict)
{
    *conflict = *conflict || (a != b && a >= FLOW_RAW && b >= FLOW_RAW);
    return a > b ? a : b;
}

/* What comes out of a block goes into another. True: that has changed. */
static bool flow_to(struct loop *l, const uint8_t from[PPU_MAX_VREGS], uint32_t to, bool *conflict)
{
    bool changed = false;

    for (uint32_t reg = 0; to < l->t->unit->insns && reg < PPU_MAX_VREGS; reg++) {
        bool differ = false;
        const enum flow flow = join((enum flow)l->raw[to][reg], (enum flow)from[reg], &differ);
        l->strict[reg] = l->strict[reg] || differ;
        *conflict = *conflict || differ;
        changed = changed || flow != l->raw[to][reg];
        l->raw[to][reg] = (uint8_t)flow;
    }
    return changed;
}

static void flow_through(const struct loop *l, uint32_t begin, uint32_t end, uint8_t flow[PPU_MAX_VREGS])
{
    for (uint32_t n = begin; n < end; n++) {
        uint8_t raw[PPU_MAX_VREGS];
        for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
            raw[reg] = flow[reg] == FLOW_RAW ? RAW_FLOAT : RAW_NO;
        }
        loop_raw_behind(l, n, raw);
        for (uint32_t word = 0; loop_writes_lanes(l, n) && word < loop_insn_of(l, n)->wd; word++) {
            const uint32_t reg = loop_insn_of(l, n)->rd + word;
            flow[reg] = raw[reg] == RAW_FLOAT ? FLOW_RAW : FLOW_MADE;
        }
    }
}

/* True: nothing has changed. */
static bool flow_once(struct loop *l, bool *conflict)
{
    const uint32_t insns = l->t->unit->insns;
    bool changed = false;

    for (uint32_t begin = 0; begin < insns; begin++) {
        uint8_t flow[PPU_MAX_VREGS];
        if (!l->begins[begin] || l->raw[begin][0] == FLOW_NONE) {
            continue;
        }
        const uint32_t end = block_end(l, begin);
        memcpy(flow, l->raw[begin], sizeof(flow));
        flow_through(l, begin, end, flow);
        const bool branches = end < insns && target_of(l, end) < insns;
        const bool behind = end == insns || l->t->kind[end] != KIND_CONTROL;
        changed = (branches && flow_to(l, flow, target_of(l, end), conflict)) || changed;
        changed = flow_to(l, flow, behind ? end : end + 1, conflict) || changed;
    }
    return !changed;
}

static void find_raw(struct loop *l)
{
    bool conflict = true;

    while (conflict) {
        conflict = false;
        memset(l->raw, FLOW_NONE, l->t->unit->insns * sizeof(l->raw[0]));
        memset(l->raw[0], FLOW_KEPT, sizeof(l->raw[0]));
        while (!flow_once(l, &conflict) && !conflict) {
        }
    }
}

/* ---- how many lanes go together ---- */

static void choose_groups(struct loop *l)
{
    const uint32_t groups = l->t->unit->wave / TIER_CHUNK;
    uint32_t named = 0;

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        named += l->reg_named[reg];
    }
    l->groups = l->gathers ? GATHER_GROUPS : 1;
    while (!l->gathers && 2 * l->groups <= groups && 2 * l->groups * named <= l->t->room) {
        l->groups *= 2;
    }
    l->parts = groups / l->groups;
}

/* The unit is such a loop. */
static bool look(struct loop *l)
{
    uint32_t rows = 0, ones = 0;

    for (uint32_t n = 0; n < l->t->unit->insns; n++) {
        if (!fits(l, n, &rows, &ones)) {
            return false;
        }
    }
    if (!find_blocks(l) || (l->leave_count != 0 && rows != 0 && !l->gathers) || !rows_stay(l)) {
        return false;
    }
    name_all(l);
    if (l->leave_count != 0 && l->needs_whole) {
        return false;
    }
    find_guesses(l);
    choose_groups(l);
    find_raw(l);
    return true;
}

/* NULL: it is no such loop. `kind`: what its instructions are then. */
static struct loop *loop_of(struct writer *t, bool gathers, enum tier_kind kind[TIER_MAX_INSNS])
{
    struct loop *const l = calloc(1, sizeof(*l));
    enum tier_kind before[TIER_MAX_INSNS];

    if (!l) {
        return NULL;
    }
    l->t = t;
    l->gathers = gathers;
    l->words_type = t->lanes;
    l->set_type = t->mask;
    l->refused = t->leave;
    l->raw = calloc(t->unit->insns, sizeof(l->raw[0]));
    memcpy(before, t->kind, sizeof(before));
    const bool fit = l->raw && look(l);
    memcpy(kind, t->kind, sizeof(before));
    memcpy(t->kind, before, sizeof(before));
    if (!fit) {
        free(l->raw);
        free(l);
        return NULL;
    }
    return l;
}

static void write_as(struct loop *l, const enum tier_kind kind[TIER_MAX_INSNS])
{
    memcpy(l->t->kind, kind, sizeof(l->t->kind));
    loop_write(l);
    free(l->raw);
    free(l);
}

/* Lanes of a load that are thought to lie in a row of the warp may lie elsewhere. */
static bool has_rows(const struct loop *l)
{
    bool any = l->needs_whole;

    for (uint32_t reg = 0; reg < PPU_MAX_VREGS; reg++) {
        any = any || l->first_of[reg];
    }
    return any;
}

bool write_loop(struct writer *t)
{
    enum tier_kind as_rows[TIER_MAX_INSNS], as_lanes[TIER_MAX_INSNS];
    struct loop *const rows = loop_of(t, false, as_rows);
    struct loop *const lanes = !rows || has_rows(rows) ? loop_of(t, true, as_lanes) : NULL;
    LLVMBasicBlockRef refused = rows && lanes ? write_block(t) : t->leave;

    if (rows) {
        rows->refused = refused;
        write_as(rows, as_rows);
    }
    if (rows && lanes) {
        write_at(t, refused);
    }
    if (lanes) {
        write_as(lanes, as_lanes);
    }
    return rows || lanes;
}
