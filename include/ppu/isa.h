/* SPDX-License-Identifier: MIT */
/*
 * Defines the instruction format: an instruction has 64 bits and is little-endian. Decoder and encoder expand isa.def;
 * all others use them.
 *
 *   bits 0-8    opcode (isa.def); bit 8: scalar form, executed once for the warp when some lane would execute
 *   bits 9-13   guard: 0 always; else bit 13 set, bit 12 negates, bits 9-11 the predicate register
 *   bits 14-21  rd: destination; predicate (14-16) and comparison (17-20) in compares
 *   bits 22-29  ra, bit 30: ra is scalar
 *   bit 31      immediate form: bits 32-63 are the immediate, in the place of operand b or of the target; memory and
 *               atomics: the lane offset is an index
 *   bits 32-39  rb, bit 40: rb is scalar
 *   bits 41-48  rc, bit 49: rc is scalar
 *   bits 50-63  modifiers
 *
 * Which operands and modifiers an operation has, and in which bits they are, say the rows of PPU_FORMAT, PPU_OPERAND
 * and PPU_MODIFIER. Floats: 50 negate a, 51 absolute a, 52 and 53 the same for b, 54 negate c. Predicate operands:
 * number in 3 bits, then negation.
 *
 * Memory: 43 lane offset present, 44 no base, 45-63 signed byte offset. Base: per-lane register, or scalar register
 * with or without lane offset, or none (32-bit spaces only). A lane offset is 32 bits, unsigned; one that is an index
 * is signed and counts what the lane accesses, as many bytes as the width says. Atomics: bit 49 lane offset present; rd
 * = ra = 0 is a register like any other; rd is 0 when no old value is wanted.
 *
 * Pairs start at an even register, quads at a multiple of 4. Bits a format does not name are zero. Anything else is
 * ILLEGAL.
 */
#ifndef PPU_ISA_H
#define PPU_ISA_H

#include "ppu/fault.h"
#include "ppu/limits.h"

#define PPU_INSN_BYTES 8u
#define PPU_ISA_OPS 256u
#define PPU_BARRIERS 16u
#define PPU_SUBVECTOR_REGISTERS 0xffu /* of the immediate of SVENTER: shared registers (D4) */
#define PPU_SUBVECTOR_MAY 0x100u      /* the mode is left open (D8) */
#define PPU_SECTION_INSNS 32u         /* instructions between csenter and csleave, at most (B4) */

/* Flags of a row of isa.def. */
#define PPU_IF_S (1u << 0) /* scalar form exists */
#define PPU_IF_V (1u << 1) /* vector form does not */
#define PPU_IF_F (1u << 2) /* negate and absolute modifiers */
#define PPU_IF_X (1u << 3) /* immediates are floats */
#define PPU_IF_B (1u << 4) /* transfer of control */

enum ppu_op {
#define PPU_INSN(name, mnemonic, opcode, format, widths, flags, built, doc) PPU_OP_##name = (opcode),
#include "ppu/isa.def"
};
enum ppu_sr {
#define PPU_SR(name, text, number, of, most, doc) PPU_SR_##name = (number),
#include "ppu/isa.def"
};
enum ppu_icmp {
#define PPU_ICMP(name, text, number, expression) PPU_ICMP_##name = (number),
#include "ppu/isa.def"
    PPU_ICMP_COUNT
};
enum ppu_fcmp {
#define PPU_FCMP(name, text, number, expression) PPU_FCMP_##name = (number),
#include "ppu/isa.def"
    PPU_FCMP_COUNT
};
enum ppu_type {
#define PPU_TYPE(name, text, number, words) PPU_TYPE_##name = (number),
#include "ppu/isa.def"
    PPU_TYPE_COUNT
};
enum ppu_round {
#define PPU_ROUND(name, text, number, doc) PPU_ROUND_##name = (number),
#include "ppu/isa.def"
    PPU_ROUND_COUNT
};
enum ppu_width {
#define PPU_WIDTH(name, text, number, bytes, words) PPU_WIDTH_##name = (number),
#include "ppu/isa.def"
    PPU_WIDTH_COUNT
};
enum ppu_aop {
#define PPU_AOP(name, text, number, doc) PPU_AOP_##name = (number),
#include "ppu/isa.def"
    PPU_AOP_COUNT
};
enum ppu_order {
#define PPU_ORDER(name, text, number, doc) PPU_ORDER_##name = (number),
#include "ppu/isa.def"
    PPU_ORDER_COUNT
};
enum ppu_order_scope {
#define PPU_SCOPE_OF(name, text, number, doc) PPU_SCOPE_OF_##name = (number),
#include "ppu/isa.def"
    PPU_SCOPE_OF_COUNT
};
enum ppu_count {
#define PPU_COUNT(name, text, number) PPU_COUNT_##name = (number),
#include "ppu/isa.def"
    PPU_COUNT_COUNT
};
#define PPU_SR_COUNT (PPU_SR_LAST_Z + 1u)

/* Says what has a value of its own of a special register; all that is part of it has the same value. */
enum ppu_sr_of {
    PPU_SR_OF_THREAD,
    PPU_SR_OF_WARP,
    PPU_SR_OF_CTA,
    PPU_SR_OF_TASK,
};

enum ppu_format {
#define PPU_FORMAT(name, o1, o2, o3, o4, m1, m2, m3, m4) PPU_FMT_##name,
#include "ppu/isa.def"
    PPU_FMT_COUNT
};
enum ppu_operand {
#define PPU_OPERAND(name, text, mask, forms, fmods, doc) PPU_OPERAND_##name,
#include "ppu/isa.def"
    PPU_OPERAND_COUNT
};
enum ppu_modifier {
#define PPU_MODIFIER(name, member, at, bits, values, needed, doc) PPU_MODIFIER_##name,
#include "ppu/isa.def"
    PPU_MODIFIER_COUNT
};

/* Forms of an instruction: b is a register, or the immediate is there. */
#define PPU_FORM_REGISTER 1u
#define PPU_FORM_IMMEDIATE 2u
#define PPU_FORM_BOTH (PPU_FORM_REGISTER | PPU_FORM_IMMEDIATE)

/* Guard field of a decoded instruction: 0 or these. */
#define PPU_GUARD_ON 0x10u
#define PPU_GUARD_NEGATE 0x08u
#define PPU_GUARD_PRED 0x07u
#define PPU_PRED_NEGATE 0x08u /* of predicate operands */

/* Float modifiers (bits 50-54). */
#define PPU_FMOD_NEG_A 0x01u
#define PPU_FMOD_ABS_A 0x02u
#define PPU_FMOD_NEG_B 0x04u
#define PPU_FMOD_ABS_B 0x08u
#define PPU_FMOD_NEG_C 0x10u

/* An instruction, decoded. Fields its format does not have are zero. */
struct ppu_insn {
    uint8_t op;     /* enum ppu_op */
    uint8_t format; /* enum ppu_format */
    uint8_t guard;  /* PPU_GUARD_* */
    uint8_t scalar; /* scalar form */
    uint8_t immed;  /* imm stands for operand b, or is the target */
    uint8_t rd;     /* or predicate */
    uint8_t ra;     /* or predicate operand, or special register */
    uint8_t rb;     /* or predicate operand */
    uint8_t rc;
    uint8_t a_scalar;
    uint8_t b_scalar;
    uint8_t c_scalar;
    uint8_t wd; /* 32-bit registers of each operand, 0 when it is none */
    uint8_t wa;
    uint8_t wb;
    uint8_t wc;
    int32_t imm;
    uint8_t pred;     /* SEL: predicate operand */
    uint8_t cmp;      /* enum ppu_icmp or ppu_fcmp */
    uint8_t fmod;     /* PPU_FMOD_* */
    uint8_t width;    /* enum ppu_width; GATHER: count - 1 */
    uint8_t lane_off; /* memory: rb (atomics: rc) is a lane offset */
    uint8_t indexed;  /* memory: it is an index, signed, of accesses */
    uint8_t no_base;  /* memory: ra is not used */
    uint8_t aop;      /* enum ppu_aop */
    uint8_t wide;     /* atomics: 64 bits */
    uint8_t order;    /* enum ppu_order */
    uint8_t scope;    /* enum ppu_order_scope */
    uint8_t no_old;   /* atomics: no old value */
    uint8_t dtype;    /* enum ppu_type */
    uint8_t stype;
    uint8_t round; /* enum ppu_round */
    uint8_t sat;
};

/* A row of isa.def. */
struct ppu_isa_row {
    const char *mnemonic; /* NULL: no such opcode */
    const char *widths;
    uint8_t format;
    uint8_t flags;
    uint8_t built;
};

/* Row of an opcode (bits 0-7). */
static inline const struct ppu_isa_row *ppu_isa_row(uint32_t op)
{
    static const struct ppu_isa_row rows[PPU_ISA_OPS] = {
#define PPU_INSN(name, mnemonic, opcode, format, widths, flags, built, doc) \
    [opcode] = { mnemonic, widths, PPU_FMT_##format, flags, built },
#include "ppu/isa.def"
    };
    return &rows[op & (PPU_ISA_OPS - 1u)];
}

/* Tells what has a value of its own of a special register below PPU_SR_COUNT. */
static inline enum ppu_sr_of ppu_sr_of(uint32_t sr)
{
    static const uint8_t of[PPU_SR_COUNT] = {
#define PPU_SR(name, text, number, of, most, doc) [number] = PPU_SR_OF_##of,
#include "ppu/isa.def"
    };
    return (enum ppu_sr_of)of[sr];
}

/* Number of the bits [lo, lo + count) of a word. */
static inline uint32_t ppu_bits(uint64_t word, uint32_t lo, uint32_t count)
{
    return (uint32_t)(word >> lo) & (count == 32u ? 0xffffffffu : (1u << count) - 1u);
}

/* Formats whose bit 31 says that the lane offset is an index. */
static inline int ppu_isa_may_index(uint32_t format)
{
    return format == PPU_FMT_MEM || format == PPU_FMT_ATOM;
}

/* Operands and modifiers of a format: enum ppu_operand, enum ppu_modifier. Those behind the last are NONE. */
#define PPU_FORMAT_FIELDS 4u
struct ppu_isa_format {
    uint8_t operands[PPU_FORMAT_FIELDS];
    uint8_t modifiers[PPU_FORMAT_FIELDS];
};

static inline const struct ppu_isa_format *ppu_isa_format(uint32_t format)
{
    static const struct ppu_isa_format formats[PPU_FMT_COUNT] = {
#define PPU_FORMAT(name, o1, o2, o3, o4, m1, m2, m3, m4)                                \
    [PPU_FMT_##name] = {                                                                \
        { PPU_OPERAND_##o1, PPU_OPERAND_##o2, PPU_OPERAND_##o3, PPU_OPERAND_##o4 },     \
        { PPU_MODIFIER_##m1, PPU_MODIFIER_##m2, PPU_MODIFIER_##m3, PPU_MODIFIER_##m4 }, \
    },
#include "ppu/isa.def"
    };
    return &formats[format];
}

/* Bits [at, at + count) of a word, as a mask. */
#define PPU_MASK(at, count) (((1ull << (count)) - 1u) << (at))

struct ppu_isa_operand {
    uint64_t mask;
    uint8_t forms; /* PPU_FORM_*; 0: any */
    uint8_t fmods; /* PPU_FMOD_* */
};

static inline const struct ppu_isa_operand *ppu_isa_operand(uint32_t operand)
{
    static const struct ppu_isa_operand operands[PPU_OPERAND_COUNT] = {
#define PPU_OPERAND(name, text, mask, forms, fmods, doc) [PPU_OPERAND_##name] = { mask, forms, fmods },
#include "ppu/isa.def"
    };
    return &operands[operand];
}

struct ppu_isa_modifier {
    uint8_t member; /* offset in struct ppu_insn */
    uint8_t at;     /* first bit */
    uint8_t bits;
    uint8_t values;
    uint8_t needed;
};

static inline const struct ppu_isa_modifier *ppu_isa_modifier(uint32_t modifier)
{
    static const struct ppu_isa_modifier modifiers[PPU_MODIFIER_COUNT] = {
#define PPU_MODIFIER(name, member, at, bits, values, needed, doc) \
    [PPU_MODIFIER_##name] = { offsetof(struct ppu_insn, member), at, bits, values, needed },
#include "ppu/isa.def"
    };
    return &modifiers[modifier];
}

/* Describes what a word of an operation may look like. */
struct ppu_isa_shape {
    uint64_t bits[2]; /* those of 14-63 that it may set, apart from 31: register form, immediate form */
    uint32_t forms;   /* PPU_FORM_* */
    uint32_t fmods;   /* PPU_FMOD_* */
};

static inline struct ppu_isa_shape ppu_isa_shape(const struct ppu_isa_row *row)
{
    const struct ppu_isa_format *format = ppu_isa_format(row->format);
    struct ppu_isa_shape shape = { 0 };
    uint64_t mask = 0;

    for (uint32_t i = 0; i < PPU_FORMAT_FIELDS; i++) {
        const struct ppu_isa_operand *operand = ppu_isa_operand(format->operands[i]);
        const struct ppu_isa_modifier *modifier = ppu_isa_modifier(format->modifiers[i]);
        mask |= operand->mask | PPU_MASK(modifier->at, modifier->bits);
        shape.forms |= operand->forms;
        shape.fmods |= row->flags & PPU_IF_F ? operand->fmods : 0u;
    }
    shape.forms = shape.forms ? shape.forms : PPU_FORM_REGISTER;
    shape.bits[0] = (mask & PPU_MASK(14, 50)) | (uint64_t)shape.fmods << 50;
    shape.bits[1] = (mask & PPU_MASK(14, 17)) | PPU_MASK(32, 32);
    return shape;
}

/* Takes the modifiers of a format out of the word; false: one has a value that means nothing. */
static inline int ppu_isa_get_modifiers(uint64_t word, struct ppu_insn *insn)
{
    const struct ppu_isa_format *format = ppu_isa_format(insn->format);
    int good = 1;

    for (uint32_t i = 0; i < PPU_FORMAT_FIELDS && format->modifiers[i] != PPU_MODIFIER_NONE; i++) {
        const struct ppu_isa_modifier *modifier = ppu_isa_modifier(format->modifiers[i]);
        uint32_t value = ppu_bits(word, modifier->at, modifier->bits);
        ((uint8_t *)insn)[modifier->member] = (uint8_t)value;
        good &= value < modifier->values;
    }
    return good;
}

static inline uint64_t ppu_isa_put_modifiers(const struct ppu_insn *insn)
{
    const struct ppu_isa_format *format = ppu_isa_format(insn->format);
    uint64_t word = 0;

    for (uint32_t i = 0; i < PPU_FORMAT_FIELDS && format->modifiers[i] != PPU_MODIFIER_NONE; i++) {
        const struct ppu_isa_modifier *modifier = ppu_isa_modifier(format->modifiers[i]);
        word |= (uint64_t)((const uint8_t *)insn)[modifier->member] << modifier->at;
    }
    return word;
}

/* True when d, a, b, c of this width may start at this register. */
static inline int ppu_isa_reg_ok(uint32_t reg, uint32_t width, uint32_t scalar)
{
    return (reg & (width - 1u)) == 0 && (!scalar || reg + width <= PPU_SREGS);
}

static inline uint32_t ppu_type_words(uint32_t type)
{
    return type == PPU_TYPE_U64 || type == PPU_TYPE_S64 || type == PPU_TYPE_F64 ? 2u : 1u;
}

static inline uint32_t ppu_width_words(uint32_t width)
{
    return width == PPU_WIDTH_B64 ? 2u : width == PPU_WIDTH_B128 ? 4u : 1u;
}

static inline uint32_t ppu_width_bytes(uint32_t width)
{
    return width <= PPU_WIDTH_S8 ? 1u : width <= PPU_WIDTH_S16 ? 2u : 4u * ppu_width_words(width);
}

/* Bytes of a lane's access of an instruction of the formats MEM and ATOM. */
static inline uint32_t ppu_isa_bytes(const struct ppu_insn *insn)
{
    return insn->format == PPU_FMT_ATOM ? 4u << insn->wide : ppu_width_bytes(insn->width);
}

/* Returns what a lane's offset, or its index of accesses of `bytes`, adds to its address. */
static inline uint64_t ppu_isa_lane_offset(uint32_t indexed, uint32_t bytes, uint32_t word)
{
    return indexed ? (uint64_t)((int64_t)(int32_t)word * bytes) : word;
}

/* Takes what is a format's own out of the word; false: a field has a value that means nothing. */
static inline int ppu_isa_fields(uint64_t word, const struct ppu_isa_row *row, struct ppu_insn *insn)
{
    switch (row->format) {
    case PPU_FMT_SEL:
        insn->pred = (uint8_t)ppu_bits(word, 50, 4);
        return 1;
    case PPU_FMT_SR:
        return insn->ra < PPU_SR_COUNT;
    case PPU_FMT_SETP:
        insn->rd &= 7u;
        return (row->flags & PPU_IF_F) || insn->cmp < PPU_ICMP_COUNT;
    case PPU_FMT_AI:
        return insn->imm >= 0 && insn->imm <= 0xff;
    case PPU_FMT_CVT:
        insn->wd = (uint8_t)ppu_type_words(insn->dtype);
        insn->wa = (uint8_t)ppu_type_words(insn->stype);
        return 1;
    case PPU_FMT_MEM:
        insn->lane_off = ppu_bits(word, 43, 1);
        insn->no_base = ppu_bits(word, 44, 1);
        insn->imm = (int32_t)(word >> 32) >> 13;
        insn->indexed = ppu_bits(word, 31, 1);
        insn->wd = (uint8_t)ppu_width_words(insn->width);
        insn->wb = insn->lane_off;
        insn->b_scalar = 0;
        if (insn->no_base ? insn->ra || insn->a_scalar || insn->wa == 2 || insn->lane_off
                          : insn->lane_off && !insn->a_scalar) {
            return 0;
        }
        if (insn->no_base) {
            insn->wa = 0;
        }
        return (insn->lane_off || (!insn->rb && !insn->indexed)) &&
               (!insn->scalar || (!insn->lane_off && (insn->a_scalar || insn->no_base)));
    case PPU_FMT_GATHER:
        insn->imm = (int32_t)(word >> 32) >> 13;
        insn->b_scalar = 0;
        insn->wd = insn->wb = insn->width == 0 ? 1 : insn->width == 1 ? 2 : 4;
        insn->wa = 2;
        return insn->a_scalar;
    case PPU_FMT_ATOM:
        insn->lane_off = insn->c_scalar;
        insn->c_scalar = 0;
        insn->wc = insn->lane_off;
        insn->indexed = ppu_bits(word, 31, 1);
        insn->no_old = (uint8_t)ppu_bits(word, 60, 1);
        insn->wd = (uint8_t)(insn->no_old ? 0 : 1u << insn->wide);
        insn->wb = (uint8_t)((insn->aop == PPU_AOP_CAS ? 2u : 1u) << insn->wide);
        return (insn->lane_off ? insn->a_scalar : !insn->rc && !insn->indexed) && (!insn->no_old || !insn->rd);
    case PPU_FMT_IMM:
        return (insn->op != PPU_OP_BAR || (uint32_t)insn->imm < PPU_BARRIERS) &&
               (insn->op != PPU_OP_SVENTER || (uint32_t)insn->imm <= (PPU_SUBVECTOR_MAY | PPU_SUBVECTOR_REGISTERS));
    default:
        return 1;
    }
}

/* True when every register operand is aligned, in range, and scalar where the form wants it. */
static inline int ppu_isa_operands_ok(const struct ppu_isa_row *row, const struct ppu_insn *insn)
{
    int cross = row->format == PPU_FMT_LANE || row->format == PPU_FMT_FIRST;
    int memory = row->format == PPU_FMT_MEM;

    if (insn->wd && !ppu_isa_reg_ok(insn->rd, insn->wd, insn->scalar)) {
        return 0;
    }
    if (insn->wa &&
        (!ppu_isa_reg_ok(insn->ra, insn->wa, insn->a_scalar) || (insn->scalar && !insn->a_scalar && !cross))) {
        return 0;
    }
    if (insn->wb && !insn->immed &&
        (!ppu_isa_reg_ok(insn->rb, insn->wb, insn->b_scalar) || (insn->scalar && !insn->b_scalar && !memory))) {
        return 0;
    }
    return !insn->wc || (ppu_isa_reg_ok(insn->rc, insn->wc, insn->c_scalar) && (!insn->scalar || insn->c_scalar));
}

/*
 * Decodes a word. Returns 0, PPU_FAULT_ILLEGAL (then *insn means nothing) or PPU_FAULT_NOT_BUILT (*insn is filled in).
 */
static inline uint16_t ppu_isa_decode(uint64_t word, struct ppu_insn *insn)
{
    const struct ppu_isa_row *row = ppu_isa_row((uint32_t)word);
    uint32_t guard = ppu_bits(word, 9, 5);
    uint32_t immed = ppu_isa_may_index(row->format) ? 0 : ppu_bits(word, 31, 1);
    uint32_t scalar = ppu_bits(word, 8, 1);

    *insn = (struct ppu_insn){ 0 };
    if (!row->mnemonic || (guard && guard < PPU_GUARD_ON) ||
        (row->flags & (scalar ? PPU_IF_S : PPU_IF_V)) != (scalar ? PPU_IF_S : 0u)) {
        return PPU_FAULT_ILLEGAL;
    }
    struct ppu_isa_shape shape = ppu_isa_shape(row);
    if (!(shape.forms & (immed ? PPU_FORM_IMMEDIATE : PPU_FORM_REGISTER)) ||
        (word & ~(shape.bits[immed] | PPU_MASK(0, 14) | PPU_MASK(31, 1)))) {
        return PPU_FAULT_ILLEGAL;
    }
    insn->op = (uint8_t)word;
    insn->format = row->format;
    insn->guard = (uint8_t)guard;
    insn->scalar = (uint8_t)scalar;
    insn->immed = (uint8_t)immed;
    insn->rd = (uint8_t)ppu_bits(word, 14, 8);
    insn->ra = (uint8_t)ppu_bits(word, 22, 8);
    insn->a_scalar = (uint8_t)ppu_bits(word, 30, 1);
    insn->wd = (uint8_t)(row->widths[0] - '0');
    insn->wa = (uint8_t)(row->widths[1] - '0');
    insn->wb = (uint8_t)(row->widths[2] - '0');
    if (immed) {
        insn->imm = (int32_t)(word >> 32);
    } else {
        insn->fmod = (uint8_t)(ppu_bits(word, 50, 5) & shape.fmods);
        insn->rb = (uint8_t)ppu_bits(word, 32, 8);
        insn->b_scalar = (uint8_t)ppu_bits(word, 40, 1);
        insn->rc = (uint8_t)ppu_bits(word, 41, 8);
        insn->c_scalar = (uint8_t)ppu_bits(word, 49, 1);
        if (row->format == PPU_FMT_DABC) {
            insn->wc = (uint8_t)(row->widths[3] - '0');
        }
    }
    if (row->format == PPU_FMT_MEM || row->format == PPU_FMT_GATHER) {
        insn->rc = insn->c_scalar = 0;
    }
    if (!ppu_isa_get_modifiers(word, insn) || !ppu_isa_fields(word, row, insn) || !ppu_isa_operands_ok(row, insn)) {
        return PPU_FAULT_ILLEGAL;
    }
    return row->built ? 0 : PPU_FAULT_NOT_BUILT;
}

/* The word of a decoded instruction: the inverse of ppu_isa_decode(). Fields are cut to their size, not checked. */
static inline uint64_t ppu_isa_encode(const struct ppu_insn *insn)
{
    uint64_t word = insn->op | (uint64_t)insn->scalar << 8 | (uint64_t)insn->guard << 9 | (uint64_t)insn->rd << 14 |
                    (uint64_t)insn->ra << 22 | (uint64_t)insn->a_scalar << 30 |
                    (uint64_t)(insn->immed | insn->indexed) << 31 | ppu_isa_put_modifiers(insn);

    if (insn->immed) {
        return word | (uint64_t)(uint32_t)insn->imm << 32;
    }
    word |= (uint64_t)insn->rb << 32;
    switch (insn->format) {
    case PPU_FMT_MEM:
        word |= (uint64_t)insn->lane_off << 43 | (uint64_t)insn->no_base << 44;
        /* fall through */
    case PPU_FMT_GATHER:
        return word | (uint64_t)((uint32_t)insn->imm & 0x7ffffu) << 45;
    case PPU_FMT_ATOM:
        return word | (uint64_t)insn->b_scalar << 40 | (uint64_t)insn->rc << 41 | (uint64_t)insn->lane_off << 49 |
               (uint64_t)insn->no_old << 60;
    case PPU_FMT_FENCE:
    case PPU_FMT_CVT:
        return word;
    case PPU_FMT_SEL:
        word |= (uint64_t)insn->pred << 50;
        break;
    default:
        word |= (uint64_t)insn->fmod << 50;
        break;
    }
    return word | (uint64_t)insn->b_scalar << 40 | (uint64_t)insn->rc << 41 | (uint64_t)insn->c_scalar << 49;
}

/* One more than the highest vector register an instruction names; 0 when it names none. */
static inline uint32_t ppu_isa_vregs(const struct ppu_insn *insn)
{
    uint32_t top = 0;

    if (insn->wd && !insn->scalar) {
        top = insn->rd + insn->wd;
    }
    if (insn->wa && !insn->a_scalar && insn->ra + insn->wa > top) {
        top = insn->ra + insn->wa;
    }
    if (insn->wb && !insn->immed && !insn->b_scalar && insn->rb + insn->wb > top) {
        top = insn->rb + insn->wb;
    }
    if (insn->wc && !insn->c_scalar && insn->rc + insn->wc > top) {
        top = insn->rc + insn->wc;
    }
    return top;
}

#endif
