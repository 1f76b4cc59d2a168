/* SPDX-License-Identifier: MIT */
#include "compiler/mir/mir.h"

#include <string.h>

struct mir *mir_new(struct compilation *compilation, const char *name, struct flow *flow)
{
    struct mir *mir = arena_new(&compilation->arena, struct mir, 1);

    mir->compilation = compilation;
    mir->name = name;
    mir->flow = flow;
    mir->blocks = arena_new(&compilation->arena, struct mir_block, flow->count + 1);
    mir->regs = arena_grow(&compilation->arena, NULL, sizeof(mir->regs[0]), 0, &mir->reg_cap);
    mir->reg_count = 1;
    return mir;
}

struct mir_ref mir_reg(struct mir *mir, enum mir_class class, uint32_t words, uint32_t value)
{
    mir->regs = arena_grow(&mir->compilation->arena, mir->regs, sizeof(mir->regs[0]), mir->reg_count, &mir->reg_cap);
    mir->regs[mir->reg_count] =
        (struct mir_reg){ .class = (uint8_t) class, .words = (uint8_t)words, .value = value, .phys = MIR_NO_PHYS };
    return (struct mir_ref){ .reg = mir->reg_count++ };
}

struct mir_insn mir_insn(enum ppu_op op)
{
    const struct ppu_isa_row *row = ppu_isa_row(op);
    struct mir_insn insn = { .code = { .op = (uint8_t)op, .format = row->format } };

    if (!row->widths) {
        return insn; /* no operation has this number */
    }
    insn.code.wd = (uint8_t)(row->widths[0] - '0');
    insn.code.wa = (uint8_t)(row->widths[1] - '0');
    insn.code.wb = (uint8_t)(row->widths[2] - '0');
    if (row->format == PPU_FMT_DABC) {
        insn.code.wc = (uint8_t)(row->widths[3] - '0');
    }
    return insn;
}

struct mir_insn *mir_add(struct mir *mir, uint32_t block, const struct mir_insn *insn)
{
    struct mir_block *b = &mir->blocks[block];

    b->insns = arena_grow(&mir->compilation->arena, b->insns, sizeof(b->insns[0]), b->count, &b->cap);
    b->insns[b->count] = *insn;
    return &b->insns[b->count++];
}

/* ---- operands ---- */

struct gather {
    struct mir_operand *operands;
    uint32_t count;
};

static void use(struct gather *gather, struct mir_ref *ref, uint32_t words, bool pred)
{
    if (ref->reg != 0 && words != 0) {
        gather->operands[gather->count++] = (struct mir_operand){ ref, (uint8_t)words, pred, false, true };
    }
}

bool mir_is_store(uint32_t op)
{
    return op == PPU_OP_STG || op == PPU_OP_STS || op == PPU_OP_STL || op == PPU_OP_STU;
}

static bool has_pred_sources(uint32_t format)
{
    return format == PPU_FMT_PLOP || format == PPU_FMT_VOTE || format == PPU_FMT_BALLOT;
}

static bool has_pred_result(uint32_t format)
{
    return format == PPU_FMT_SETP || format == PPU_FMT_PLOP || format == PPU_FMT_VOTE;
}

uint32_t mir_operands(struct mir_insn *insn, struct mir_operand operands[MIR_MAX_OPERANDS])
{
    struct gather gather = { operands, 0 };
    uint32_t format = insn->code.format;
    bool preds = has_pred_sources(format);

    use(&gather, &insn->guard, 1, true);
    use(&gather, &insn->pred, 1, true);
    use(&gather, &insn->a, preds ? 1 : insn->code.wa, preds);
    if (!insn->code.immed) {
        use(&gather, &insn->b, preds ? 1 : insn->code.wb, preds);
    }
    use(&gather, &insn->c, insn->code.wc, false);
    if (mir_is_store(insn->code.op)) {
        use(&gather, &insn->d, insn->code.wd, false);
    } else if (insn->d.reg != 0) {
        bool pred = has_pred_result(format);
        gather.operands[gather.count++] =
            (struct mir_operand){ &insn->d, pred ? 1 : insn->code.wd, pred, true, insn->keeps };
    }
    return gather.count;
}

bool mir_is_of_lanes(uint32_t op)
{
    return op >= PPU_OP_SHFL && op <= PPU_OP_ACTIVE;
}

bool mir_reads_lane(uint32_t op)
{
    return op == PPU_OP_READFIRST || op == PPU_OP_READLANE;
}

bool mir_is_pure(const struct mir_insn *insn)
{
    if (mir_is_of_lanes(insn->code.op)) {
        return false; /* its result is that of the lanes that are active where it stands */
    }
    switch (insn->code.op) {
    case PPU_OP_LDG:
    case PPU_OP_LDS:
    case PPU_OP_LDL:
    case PPU_OP_LDU:
        return !insn->ordered;
    case PPU_OP_LDP:
        return true;
    default:
        return insn->d.reg != 0 && insn->code.format != PPU_FMT_MEM && insn->code.format != PPU_FMT_ATOM &&
               !(ppu_isa_row(insn->code.op)->flags & PPU_IF_B);
    }
}

bool mir_is_copy(const struct mir_insn *insn, uint32_t *words)
{
    if (insn->code.op == PPU_OP_POR) {
        *words = 1;
        return insn->a.reg == insn->b.reg && !insn->a.negated && !insn->b.negated && !insn->keeps;
    }
    *words = insn->code.wb;
    return (insn->code.op == PPU_OP_MOV || insn->code.op == PPU_OP_MOV64) && !insn->code.immed && !insn->keeps;
}

bool mir_is_idle(const struct mir_insn *insn)
{
    uint32_t words;
    const struct mir_ref *from = insn->code.op == PPU_OP_POR ? &insn->a : &insn->b;

    return mir_is_copy(insn, &words) && from->reg == insn->d.reg && from->sub == insn->d.sub;
}

bool mir_only_ends(const struct mir *mir, uint32_t block)
{
    const struct mir_block *b = &mir->blocks[block];

    while (b->count == 0 && b->end == MIR_JUMP && !flow_has_token(mir->flow, block) &&
           mir->flow->blocks[block].succ[0] > block) {
        block = mir->flow->blocks[block].succ[0];
        b = &mir->blocks[block];
    }
    return b->end == MIR_EXIT && b->count == 0;
}

struct mir_counts mir_counts_new(const struct mir *mir)
{
    return (struct mir_counts){ arena_new(&mir->compilation->arena, uint32_t, mir->reg_count),
                                arena_new(&mir->compilation->arena, uint32_t, mir->reg_count) };
}

void mir_count(struct mir *mir, struct mir_counts *counts)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];

    memset(counts->reads, 0, mir->reg_count * sizeof(counts->reads[0]));
    memset(counts->writes, 0, mir->reg_count * sizeof(counts->writes[0]));
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        struct mir_block *block = &mir->blocks[b];
        for (uint32_t i = 0; i < block->count; i++) {
            uint32_t count = mir_operands(&block->insns[i], operands);
            for (uint32_t o = 0; o < count; o++) {
                counts->reads[operands[o].ref->reg] += operands[o].reads;
                counts->writes[operands[o].ref->reg] += operands[o].def;
            }
        }
        if (block->end == MIR_BRANCH) {
            counts->reads[block->cond.reg]++;
        }
    }
}

/* ---- words ---- */

/* When they are allocated, words are those of the machine's registers, which several registers share. */
static void number_allocated(struct mir *mir)
{
    static const uint32_t first[MIR_CLASSES] = {
        [MIR_VECTOR] = 0, [MIR_SCALAR] = PPU_MAX_VREGS, [MIR_PRED] = PPU_MAX_VREGS + PPU_SREGS
    };

    mir->words = PPU_MAX_VREGS + PPU_SREGS + PPU_PREDS;
    for (uint32_t r = 1; r < mir->reg_count; r++) {
        const struct mir_reg *reg = &mir->regs[r];
        mir->regs[r].word = first[reg->class] + (reg->phys != MIR_NO_PHYS ? reg->phys : 0u);
    }
}

void mir_number_words(struct mir *mir)
{
    if (mir->allocated) {
        number_allocated(mir);
        return;
    }
    mir->words = 0;
    for (uint32_t r = 1; r < mir->reg_count; r++) {
        mir->regs[r].word = mir->words;
        mir->words += mir->regs[r].words;
    }
}

/* ---- text ---- */

static void print_ref(const struct mir *mir, const struct mir_ref *ref, uint32_t words, FILE *file)
{
    const struct mir_reg *reg = &mir->regs[ref->reg];

    fprintf(file, "%s%c", ref->negated ? "!" : "", "vsp"[reg->class]);
    if (reg->phys != MIR_NO_PHYS) {
        fprintf(file, "%u", (uint32_t)reg->phys + ref->sub);
    } else {
        fprintf(file, "%%%u", ref->reg);
        if (words != reg->words) {
            fprintf(file, ".%u", ref->sub);
        }
    }
    if (words > 1) {
        fprintf(file, ":%u", words);
    }
}

static void print_insn(const struct mir *mir, struct mir_insn *insn, FILE *file)
{
    struct mir_operand operands[MIR_MAX_OPERANDS];
    uint32_t n = mir_operands(insn, operands);

    fputs("    ", file);
    for (uint32_t o = 0; o < n; o++) {
        if (operands[o].def) {
            print_ref(mir, operands[o].ref, operands[o].words, file);
            fputs(insn->keeps ? " =? " : " = ", file);
        }
    }
    fprintf(file, "%s%s", ppu_isa_row(insn->code.op)->mnemonic, insn->code.scalar ? ".s" : "");
    for (uint32_t o = 0; o < n; o++) {
        if (!operands[o].def) {
            fputs(operands[o].ref == &insn->guard ? " @" : " ", file);
            print_ref(mir, operands[o].ref, operands[o].words, file);
        }
    }
    if (insn->code.indexed) {
        fprintf(file, " *%u", ppu_isa_bytes(&insn->code));
    }
    if (insn->code.immed || insn->code.format == PPU_FMT_MEM) {
        fprintf(file, " %d", insn->code.imm);
    }
    fputc('\n', file);
}

void mir_print(struct mir *mir, const char *pass)
{
    FILE *file = mir->compilation->dump;

    fprintf(file, "%s after %s\n", mir->name, pass);
    for (uint32_t b = 0; b < mir->flow->count; b++) {
        struct mir_block *block = &mir->blocks[b];
        fprintf(file, "  b%u:\n", b);
        for (uint32_t i = 0; i < block->count; i++) {
            print_insn(mir, &block->insns[i], file);
        }
        if (block->end == MIR_EXIT || block->end == MIR_RETURN) {
            fputs(block->end == MIR_EXIT ? "    exit\n" : "    return\n", file);
        } else if (block->end == MIR_JUMP) {
            fprintf(file, "    jump b%u\n", mir->flow->blocks[b].succ[0]);
        } else {
            fputs("    branch ", file);
            print_ref(mir, &block->cond, 1, file);
            fprintf(file, " b%u, b%u\n", mir->flow->blocks[b].succ[0], mir->flow->blocks[b].succ[1]);
        }
    }
}
