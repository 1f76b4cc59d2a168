/* SPDX-License-Identifier: MIT */
/* Prints one instruction as assembly. */
#include "tools/asm/internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct writer {
    char *text;
    size_t len;
};

static void put_text(struct writer *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_text(struct writer *w, const char *format, ...)
{
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(w->text + w->len, PPUASM_TEXT_BYTES - w->len, format, args);
    va_end(args);
    w->len += (size_t)n;
    if (w->len >= PPUASM_TEXT_BYTES) {
        w->len = PPUASM_TEXT_BYTES - 1;
    }
}

static void put_reg(struct writer *w, uint32_t reg, uint32_t scalar)
{
    put_text(w, "%c%u", scalar ? 's' : 'v', reg);
}

static void put_source(struct writer *w, uint32_t reg, uint32_t scalar, bool negate, bool absolute)
{
    put_text(w, "%s%s%c%u%s", negate ? "-" : "", absolute ? "|" : "", scalar ? 's' : 'v', reg, absolute ? "|" : "");
}

static void put_pred(struct writer *w, uint32_t pred)
{
    put_text(w, "%sp%u", pred & PPU_PRED_NEGATE ? "!" : "", pred & PPU_GUARD_PRED);
}

static void put_a(struct writer *w, const struct ppu_insn *insn)
{
    put_source(w, insn->ra, insn->a_scalar, insn->fmod & PPU_FMOD_NEG_A, insn->fmod & PPU_FMOD_ABS_A);
}

static void put_b(struct writer *w, const struct ppu_insn *insn, const struct ppu_isa_row *row)
{
    if (!insn->immed) {
        put_source(w, insn->rb, insn->b_scalar, insn->fmod & PPU_FMOD_NEG_B, insn->fmod & PPU_FMOD_ABS_B);
    } else if (row->flags & PPU_IF_X) {
        put_text(w, "0x%08" PRIx32, (uint32_t)insn->imm);
    } else {
        put_text(w, "%" PRId32, insn->imm);
    }
}

static void put_address(struct writer *w, const struct ppu_insn *insn)
{
    put_text(w, "[");
    if (insn->no_base) {
        put_text(w, "%" PRId32 "]", insn->imm);
        return;
    }
    put_reg(w, insn->ra, insn->a_scalar);
    if (insn->lane_off || insn->format == PPU_FMT_GATHER) {
        put_text(w, "+v%u", insn->format == PPU_FMT_ATOM ? insn->rc : insn->rb);
    }
    if (insn->indexed) {
        put_text(w, "*%u", ppu_isa_bytes(insn));
    }
    if (insn->imm) {
        put_text(w, "%+" PRId32, insn->imm);
    }
    put_text(w, "]");
}

static void put_order(struct writer *w, const struct ppu_insn *insn)
{
    if (insn->order) {
        put_text(w, ".%s", names_text(NAMES_ORDER, insn->order));
    }
    if (insn->scope) {
        put_text(w, ".%s", names_text(NAMES_SCOPE, insn->scope));
    }
}

static void put_modifiers(struct writer *w, const struct ppu_insn *insn, const struct ppu_isa_row *row)
{
    switch (insn->format) {
    case PPU_FMT_SETP:
        put_text(w, ".%s", names_text(row->flags & PPU_IF_F ? NAMES_FCMP : NAMES_ICMP, insn->cmp));
        /* fall through */
    case PPU_FMT_AB:
    case PPU_FMT_B:
        put_text(w, "%s", insn->scalar ? ".s" : "");
        return;
    case PPU_FMT_CVT:
        put_text(w, ".%s.%s", names_text(NAMES_TYPE, insn->dtype), names_text(NAMES_TYPE, insn->stype));
        if (insn->round) {
            put_text(w, ".%s", names_text(NAMES_ROUND, insn->round));
        }
        put_text(w, "%s", insn->sat ? ".sat" : "");
        return;
    case PPU_FMT_MEM:
        put_text(w, ".%s", names_text(NAMES_WIDTH, insn->width));
        return;
    case PPU_FMT_GATHER:
        put_text(w, ".n%u", insn->width + 1u);
        return;
    case PPU_FMT_ATOM:
        put_text(w, ".%s%s", names_text(NAMES_AOP, insn->aop), insn->wide ? ".b64" : "");
        put_order(w, insn);
        return;
    case PPU_FMT_FENCE:
        put_order(w, insn);
        return;
    default:
        return;
    }
}

static void put_operands(struct writer *w, const struct ppu_insn *insn, const struct ppu_isa_row *row)
{
    switch (insn->format) {
    case PPU_FMT_D:
        put_reg(w, insn->rd, insn->scalar);
        return;
    case PPU_FMT_DB:
        put_reg(w, insn->rd, insn->scalar);
        put_text(w, ", ");
        put_b(w, insn, row);
        return;
    case PPU_FMT_DA:
    case PPU_FMT_CVT:
    case PPU_FMT_FIRST:
        put_reg(w, insn->rd, insn->scalar);
        put_text(w, ", ");
        put_a(w, insn);
        return;
    case PPU_FMT_DAB:
    case PPU_FMT_LANE:
    case PPU_FMT_DABC:
    case PPU_FMT_SEL:
        put_reg(w, insn->rd, insn->scalar);
        put_text(w, ", ");
        put_a(w, insn);
        put_text(w, ", ");
        put_b(w, insn, row);
        if (insn->format == PPU_FMT_SEL) {
            put_text(w, ", ");
            put_pred(w, insn->pred);
        } else if (insn->format == PPU_FMT_DABC) {
            put_text(w, ", ");
            put_source(w, insn->rc, insn->c_scalar, insn->fmod & PPU_FMOD_NEG_C, false);
        }
        return;
    case PPU_FMT_SR:
        put_reg(w, insn->rd, insn->scalar);
        put_text(w, ", %s", names_text(NAMES_SR, insn->ra));
        return;
    case PPU_FMT_SETP:
        put_text(w, "p%u, ", insn->rd);
        put_a(w, insn);
        put_text(w, ", ");
        put_b(w, insn, row);
        return;
    case PPU_FMT_PLOP:
    case PPU_FMT_VOTE:
        put_text(w, "p%u, ", insn->rd);
        put_pred(w, insn->ra);
        if (insn->format == PPU_FMT_PLOP) {
            put_text(w, ", ");
            put_pred(w, insn->rb);
        }
        return;
    case PPU_FMT_BALLOT:
        put_reg(w, insn->rd, insn->scalar);
        put_text(w, ", ");
        put_pred(w, insn->ra);
        return;
    case PPU_FMT_AI:
        put_a(w, insn);
        put_text(w, ", %" PRId32, insn->imm);
        return;
    case PPU_FMT_MEM:
    case PPU_FMT_GATHER:
    case PPU_FMT_ATOM:
        if (insn->no_old) {
            put_text(w, "_");
        } else {
            put_reg(w, insn->rd, insn->scalar);
        }
        put_text(w, ", ");
        put_address(w, insn);
        if (insn->format == PPU_FMT_ATOM) {
            put_text(w, ", ");
            put_reg(w, insn->rb, insn->b_scalar);
        }
        return;
    case PPU_FMT_IMM:
        put_text(w, "%" PRId32, insn->imm);
        return;
    case PPU_FMT_A:
        put_a(w, insn);
        return;
    case PPU_FMT_B:
        put_b(w, insn, row);
        return;
    case PPU_FMT_AB:
        put_text(w, "%s%c%u%s, ", insn->wa == 2 ? "[" : "", insn->a_scalar ? 's' : 'v', insn->ra,
                 insn->wa == 2 ? "]" : "");
        put_b(w, insn, row);
        return;
    case PPU_FMT_ABSOLUTE:
        put_text(w, "%" PRIu32, (uint32_t)insn->imm);
        return;
    case PPU_FMT_CALL:
        put_reg(w, insn->rd, insn->scalar);
        put_text(w, ", .%+" PRId32, insn->imm);
        return;
    case PPU_FMT_TARGET:
        put_text(w, ".%+" PRId32, insn->imm);
        return;
    default:
        return;
    }
}

void ppuasm_disassemble(uint64_t word, char *text)
{
    struct writer w = { text, 0 };
    struct ppu_insn insn;
    const struct ppu_isa_row *row = ppu_isa_row((uint32_t)word);

    text[0] = 0;
    if (ppu_isa_decode(word, &insn) == PPU_FAULT_ILLEGAL) {
        put_text(&w, ".word 0x%016" PRIx64, word);
        return;
    }
    if (insn.guard) {
        put_text(&w, "@");
        put_pred(&w, insn.guard);
        put_text(&w, " ");
    }
    put_text(&w, "%s", row->mnemonic);
    put_modifiers(&w, &insn, row);
    if (insn.format != PPU_FMT_NONE && insn.format != PPU_FMT_FENCE) {
        put_text(&w, " ");
    }
    put_operands(&w, &insn, row);
}
