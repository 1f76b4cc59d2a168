/* SPDX-License-Identifier: MIT */
#include "compiler/mir/subvector/partition.h"

#include "ppu/macros.h"

#include <string.h>

#define LOOP_TURNS 8.0 /* of a loop whose turns are not known */
#define THRESHOLDS 64u /* tried, at most */
#define BEGINS 8u      /* tried for a loop, at most */

struct finder {
    const struct refusal_code *code;
    const struct segment_limits *limits;
    const struct pressure *pressure;
    const struct flow *flow;
    struct arena *arena;
    struct segment_plan *plan;
};

static void add_segment(struct finder *f, struct segment_list *list, struct segment segment)
{
    list->at = arena_grow(f->arena, list->at, sizeof(list->at[0]), list->count, &list->cap);
    list->at[list->count++] = segment;
}

/* ---- needs ---- */

static const struct mir_insn *insn_at(const struct refusal_code *code, uint32_t point)
{
    uint32_t b = code->pressure->block[point];

    return point == pressure_end(code->pressure, b) ? NULL
                                                    : &code->mir->blocks[b].insns[point - code->pressure->first[b]];
}

/* A function's registers lie below those of what lives across the call. */
static uint32_t need_at(const struct refusal_code *code, uint32_t point)
{
    const struct mir_insn *insn = insn_at(code, point);

    return code->pressure->need[point] + (insn && insn->callee != 0 ? insn->clobbers[MIR_VECTOR] : 0u);
}

static uint32_t most_needed(const struct refusal_code *code, uint32_t from, uint32_t to)
{
    uint32_t most = 0;

    for (uint32_t s = from; s < to; s++) {
        uint32_t need = need_at(code, s);
        most = PPU_MAX(most, need);
    }
    return most;
}

static bool is_above(const struct finder *f, uint32_t need)
{
    return need > f->plan->threshold;
}

/* ---- pieces ---- */

static void add_piece(struct finder *f, uint32_t from, uint32_t to, uint32_t level)
{
    if (from != to) {
        add_segment(f, &f->plan->pieces, (struct segment){ from, to, most_needed(f->code, from, to), level, { 0, 0 } });
    }
}

/* Neighbours that are refused for the same reason are told of once. */
static void add_refused(struct finder *f, uint32_t from, uint32_t to, uint32_t level, struct refusal refusal)
{
    struct segment_list *list = &f->plan->refused;
    struct segment *last = list->count != 0 ? &list->at[list->count - 1] : NULL;
    uint32_t need = most_needed(f->code, from, to);

    if (!is_above(f, need)) {
        return;
    }
    if (last && last->to == from && last->refusal.kind == refusal.kind) {
        last->to = to;
        last->need = PPU_MAX(need, last->need);
        return;
    }
    add_segment(f, list, (struct segment){ from, to, need, level, refusal });
}

/* True when a run that began before must end before the instruction. */
static bool ends_run(const struct finder *f, uint32_t from, uint32_t point)
{
    if (refusal_of_insn(f->code, point, from) != REFUSAL_NONE) {
        return true;
    }
    return f->limits->run != 0 ? point - from == f->limits->run
                               : is_above(f, need_at(f->code, point)) != is_above(f, need_at(f->code, from));
}

/* Instructions of one block. */
static void add_runs(struct finder *f, uint32_t from, uint32_t to, uint32_t level)
{
    uint32_t begin = from;

    for (uint32_t s = from; s < to; s++) {
        struct refusal refusal = refusal_of(f->code, s, s + 1);
        bool alone = refusal.kind != REFUSAL_NONE || insn_at(f->code, s)->callee != 0;
        if (alone || ends_run(f, begin, s)) {
            add_piece(f, begin, s, level);
            begin = s;
        }
        if (refusal.kind != REFUSAL_NONE) {
            add_refused(f, s, s + 1, level, refusal);
            begin = s + 1;
        } else if (alone) {
            add_piece(f, s, s + 1, level);
            begin = s + 1;
        }
    }
    add_piece(f, begin, to, level);
}

static void add_level(struct finder *f, uint32_t loop);

static bool in_level(const struct flow *flow, uint32_t loop, uint32_t block)
{
    return loop == FLOW_NONE || flow_in_loop(flow, loop, block);
}

/* Goes on from one block to the next: part of the run before, where that is as high. */
static void add_step(struct finder *f, uint32_t from, uint32_t to, uint32_t level)
{
    struct refusal refusal = refusal_of(f->code, from, to);
    struct segment_list *list = &f->plan->pieces;
    struct segment *last = list->count != 0 ? &list->at[list->count - 1] : NULL;

    if (refusal.kind != REFUSAL_NONE) {
        add_refused(f, from, to, level, refusal);
    } else if (last && last->to == from && last->level == level &&
               is_above(f, last->need) == is_above(f, need_at(f->code, from)) &&
               refusal_of(f->code, last->from, to).kind == REFUSAL_NONE) {
        last->to = to;
    } else {
        add_piece(f, from, to, level);
    }
}

/* ---- scalar registers that are set before ---- */

/* True when some scalar result of the points [from, to) is live at a point before them. */
static bool carries(const struct finder *f, uint32_t from, uint32_t to, uint32_t at)
{
    for (uint32_t s = from; s < to; s++) {
        if (insn_at(f->code, s) && insn_at(f->code, s)->code.scalar &&
            refusal_of_insn(f->code, s, at) != REFUSAL_NONE) {
            return true;
        }
    }
    return false;
}

/*
 * Counters of a loop are set before it, and a segment may not change what it finds: where that can be had, it begins
 * before they are set, at most at `first`.
 */
static uint32_t begin_before(const struct finder *f, uint32_t first, uint32_t from, uint32_t to)
{
    uint32_t at = from, tries = 0;

    while (at != first && tries < BEGINS) {
        at--;
        if (!carries(f, from, to, at)) {
            tries++;
            if (refusal_of(f->code, at, to).kind == REFUSAL_NONE) {
                return at;
            }
        }
    }
    return from;
}

/* Takes back the pieces from a point on. */
static void cut_pieces(struct finder *f, uint32_t from)
{
    struct segment_list *list = &f->plan->pieces;

    while (list->count != 0 && list->at[list->count - 1].from >= from) {
        list->count--;
    }
    if (list->count != 0 && list->at[list->count - 1].to > from) {
        struct segment *last = &list->at[list->count - 1];
        last->to = from;
        last->need = most_needed(f->code, last->from, from);
    }
}

/* Adds what lies between two blocks that all threads of the level pass. */
static void add_between(struct finder *f, uint32_t loop, uint32_t before, uint32_t behind)
{
    uint32_t from = pressure_end(f->pressure, before), to = f->pressure->first[behind];
    uint32_t own = f->flow->loop_count + 1; /* levels of blocks that are passed by some */
    bool empty = true;

    for (uint32_t b = before + 1; b < behind; b++) {
        empty &= f->code->blocks[b].only_ends;
    }
    if (empty) {
        add_step(f, from, to, loop + 1);
        return;
    }
    struct refusal refusal = refusal_of(f->code, from, to);
    if (refusal.kind == REFUSAL_SCALAR || refusal.kind == REFUSAL_PREDICATE) {
        uint32_t begin = begin_before(f, f->pressure->first[before], from, to);
        if (begin != from) {
            cut_pieces(f, begin);
            from = begin;
            refusal.kind = REFUSAL_NONE;
        }
    }
    if (refusal.kind == REFUSAL_NONE) {
        add_piece(f, from, to, loop + 1);
        return;
    }
    add_refused(f, from, to, loop + 1, refusal);
    for (uint32_t b = before + 1; b < behind; b++) {
        uint32_t inner = f->flow->blocks[b].loop;
        if (inner == loop) {
            add_runs(f, f->pressure->first[b], pressure_end(f->pressure, b), own + b);
        } else if (f->flow->loops[inner].header == b && f->flow->loops[inner].parent == loop) {
            add_level(f, inner);
        }
    }
}

/* The furthest block of the level that an edge of the block leads to. */
static uint32_t furthest(const struct finder *f, uint32_t loop, uint32_t block)
{
    uint32_t far = 0;

    for (uint32_t s = 0; s < f->flow->blocks[block].succs; s++) {
        uint32_t to = f->flow->blocks[block].succ[s];
        if (in_level(f->flow, loop, to) && !f->code->blocks[to].only_ends && to > far) {
            far = to;
        }
    }
    return far;
}

/* The function (FLOW_NONE), or a loop: its blocks follow each other. */
static void add_level(struct finder *f, uint32_t loop)
{
    uint32_t first = loop == FLOW_NONE ? 0 : f->flow->loops[loop].header, far = first, before = FLOW_NONE, b = first;

    for (; b < f->flow->count && in_level(f->flow, loop, b); b++) {
        bool passed = far <= b && f->flow->blocks[b].loop == loop && !f->code->blocks[b].only_ends;
        if (passed && before != FLOW_NONE) {
            add_between(f, loop, before, b);
        }
        if (passed) {
            add_runs(f, f->pressure->first[b], pressure_end(f->pressure, b), loop + 1);
            before = b;
        }
        uint32_t reach = furthest(f, loop, b);
        far = PPU_MAX(reach, far);
    }
    for (uint32_t rest = before + 1; rest < b; rest++) { /* nothing that all pass is behind */
        uint32_t inner = f->flow->blocks[rest].loop;
        if (inner == loop && !f->code->blocks[rest].only_ends) {
            add_runs(f, f->pressure->first[rest], pressure_end(f->pressure, rest), f->flow->loop_count + 1 + rest);
        } else if (inner != loop && f->flow->loops[inner].header == rest && f->flow->loops[inner].parent == loop) {
            add_level(f, inner);
        }
    }
}

/* ---- choice ---- */

static bool has_vectors(const struct refusal_code *code, uint32_t from, uint32_t to)
{
    for (uint32_t s = from; s < to; s++) {
        const struct mir_insn *insn = insn_at(code, s);
        if (insn && !insn->code.scalar) {
            return true;
        }
    }
    return false;
}

static void choose(struct finder *f)
{
    struct segment_list *chosen = &f->plan->chosen;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < f->plan->pieces.count; i++) {
        const struct segment *piece = &f->plan->pieces.at[i];
        struct segment *last = chosen->count != 0 ? &chosen->at[chosen->count - 1] : NULL;
        if (!is_above(f, piece->need)) {
            continue;
        }
        if (last && last->to == piece->from && last->level == piece->level &&
            refusal_of(f->code, last->from, piece->to).kind == REFUSAL_NONE) {
            last->to = piece->to;
            last->need = PPU_MAX(piece->need, last->need);
        } else {
            add_segment(f, chosen, *piece);
        }
    }
    for (uint32_t i = 0; i < chosen->count; i++) {
        if (has_vectors(f->code, chosen->at[i].from, chosen->at[i].to)) {
            chosen->at[kept++] = chosen->at[i];
        }
    }
    chosen->count = kept;
}

/* ---- estimate ---- */

/* Vector registers live at one end of the segment or the other: each part keeps them. */
static uint32_t crossing(const struct pressure *p, const struct segment *segment)
{
    const uint64_t *at_from = pressure_live(p, segment->from), *at_to = pressure_live(p, segment->to);
    uint32_t count = 0;

    for (uint32_t w = 0; w < p->set_words; w++) {
        count += (uint32_t)__builtin_popcountll((at_from[w] | at_to[w]) & p->vectors[w]);
    }
    return count;
}

/* Issues of a point: parts for a vector instruction, else 1; often in loops. */
static double weight(const struct flow *flow, uint32_t block)
{
    double turns = 1;

    for (uint32_t d = flow_depth(flow, block); d != 0 && turns < 1e9; d--) {
        turns *= LOOP_TURNS;
    }
    return turns;
}

static bool is_idle_end(const struct refusal_code *code, uint32_t point)
{
    uint32_t b = code->pressure->block[point];

    return point == pressure_end(code->pressure, b) && code->mir->blocks[b].end == MIR_JUMP;
}

static void estimate(struct finder *f)
{
    struct segment_estimate *e = &f->plan->estimate;
    uint32_t parts = f->limits->parts, next = 0, most = 0;

    for (uint32_t s = 0; s < f->pressure->points; s++) {
        const struct segment *segment = next < f->plan->chosen.count ? &f->plan->chosen.at[next] : NULL;
        double turns = weight(f->flow, f->pressure->block[s]);
        const struct mir_insn *insn = insn_at(f->code, s);
        const uint32_t need = need_at(f->code, s);
        bool vector = insn && !insn->code.scalar, inside = segment && s >= segment->from;
        double issues = is_idle_end(f->code, s) ? 0 : vector ? parts : 1;
        e->issues += turns * issues;
        if (segment && s == segment->from) {
            uint32_t crosses = crossing(f->pressure, segment);
            e->private = PPU_MAX(e->private, crosses);
            e->more += turns * (1 + parts);
        }
        if (inside) {
            e->more += vector ? 0 : turns * issues * (parts - 1);
            e->private = PPU_MAX(e->private, insn && insn->callee != 0 ? insn->clobbers[MIR_VECTOR] : 0);
        } else {
            e->private = PPU_MAX(e->private, need);
        }
        most = PPU_MAX(most, need);
        next += inside && s + 1 == segment->to;
    }
    if (!f->limits->shares) {
        e->private = most;
    }
    e->private = ppu_align_up(PPU_MAX(e->private, 1), PPU_SHARED_VREGS_ALIGN);
    e->shared = most > e->private ? most - e->private : 0;
    uint32_t by_registers = f->limits->sm_vregs / (PPU_LANES * segment_footprint(parts, e->private, e->shared));
    uint32_t by_warps = f->limits->sm_warps / parts;
    e->resident = PPU_MIN(by_registers, by_warps);
}

struct segment_plan *segment_plan(const struct refusal_code *code, const struct segment_limits *limits,
                                  uint32_t threshold)
{
    struct arena *arena = &code->mir->compilation->arena;
    struct finder f = {
        code, limits, code->pressure, code->mir->flow, arena, arena_new(arena, struct segment_plan, 1)
    };

    f.plan->threshold = threshold;
    add_level(&f, FLOW_NONE);
    choose(&f);
    estimate(&f);
    return f.plan;
}

static bool is_better(const struct segment_plan *plan, const struct segment_plan *best)
{
    if (plan->estimate.resident != best->estimate.resident) {
        return plan->estimate.resident > best->estimate.resident;
    }
    return plan->estimate.more < best->estimate.more;
}

struct segment_plan *segment_plan_best(const struct refusal_code *code, const struct segment_limits *limits,
                                       uint32_t highest)
{
    uint32_t most = most_needed(code, 0, code->pressure->points), step = most / THRESHOLDS + 1;
    struct segment_plan *best = segment_plan(code, limits, most); /* no segment */

    for (uint32_t threshold = 0; threshold < most && threshold <= highest; threshold += step) {
        struct segment_plan *plan = segment_plan(code, limits, threshold);
        if (plan->estimate.more <= SEGMENT_MAX_MORE * plan->estimate.issues && is_better(plan, best)) {
            best = plan;
        }
    }
    return best;
}
