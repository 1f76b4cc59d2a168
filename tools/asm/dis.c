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

    va_start(args, format);
    int n = vsnprintf(w->text + w->len, PPUASM_TEXT_BYTES - w->len, format, args);
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

static void put_lane_offset(struct writer *w, const struct ppu_insn *insn, uint32_t reg)
{
    put_text(w, "+v%u", reg);
    if (insn->indexed) {
        put_text(w, "*%u", ppu_isa_bytes(insn));
    }
}

static void put_address(struct writer *w, const struct ppu_insn *insn, enum ppu_operand operand)
{
    put_text(w, "[");
    if (insn->no_base) {
        put_text(w, "%" PRId32 "]", insn->imm);
        return;
    }
    put_reg(w, insn->ra, insn->a_scalar);
    if (insn->lane_off || operand == PPU_OPERAND_WORDS) {
        put_lane_offset(w, insn, operand == PPU_OPERAND_PLACE ? insn->rc : insn->rb);
    }
    if (insn->imm && operand != PPU_OPERAND_POINTER) {
        put_text(w, "%+" PRId32, insn->imm);
    }
    put_text(w, "]");
}

static void put_modifiers(struct writer *w, const struct ppu_insn *insn, const struct ppu_isa_row *row)
{
    const struct ppu_isa_format *format = ppu_isa_format(insn->format);

    for (uint32_t i = 0; i < PPU_FORMAT_FIELDS && format->modifiers[i] != PPU_MODIFIER_NONE; i++) {
        const struct ppu_isa_modifier *modifier = ppu_isa_modifier(format->modifiers[i]);
        uint32_t value = ((const uint8_t *)insn)[modifier->member];
        if (modifier->needed || value) {
            put_text(w, ".%s", names_text(names_of_modifier(row, format->modifiers[i]), value));
        }
    }
}

static void put_operand(struct writer *w, const struct ppu_insn *insn, const struct ppu_isa_row *row,
                        enum ppu_operand operand)
{
    switch (operand) {
    case PPU_OPERAND_D:
        put_reg(w, insn->rd, insn->scalar);
        return;
    case PPU_OPERAND_OLD:
        if (insn->no_old) {
            put_text(w, "_");
        } else {
            put_reg(w, insn->rd, insn->scalar);
        }
        return;
    case PPU_OPERAND_A:
    case PPU_OPERAND_VECTOR:
        put_a(w, insn);
        return;
    case PPU_OPERAND_B:
    case PPU_OPERAND_VALUE:
    case PPU_OPERAND_IMMEDIATE:
        put_b(w, insn, row);
        return;
    case PPU_OPERAND_C:
        put_source(w, insn->rc, insn->c_scalar, insn->fmod & PPU_FMOD_NEG_C, false);
        return;
    case PPU_OPERAND_PD:
        put_pred(w, insn->rd);
        return;
    case PPU_OPERAND_PA:
        put_pred(w, insn->ra);
        return;
    case PPU_OPERAND_PB:
        put_pred(w, insn->rb);
        return;
    case PPU_OPERAND_PSEL:
        put_pred(w, insn->pred);
        return;
    case PPU_OPERAND_SPECIAL:
        put_text(w, "%s", names_text(NAMES_SR, insn->ra));
        return;
    case PPU_OPERAND_ADDRESS:
    case PPU_OPERAND_WORDS:
    case PPU_OPERAND_PLACE:
    case PPU_OPERAND_POINTER:
        put_address(w, insn, operand);
        return;
    case PPU_OPERAND_TARGET:
        put_text(w, ".%+" PRId32, insn->imm);
        return;
    case PPU_OPERAND_ABSOLUTE:
        put_text(w, "%" PRIu32, (uint32_t)insn->imm);
        return;
    case PPU_OPERAND_NONE:
    case PPU_OPERAND_COUNT:
        return;
    }
}

static void put_operands(struct writer *w, const struct ppu_insn *insn, const struct ppu_isa_row *row)
{
    const struct ppu_isa_format *format = ppu_isa_format(insn->format);

    for (uint32_t i = 0; i < PPU_FORMAT_FIELDS && format->operands[i] != PPU_OPERAND_NONE; i++) {
        put_text(w, i == 0 ? " " : ", ");
        put_operand(w, insn, row, format->operands[i]);
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
    put_operands(&w, &insn, row);
}
