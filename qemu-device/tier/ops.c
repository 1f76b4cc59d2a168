/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "qemu-device/tier/ops.h"
#include "ppu/macros.h"
#include "qemu-device/core/engine/convert.h"
#include "qemu-device/core/tier/unit.h"

#include <stddef.h>

/* ---- functions of the kit ---- */

struct conversion {
    uint8_t from, to, round;
    struct tier_op op;
};

static const struct conversion conversions[] = {
#define CONVERSION(from, to, rounding, td, ta, expression) \
    { PPU_TYPE_##from, PPU_TYPE_##to, PPU_ROUND_##rounding, { "CVT_" #from "_" #to "_" #rounding, #td #ta "zz" } },
#include "qemu-device/core/engine/conversions.def"
#undef CONVERSION
};

static struct tier_op conversion_of(const struct ppu_insn *insn)
{
    const bool rounds = convert_rounds(insn->stype, insn->dtype);

    if (insn->sat && convert_saturates(insn->stype, insn->dtype)) {
        return (struct tier_op){ NULL, NULL };
    }
    for (size_t i = 0; i < PPU_ARRAY_SIZE(conversions); i++) {
        const struct conversion *const row = &conversions[i];
        if (row->from == insn->stype && row->to == insn->dtype && (!rounds || row->round == insn->round)) {
            return row->op;
        }
    }
    return (struct tier_op){ NULL, NULL };
}

static struct tier_op comparison_of(const struct ppu_insn *insn)
{
    static const struct tier_op integers[2][PPU_ICMP_COUNT] = {
        {
#define PPU_ICMP(name, text, number, expression) [number] = { "ICMP_" #name, "uuuz" },
#include "ppu/isa.def"
        },
        {
#define PPU_ICMP(name, text, number, expression) [number] = { "ICMP64_" #name, "uUUz" },
#include "ppu/isa.def"
        },
    };
    static const struct tier_op floats[2][PPU_FCMP_COUNT] = {
        {
#define PPU_FCMP(name, text, number, expression) [number] = { "FCMP_" #name, "uffz" },
#include "ppu/isa.def"
        },
        {
#define PPU_FCMP(name, text, number, expression) [number] = { "FCMP64_" #name, "uggz" },
#include "ppu/isa.def"
        },
    };

    return insn->op == PPU_OP_FSETP || insn->op == PPU_OP_DSETP ? floats[insn->op == PPU_OP_DSETP][insn->cmp]
                                                                : integers[insn->op == PPU_OP_ISETP64][insn->cmp];
}

/* The types of operands of so many words. */
#define TYPE_0 "z"
#define TYPE_1 "u"
#define TYPE_2 "U"

struct tier_op tier_op_of(const struct tier_insn *insn)
{
    static const struct tier_op ops[PPU_ISA_OPS] = {
#define ALU1(name, td, ta, e) [PPU_OP_##name] = { #name, #td #ta "zz" },
#define ALUB(name, td, tb, e) [PPU_OP_##name] = { #name, #td "z" #tb "z" },
#define ALU2(name, td, ta, tb, e) [PPU_OP_##name] = { #name, #td #ta #tb "z" },
#define ALU3(name, td, ta, tb, tc, e) [PPU_OP_##name] = { #name, #td #ta #tb #tc },
#define LONG1(name, td, ta, e) [PPU_OP_##name] = { #name, #td #ta "zz" },
#define LONG2(name, td, ta, tb, e) [PPU_OP_##name] = { #name, #td #ta #tb "z" },
#define DEAR2(name, td, ta, tb, e) [PPU_OP_##name] = { #name, #td #ta #tb "z" },
#define WIDE(name, wa, wb, wc, low, high) [PPU_OP_##name] = { #name, "U" TYPE_##wa TYPE_##wb TYPE_##wc },
#include "qemu-device/core/engine/alu.def"
    };

    if (insn->insn.format == PPU_FMT_SETP) {
        return comparison_of(&insn->insn);
    }
    return insn->insn.op == PPU_OP_CVT ? conversion_of(&insn->insn) : ops[insn->insn.op];
}

/* ---- kinds ---- */

static bool inside(uint32_t reg, uint32_t words, bool scalar)
{
    return !scalar || reg + words <= PPU_SREGS;
}

/* Scalar registers that it names are there. */
static bool scalars_fit(const struct ppu_insn *insn)
{
    return inside(insn->rd, insn->wd, insn->scalar) && inside(insn->ra, insn->wa, insn->a_scalar) &&
           inside(insn->rb, insn->wb, insn->b_scalar) && inside(insn->rc, insn->wc, insn->c_scalar);
}

static enum tier_kind memory_kind(const struct tier_unit *unit, const struct ppu_insn *insn)
{
    const bool load = insn->op == PPU_OP_LDG, store = insn->op == PPU_OP_STG;

    if (unit->modelled || insn->guard != 0 || !(load || store) || insn->wa != 2 || !insn->a_scalar) {
        return KIND_OTHER;
    }
    if (insn->scalar) {
        return load ? KIND_LOAD_ONE : KIND_OTHER;
    }
    return insn->width > PPU_WIDTH_B32 ? KIND_OTHER : load ? KIND_LOAD : KIND_STORE;
}

static enum tier_kind arithmetic_kind(const struct tier_insn *insn)
{
    const struct tier_op op = tier_op_of(insn);

    if (!op.name) {
        return KIND_OTHER;
    }
    if (!insn->insn.scalar) {
        return KIND_VECTOR;
    }
    return insn->insn.guard != 0 ? KIND_OTHER : insn->insn.format == PPU_FMT_SETP ? KIND_UNIFORM : KIND_SCALAR;
}

enum tier_kind tier_kind_of(const struct tier_unit *unit, const struct tier_insn *insn)
{
    if (!insn->known || !scalars_fit(&insn->insn)) {
        return KIND_LEAVE;
    }
    if (ppu_isa_row(insn->insn.op)->flags & PPU_IF_B) {
        return KIND_CONTROL;
    }
    switch (insn->insn.format) {
    case PPU_FMT_MEM:
        return memory_kind(unit, &insn->insn);
    case PPU_FMT_PLOP:
    case PPU_FMT_SEL:
        return insn->insn.scalar ? KIND_OTHER : KIND_VECTOR;
    case PPU_FMT_DB:
    case PPU_FMT_DA:
    case PPU_FMT_DAB:
    case PPU_FMT_DABC:
    case PPU_FMT_SETP:
    case PPU_FMT_CVT:
        return arithmetic_kind(insn);
    default:
        return KIND_OTHER;
    }
}

/* ---- straight units ---- */

static enum tier_kind special_kind(const struct ppu_insn *insn)
{
    switch (insn->ra) {
    case PPU_SR_TID:
    case PPU_SR_TID_X:
    case PPU_SR_TID_Y:
    case PPU_SR_TID_Z:
    case PPU_SR_LANE:
        return KIND_SPECIAL;
    case PPU_SR_CTA_X:
    case PPU_SR_CTA_Y:
    case PPU_SR_CTA_Z:
    case PPU_SR_NTID_X:
    case PPU_SR_NTID_Y:
    case PPU_SR_NTID_Z:
    case PPU_SR_NCTA_X:
    case PPU_SR_NCTA_Y:
    case PPU_SR_NCTA_Z:
    case PPU_SR_SIZE_X:
    case PPU_SR_SIZE_Y:
    case PPU_SR_SIZE_Z:
        return insn->scalar ? KIND_SPECIAL : KIND_LEAVE;
    default:
        return KIND_LEAVE;
    }
}

static enum tier_kind access_kind(const struct tier_unit *unit, const struct ppu_insn *insn)
{
    const bool load = insn->op == PPU_OP_LDG, store = insn->op == PPU_OP_STG;

    if (insn->op == PPU_OP_LDS || insn->op == PPU_OP_STS) {
        return unit->modelled || insn->scalar || insn->indexed || insn->wa == 2 ? KIND_LEAVE
               : insn->op == PPU_OP_LDS                                         ? KIND_LOAD
                                                                                : KIND_STORE;
    }
    if (insn->op == PPU_OP_LDP) {
        return insn->scalar && insn->guard == 0 && (insn->wa == 0 || insn->a_scalar) ? KIND_PARAM : KIND_LEAVE;
    }
    if (unit->modelled || !(load || store) || insn->wa != 2) {
        return KIND_LEAVE;
    }
    if (insn->scalar) {
        return load && insn->guard == 0 && insn->a_scalar ? KIND_LOAD_ONE : KIND_LEAVE;
    }
    return insn->a_scalar && !insn->lane_off ? KIND_LEAVE : load ? KIND_LOAD : KIND_STORE;
}

enum tier_kind tier_straight_kind_of(const struct tier_unit *unit, const struct tier_insn *insn)
{
    if (!insn->known || !scalars_fit(&insn->insn)) {
        return KIND_LEAVE;
    }
    if (insn->insn.op == PPU_OP_EXIT) {
        return KIND_EXIT;
    }
    if (insn->insn.format == PPU_FMT_SR) {
        return insn->insn.guard == 0 ? special_kind(&insn->insn) : KIND_LEAVE;
    }
    if (insn->insn.format == PPU_FMT_MEM) {
        return access_kind(unit, &insn->insn);
    }
    if (insn->insn.format == PPU_FMT_SEL && insn->insn.scalar) {
        return insn->insn.guard == 0 && insn->insn.a_scalar && (insn->insn.b_scalar || insn->insn.immed) ? KIND_CHOICE
                                                                                                         : KIND_LEAVE;
    }
    const enum tier_kind kind = tier_kind_of(unit, insn);
    return kind == KIND_VECTOR || kind == KIND_SCALAR || kind == KIND_UNIFORM ? kind : KIND_LEAVE;
}
