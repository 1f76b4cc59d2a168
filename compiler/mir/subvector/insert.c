/* SPDX-License-Identifier: MIT */
#include "compiler/mir/subvector/insert.h"

#define DEFAULT_SM_VREGS 65536u
#define DEFAULT_SM_WARPS 64u

uint32_t subvector_parts(const struct compilation *compilation)
{
    return compilation->wave / PPU_LANES;
}

bool subvector_shares(enum ppu_subvector_form form)
{
    return form == PPU_SEGMENTS_ENTER || form == PPU_SEGMENTS_MAY;
}

bool subvector_wanted(const struct compilation *compilation)
{
    return compilation->options->subvector.form != PPU_SEGMENTS_OFF && subvector_parts(compilation) > 1;
}

static uint32_t or_default(uint32_t number, uint32_t otherwise)
{
    return number != 0 ? number : otherwise;
}

static struct segment_plan *plan_segments(const struct refusal_code *code, const struct compilation *compilation)
{
    const struct ppu_compile_subvector *options = &compilation->options->subvector;
    const struct segment_limits limits = { .parts = subvector_parts(compilation),
                                           .run = options->run,
                                           .sm_vregs = or_default(options->sm_vregs, DEFAULT_SM_VREGS),
                                           .sm_warps = or_default(options->sm_warps, DEFAULT_SM_WARPS),
                                           .shares = subvector_shares(options->form) };

    switch (options->threshold_kind) {
    case PPU_THRESHOLD_REGISTERS:
        return segment_plan(code, &limits, options->threshold);
    case PPU_THRESHOLD_PERCENT:
        return segment_plan(code, &limits,
                            or_default(compilation->options->max_vregs, PPU_MAX_VREGS) * options->threshold / 100u);
    case PPU_THRESHOLD_DEVICE:
        return segment_plan_best(code, &limits, options->threshold);
    default:
        return segment_plan_best(code, &limits, UINT32_MAX);
    }
}

/* ---- begins and ends ---- */

struct inserter {
    struct mir *mir;
    enum ppu_subvector_form form;
    uint32_t parts;
    uint32_t block;
    uint32_t site;
    struct mir_ref mask; /* of the segment: what the loop form keeps, or the lane's part */
    struct mir_ref pred;
};

/* Adds the number of each lane's part, and a predicate that emission writes before each copy. */
static void add_part(struct inserter *in)
{
    struct mir_insn lane = mir_insn(PPU_OP_RDSR), part = mir_insn(PPU_OP_SHR), is_first = mir_insn(PPU_OP_ISETP);

    in->mask = mir_reg(in->mir, MIR_VECTOR, 1, 0);
    in->mir->regs[in->mask.reg].brief = true; /* each copy begins with it: it cannot be elsewhere */
    in->pred = mir_reg(in->mir, MIR_PRED, 1, 0);
    lane.code.ra = PPU_SR_LANE;
    lane.d = in->mask;
    lane.site = in->site;
    mir_add(in->mir, in->block, &lane);
    part.code.immed = 1;
    part.code.imm = __builtin_ctz(PPU_LANES);
    part.a = part.d = in->mask;
    part.site = in->site;
    mir_add(in->mir, in->block, &part);
    is_first.code.immed = 1;
    is_first.code.cmp = PPU_ICMP_EQ;
    is_first.a = in->mask;
    is_first.d = in->pred;
    is_first.site = in->site;
    mir_add(in->mir, in->block, &is_first);
}

static struct mir_insn border(struct inserter *in, enum ppu_op op)
{
    struct mir_insn insn = mir_insn(op);

    insn.site = in->site;
    insn.code.immed = 1;
    if (in->form == PPU_SEGMENTS_LOOP) {
        insn.code.scalar = 1;
        insn.code.wd = (uint8_t)(in->parts - 1);
        insn.d = in->mask;
    } else if (in->form == PPU_SEGMENTS_DUPLICATE) {
        insn.code.wa = 1;
        insn.a = in->mask;
        insn.pred = in->pred;
    }
    return insn;
}

static void add_begin(struct inserter *in)
{
    if (in->form == PPU_SEGMENTS_DUPLICATE) {
        add_part(in);
    } else if (in->form == PPU_SEGMENTS_LOOP) {
        in->mask = mir_reg(in->mir, MIR_SCALAR, in->parts > 2 ? 4 : 1, 0);
    }
    struct mir_insn begin = border(in, in->form == PPU_SEGMENTS_LOOP ? PPU_OP_SVBEGIN : PPU_OP_SVENTER);
    begin.code.imm = in->form == PPU_SEGMENTS_MAY ? (int32_t)PPU_SUBVECTOR_MAY : 0;
    mir_add(in->mir, in->block, &begin);
}

static void add_end(struct inserter *in)
{
    struct mir_insn end = border(in, in->form == PPU_SEGMENTS_LOOP ? PPU_OP_SVEND : PPU_OP_SVLEAVE);

    end.keeps = end.d.reg != 0;
    end.code.immed = in->form == PPU_SEGMENTS_LOOP;
    mir_add(in->mir, in->block, &end);
}

static void insert_all(struct inserter *in, const struct segment_list *segments)
{
    uint32_t point = 0, next = 0;
    bool inside = false;

    for (in->block = 0; in->block < in->mir->flow->count; in->block++) {
        struct mir_block old = in->mir->blocks[in->block], *block = &in->mir->blocks[in->block];
        block->insns = NULL;
        block->count = block->cap = 0;
        for (uint32_t i = 0; i <= old.count; i++, point++) {
            in->site = i < old.count ? old.insns[i].site : old.site;
            if (inside && segments->at[next].to == point) {
                add_end(in);
                inside = false;
                next++;
            }
            if (next < segments->count && segments->at[next].from == point) {
                add_begin(in);
                inside = true;
            }
            if (i < old.count) {
                mir_add(in->mir, in->block, &old.insns[i]);
            }
        }
    }
}

void subvector_insert(struct mir *mir, const struct kernel_info *kernel)
{
    struct compilation *compilation = mir->compilation;
    const struct refusal_code code =
        refusal_code_new(mir, kernel, compilation->options->subvector.form == PPU_SEGMENTS_LOOP);
    struct inserter in = { .mir = mir,
                           .form = compilation->options->subvector.form,
                           .parts = subvector_parts(compilation) };

    mir->segments = plan_segments(&code, compilation);
    mir->segments->pressure = code.pressure;
    insert_all(&in, &mir->segments->chosen);
    if (compilation->options->subvector.inverted && mir->segments->chosen.count != 0) {
        mir->entry = mir->segments->chosen.at[0].from == 0 ? MIR_ENTRY_SEGMENT : MIR_ENTRY_LEAVES;
    }
}

void subvector_drop_empty(struct mir *mir)
{
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        struct mir_block *block = &mir->blocks[b];
        uint32_t kept = 0;
        for (uint32_t i = 0; i < block->count; i++) {
            if (i + 1 < block->count && subvector_begins(&block->insns[i]) && subvector_ends(&block->insns[i + 1])) {
                if (b == 0 && i == 0 && mir->entry == MIR_ENTRY_SEGMENT) {
                    mir->entry = MIR_ENTRY_LEAVES;
                }
                i++;
            } else {
                block->insns[kept++] = block->insns[i];
            }
        }
        block->count = kept;
    }
}
