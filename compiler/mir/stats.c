/* SPDX-License-Identifier: MIT */
#include "compiler/mir/stats.h"

#include "compiler/mir/liveness.h"
#include "compiler/mir/pressure_svg.h"
#include "compiler/mir/subvector/insert.h"
#include "ppu/macros.h"

#include <string.h>

#define POINTS 24u /* of a curve, at most: each is the most of a part of the code */

static const char *const class_names[MIR_CLASSES] = { "vector", "scalar", "predicate" };

static uint32_t count_insns(const struct mir *mir, bool memory)
{
    uint32_t count = 0;

    for (uint32_t b = 0; b < mir->flow->count; b++) {
        for (uint32_t i = 0; i < mir->blocks[b].count; i++) {
            uint32_t format = mir->blocks[b].insns[i].code.format;
            count += !memory || format == PPU_FMT_MEM || format == PPU_FMT_ATOM;
        }
    }
    return count;
}

/* ---- curves ---- */

struct curves {
    struct mir *mir;
    uint32_t insns;
    uint32_t most[MIR_CLASSES][POINTS];
    uint64_t *set; /* words live */
    uint32_t live[MIR_CLASSES];
};

static void set_live(struct curves *c, const struct mir_operand *operand, bool live)
{
    const struct mir_reg *reg = &c->mir->regs[operand->ref->reg];
    uint32_t first = reg->word + operand->ref->sub;

    for (uint32_t w = first; w < first + operand->words; w++) {
        if ((c->set[w / 64] >> w % 64 & 1) != live) {
            c->set[w / 64] ^= 1ull << w % 64;
            c->live[reg->class] += live ? 1u : UINT32_MAX;
        }
    }
}

/* Registers live at the end of a block: when they are allocated, classes follow each other among the words. */
static void begin_block(struct curves *c, const struct live_words *out)
{
    memset(c->set, 0, (c->mir->words / 64 + 1) * sizeof(c->set[0]));
    memset(c->live, 0, sizeof(c->live));
    for (uint32_t i = 0; i < out->count; i++) {
        uint32_t w = out->list[i];
        uint32_t class = w < PPU_MAX_VREGS ? MIR_VECTOR : w < PPU_MAX_VREGS + PPU_SREGS ? MIR_SCALAR : MIR_PRED;
        c->set[w / 64] |= 1ull << w % 64;
        c->live[class]++;
    }
}

static void add_point(struct curves *c, uint32_t insn)
{
    uint32_t parts = PPU_MIN(c->insns, POINTS);

    if (c->insns == 0) {
        return;
    }
    uint32_t point = insn * parts / c->insns;
    for (uint32_t class = 0; class < MIR_CLASSES; class ++) {
        if (c->live[class] > c->most[class][point]) {
            c->most[class][point] = c->live[class];
        }
    }
}

static void add_block(struct curves *c, struct mir_block *block, uint32_t first)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];

    if (block->end == MIR_BRANCH) {
        set_live(c, &(struct mir_operand){ .ref = &block->cond, .words = 1 }, true);
    }
    for (uint32_t i = block->count; i-- != 0;) {
        uint32_t n = mir_operands(&block->insns[i], operands);
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].def && !operands[o].reads) {
                set_live(c, &operands[o], false);
            }
        }
        for (uint32_t o = 0; o < n; o++) {
            if (operands[o].reads) {
                set_live(c, &operands[o], true);
            }
        }
        add_point(c, first + i);
    }
}

static void print_curves(const struct compilation *compilation, struct mir *mir)
{
    struct curves c = { .mir = mir, .insns = count_insns(mir, false) };
    uint32_t first = 0;

    struct liveness live = liveness_find(mir);
    c.set = arena_new(&mir->compilation->arena, uint64_t, mir->words / 64 + 1);
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        begin_block(&c, &live.out[b]);
        add_block(&c, &mir->blocks[b], first);
        first += mir->blocks[b].count;
    }
    for (uint32_t class = 0; class < MIR_CLASSES; class ++) {
        fprintf(compilation->dump, "  live %-9s", class_names[class]);
        for (uint32_t p = 0; p < POINTS && p < c.insns; p++) {
            fprintf(compilation->dump, " %u", c.most[class][p]);
        }
        fputc('\n', compilation->dump);
    }
}

/* ---- segments ---- */

static void print_segment(const struct compilation *compilation, const struct segment_plan *plan,
                          const struct segment *segment)
{
    uint32_t first = plan->pressure->line[segment->from], last = plan->pressure->line[segment->to - 1];

    fprintf(compilation->dump, "  %s: points %u to %u, lines %u to %u, %u registers",
            segment->refusal.kind == REFUSAL_NONE ? "segment" : "refused", segment->from, segment->to, first, last,
            segment->need);
    if (segment->refusal.kind != REFUSAL_NONE) {
        fprintf(compilation->dump, ": %s at point %u, line %u", refusal_text(segment->refusal.kind),
                segment->refusal.point, plan->pressure->line[segment->refusal.point]);
    }
    fputc('\n', compilation->dump);
}

static void print_segments(const struct compilation *compilation, const struct kernel_info *kernel,
                           const struct mir *mir)
{
    const struct segment_plan *plan = mir->segments;

    fprintf(compilation->dump,
            "  %u segments above %u registers; a wave takes %u times %u and %u shared, without segments %u times %u; "
            "%.1f %% more instruction issues expected\n",
            plan->chosen.count, plan->threshold, subvector_parts(compilation), kernel->vregs, kernel->shared_vregs,
            subvector_parts(compilation), mir->plain_vregs, 100 * plan->estimate.more / plan->estimate.issues);
    pressure_text(compilation->dump, plan);
    for (uint32_t i = 0; i < plan->chosen.count; i++) {
        print_segment(compilation, plan, &plan->chosen.at[i]);
    }
    for (uint32_t i = 0; i < plan->refused.count; i++) {
        print_segment(compilation, plan, &plan->refused.at[i]);
    }
}

void stats_print(const struct compilation *compilation, const struct kernel_info *kernel, struct mir *mir)
{
    fprintf(
        compilation->dump,
        "%s: %u instructions, %u memory, %u vector registers, %u scalar, %u predicates, %u spilled, %u rematerialized, %u functions, %u bytes "
        "shared, %u local\n",
        kernel->name, (uint32_t)(compilation->code.len - kernel->entry) / PPU_INSN_BYTES, count_insns(mir, true),
        kernel->vregs, mir->used[MIR_SCALAR], mir->used[MIR_PRED], mir->spilled, mir->rematerialized,
        kernel->function_count, kernel->shared_bytes, kernel->local_bytes);
    print_curves(compilation, mir);
    if (mir->segments) {
        print_segments(compilation, kernel, mir);
    }
}
