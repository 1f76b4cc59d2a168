/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/tier_code.h"

#include <string.h>

#include "ppu/macros.h"

#define PARAMS 8u
#define MOST_WORDS 320u
#define MOST_ITEMS 10u
#define BASES 8u    /* scalars that are addresses, and vector registers that are numbers of threads: */
#define NUMBERS 4u  /* instructions of bodies hardly ever write them */
#define SCALARS 16u /* that instructions of bodies name; those behind count loops */
#define FIRST_COUNTER 20u
#define MOST_DEPTH 2u
#define LOOP_PRED 7u
#define FIRST_PREDS 3u

struct code {
    struct fuzz_input *in;
    const struct ppu_tmd *tmd;
    uint64_t *word;
    uint32_t count;
    uint32_t depth;  /* of loops */
    bool loads_only; /* no stores: one would end a straight unit where the next load is */
    bool no_shared;  /* accesses of shared memory */
};

/* ---- words ---- */

static void emit_word(struct code *c, uint64_t word)
{
    if (c->count < MOST_WORDS) {
        c->word[c->count++] = word;
    }
}

static void emit(struct code *c, const struct ppu_insn *insn)
{
    emit_word(c, ppu_isa_encode(insn));
}

static struct ppu_insn insn_of(enum ppu_op op)
{
    const struct ppu_isa_row *const row = ppu_isa_row(op);

    return (struct ppu_insn){
        .op = (uint8_t)op,
        .format = row->format,
        .wd = (uint8_t)(row->widths[0] - '0'),
        .wa = (uint8_t)(row->widths[1] - '0'),
        .wb = (uint8_t)(row->widths[2] - '0'),
        .wc = (uint8_t)(row->format == PPU_FMT_DABC ? row->widths[3] - '0' : 0),
    };
}

/* A register that there is, mostly one of the first. */
static uint8_t source_of(struct code *c, uint32_t words, bool scalar)
{
    const uint32_t byte = fuzz_u8(c->in), all = scalar ? SCALARS : c->tmd->vregs;
    const uint32_t limit = byte & 0x80u ? all : PPU_MIN(all, 16u), step = words == 0 ? 1 : words;

    return (uint8_t)((byte & 0x7fu) % limit & ~(step - 1));
}

/* The same, and mostly none that addresses are made of. */
static uint8_t destination_of(struct code *c, uint32_t words, bool scalar)
{
    const uint32_t byte = fuzz_u8(c->in), all = scalar ? SCALARS : c->tmd->vregs, kept = scalar ? BASES : NUMBERS;
    const uint32_t limit = scalar ? all : PPU_MIN(all, byte & 0x80u ? all : 16u), step = words == 0 ? 1 : words;
    const uint32_t reg = (byte & 0x7fu) % limit & ~(step - 1);

    return (uint8_t)(reg >= kept || byte >= 0xf8u || limit <= kept ? reg : reg + kept);
}

/* Mostly one of those that lanes differ in from the begin on. */
static uint8_t pred_of(uint32_t byte)
{
    const uint32_t pred = byte & 0x10u ? byte % FIRST_PREDS : byte & PPU_GUARD_PRED;

    return (uint8_t)(PPU_GUARD_ON | (byte & PPU_GUARD_NEGATE) | pred);
}

/* Mostly none. */
static uint8_t guard_of(struct code *c)
{
    const uint32_t byte = fuzz_u8(c->in);

    return byte < 0xa0u ? 0 : pred_of(byte);
}

static int32_t immediate_of(struct code *c)
{
    const uint32_t byte = fuzz_u8(c->in);

    switch (byte / 64) {
    case 0:
        return (int32_t)(byte % 64);
    case 1:
        return (int32_t)(1u << byte % 32);
    case 2:
        return (int32_t)(byte % 64) - 64;
    default:
        return (int32_t)fuzz_u32(c->in);
    }
}

static void move(struct code *c, uint32_t reg, bool scalar, int32_t value)
{
    struct ppu_insn insn = insn_of(PPU_OP_MOV);

    insn.rd = (uint8_t)reg;
    insn.scalar = scalar;
    insn.immed = 1;
    insn.imm = value;
    emit(c, &insn);
}

/* ---- arithmetic ---- */

static void give_sources(struct code *c, struct ppu_insn *insn)
{
    const struct ppu_isa_shape shape = ppu_isa_shape(ppu_isa_row(insn->op));
    const uint32_t scalars = fuzz_u8(c->in);

    insn->a_scalar = insn->scalar || scalars % 4 == 0;
    insn->immed =
        (shape.forms & PPU_FORM_IMMEDIATE) != 0 && ((shape.forms & PPU_FORM_REGISTER) == 0 || (scalars & 0x60u) == 0);
    insn->b_scalar = !insn->immed && (insn->scalar || scalars / 4 % 4 == 0);
    insn->c_scalar = insn->wc != 0 && (insn->scalar || (scalars & 0x90u) == 0);
    insn->a_scalar = insn->wa != 0 && insn->a_scalar;
    insn->b_scalar = insn->wb != 0 && insn->b_scalar;
    insn->ra = insn->wa != 0 ? source_of(c, insn->wa, insn->a_scalar) : 0;
    if (insn->immed) {
        insn->imm = immediate_of(c);
    } else {
        insn->rb = insn->wb != 0 ? source_of(c, insn->wb, insn->b_scalar) : 0;
    }
    insn->rc = insn->wc != 0 ? source_of(c, insn->wc, insn->c_scalar) : 0;
    insn->fmod = insn->immed ? 0 : (uint8_t)(fuzz_u8(c->in) & shape.fmods & (scalars & 1u ? 0xffu : 0));
}

static void arithmetic(struct code *c, bool scalar)
{
    /* Those that addresses are made of, and that lanes of a row go through. */
    static const uint8_t usual[] = {
        PPU_OP_MOV,   PPU_OP_ADD,   PPU_OP_SUB,   PPU_OP_RSUB, PPU_OP_MUL,   PPU_OP_MAD,    PPU_OP_SHL,   PPU_OP_AND,
        PPU_OP_XOR,   PPU_OP_MULW,  PPU_OP_MULWU, PPU_OP_MADW, PPU_OP_MADWU, PPU_OP_MOV64,  PPU_OP_ADD64, PPU_OP_SUB64,
        PPU_OP_MUL64, PPU_OP_MAD64, PPU_OP_SHL64, PPU_OP_FADD, PPU_OP_FSUB,  PPU_OP_FMUL,   PPU_OP_FFMA,  PPU_OP_FMIN,
        PPU_OP_ISETP, PPU_OP_FSETP, PPU_OP_PAND,  PPU_OP_POR,  PPU_OP_SEL,   PPU_OP_RSUB64, PPU_OP_CVT,   PPU_OP_DADD,
    };
    const uint32_t which = fuzz_u8(c->in), any = which < 0xe0u ? 0 : fuzz_below(c->in, 0x80u);
    struct ppu_insn insn = insn_of(any != 0 && ppu_isa_row(any)->mnemonic ? any : usual[which % sizeof(usual)]);
    const struct ppu_isa_row *const row = ppu_isa_row(insn.op);

    insn.scalar = scalar && (row->flags & PPU_IF_S) != 0;
    insn.guard = insn.scalar && which % 8 != 0 ? 0 : guard_of(c);
    switch (insn.format) {
    case PPU_FMT_SETP:
        insn.cmp = (uint8_t)fuzz_below(c->in, row->flags & PPU_IF_F ? PPU_FCMP_COUNT : PPU_ICMP_COUNT);
        give_sources(c, &insn);
        insn.rd = (uint8_t)fuzz_below(c->in, LOOP_PRED);
        break;
    case PPU_FMT_PLOP:
        insn.rd = (uint8_t)fuzz_below(c->in, LOOP_PRED);
        insn.ra = (uint8_t)fuzz_below(c->in, 16);
        insn.rb = (uint8_t)fuzz_below(c->in, 16);
        break;
    case PPU_FMT_CVT:
        insn.dtype = (uint8_t)fuzz_below(c->in, PPU_TYPE_COUNT);
        insn.stype = (uint8_t)fuzz_below(c->in, PPU_TYPE_COUNT);
        insn.round = (uint8_t)fuzz_below(c->in, PPU_ROUND_COUNT);
        insn.sat = (uint8_t)fuzz_below(c->in, 2);
        insn.wd = (uint8_t)ppu_type_words(insn.dtype);
        insn.wa = (uint8_t)ppu_type_words(insn.stype);
        insn.a_scalar = insn.scalar;
        insn.ra = source_of(c, insn.wa, insn.scalar);
        insn.rd = destination_of(c, insn.wd, insn.scalar);
        break;
    case PPU_FMT_SEL:
        insn.pred = (uint8_t)fuzz_below(c->in, 16);
        /* fall through */
    case PPU_FMT_DB:
    case PPU_FMT_DA:
    case PPU_FMT_DAB:
    case PPU_FMT_DABC:
        give_sources(c, &insn);
        insn.rd = destination_of(c, insn.wd, insn.scalar);
        break;
    default:
        insn = insn_of(PPU_OP_NOP); /* of another kind */
        break;
    }
    emit(c, &insn);
}

static void special(struct code *c)
{
    static const uint8_t usual[] = { PPU_SR_TID, PPU_SR_TID_X, PPU_SR_TID_Y, PPU_SR_TID_Z, PPU_SR_LANE };
    struct ppu_insn insn = insn_of(PPU_OP_RDSR);
    const uint32_t byte = fuzz_u8(c->in);

    insn.scalar = byte & 0x80u ? 1 : 0;
    insn.ra = (uint8_t)(insn.scalar || byte >= 0x70u ? byte % PPU_SR_COUNT : usual[byte % sizeof(usual)]);
    insn.rd = destination_of(c, 1, insn.scalar);
    insn.guard = byte % 16 == 15 ? guard_of(c) : 0;
    emit(c, &insn);
}

/* ---- memory ---- */

static uint8_t width_of(struct code *c)
{
    static const uint8_t widths[] = {
        PPU_WIDTH_B32, PPU_WIDTH_B32, PPU_WIDTH_B32, PPU_WIDTH_B64, PPU_WIDTH_B128,
        PPU_WIDTH_U8,  PPU_WIDTH_S8,  PPU_WIDTH_U16, PPU_WIDTH_S16,
    };

    return widths[fuzz_below(c->in, sizeof(widths))];
}

/* Distances in accesses, mostly; now and then any. */
static int32_t distance_of(struct code *c, uint32_t bytes)
{
    const uint32_t byte = fuzz_u8(c->in);

    return byte < 0xfcu   ? ((int32_t)(byte % 64) - (byte < 16 ? 8 : 0)) * (int32_t)bytes
           : byte < 0xfeu ? (int32_t)byte - 0xfd
                          : (int32_t)(fuzz_u32(c->in) << 13) >> 13;
}

static struct ppu_insn access_of(struct code *c, bool store)
{
    struct ppu_insn insn = insn_of(store ? PPU_OP_STG : PPU_OP_LDG);

    insn.width = width_of(c);
    insn.wd = (uint8_t)ppu_width_words(insn.width);
    insn.wa = 2;
    insn.guard = guard_of(c);
    insn.imm = distance_of(c, ppu_width_bytes(insn.width));
    return insn;
}

/* One of s0, s2, s4 and s6, mostly of the first two. */
static uint8_t base_of(struct code *c)
{
    const uint32_t byte = fuzz_u8(c->in);

    return (uint8_t)(byte < 0xf4u ? byte & 2u : byte & 6u);
}

/* At a base and an offset of each lane: as the numbers of threads are, or any. */
static void access_row(struct code *c)
{
    const uint32_t how = fuzz_u8(c->in);
    struct ppu_insn insn = access_of(c, (how & 0x10u) && !c->loads_only);
    const bool bytes = ppu_width_bytes(insn.width) == 1;

    insn.a_scalar = insn.lane_off = insn.wb = 1;
    insn.indexed = how & 0x20u ? 1 : 0;
    insn.ra = base_of(c);
    insn.rb = (uint8_t)(how == 15      ? source_of(c, 1, false)
                        : insn.indexed ? how % 2 * 3
                        : bytes        ? how % NUMBERS
                                       : 1 + how % 2);
    insn.rd = insn.op == PPU_OP_STG ? source_of(c, insn.wd, false) : destination_of(c, insn.wd, false);
    emit(c, &insn);
}

/* To scalar registers, or of all lanes at one place. */
static void access_alike(struct code *c)
{
    struct ppu_insn insn = access_of(c, false);

    insn.scalar = fuzz_below(c->in, 2) ? 1 : 0;
    insn.a_scalar = 1;
    insn.ra = base_of(c);
    insn.rd = destination_of(c, insn.wd, insn.scalar);
    emit(c, &insn);
}

/* At an address of two words: a number that lanes have, times a size, and a base; or what happens to be there. */
static void access_address(struct code *c)
{
    const uint32_t how = fuzz_u8(c->in), scalar = SCALARS - 1, at = destination_of(c, 2, false);
    struct ppu_insn access = access_of(c, (how & 2u) && !c->loads_only), insn;

    if (how != 255) {
        move(c, scalar, true, (int32_t)(ppu_width_bytes(access.width) << how / 4 % 4) - (how == 254 ? 1 : 0));
        insn = insn_of(how & 1u ? PPU_OP_MADW : PPU_OP_MADWU);
        insn.rd = (uint8_t)at;
        insn.ra = (uint8_t)(how / 64 % NUMBERS);
        insn.rb = scalar;
        insn.rc = base_of(c);
        insn.b_scalar = insn.c_scalar = 1;
        emit(c, &insn);
    }
    access.ra = (uint8_t)at;
    access.rd = access.op == PPU_OP_STG ? source_of(c, access.wd, false) : destination_of(c, access.wd, false);
    emit(c, &access);
}

/* Bits of any register, as an offset within so many bytes. Returns the register that has them. */
static uint8_t masked_offset(struct code *c, uint32_t bytes)
{
    struct ppu_insn insn = insn_of(PPU_OP_AND);

    insn.rd = destination_of(c, 1, false);
    insn.ra = source_of(c, 1, false);
    insn.immed = 1;
    insn.imm = (int32_t)(bytes - (fuzz_u8(c->in) % 16 == 1 ? 1 : 4));
    emit(c, &insn);
    return insn.rd;
}

/* Each lane where bits of a register lead it. */
static void access_masked(struct code *c)
{
    const uint32_t how = fuzz_u8(c->in);
    struct ppu_insn insn = access_of(c, how % 8 == 7 && !c->loads_only);
    const uint8_t at = masked_offset(c, 0x40u << how / 16 % 8);

    insn.a_scalar = insn.lane_off = insn.wb = 1;
    insn.indexed = how % 8 < 2 ? 1 : 0;
    insn.ra = base_of(c);
    insn.rb = at;
    insn.rd = insn.op == PPU_OP_STG ? source_of(c, insn.wd, false) : destination_of(c, insn.wd, false);
    emit(c, &insn);
}

static void access_shared(struct code *c)
{
    const uint32_t how = fuzz_u8(c->in);
    struct ppu_insn insn = insn_of(how % 4 == 3 && !c->loads_only ? PPU_OP_STS : PPU_OP_LDS);

    insn.width = width_of(c);
    insn.wd = (uint8_t)ppu_width_words(insn.width);
    insn.wa = 1;
    insn.guard = guard_of(c);
    insn.imm = distance_of(c, ppu_width_bytes(insn.width));
    insn.ra = how % 16 == 0 ? source_of(c, 1, false) : masked_offset(c, 0x40u << how / 16 % 8);
    insn.rd = insn.op == PPU_OP_STS ? source_of(c, insn.wd, false) : destination_of(c, insn.wd, false);
    emit(c, &insn);
}

static void access_memory(struct code *c)
{
    switch (fuzz_below(c->in, 10)) {
    case 0:
        access_alike(c);
        break;
    case 8:
        access_masked(c);
        break;
    case 9:
        if (!c->no_shared) {
            access_shared(c);
            break;
        }
        /* fall through */
    case 1:
    case 2:
        access_address(c);
        break;
    default:
        access_row(c);
        break;
    }
}

static void parameter(struct code *c)
{
    struct ppu_insn insn = insn_of(PPU_OP_LDP);

    insn.width = width_of(c);
    insn.wd = (uint8_t)ppu_width_words(insn.width);
    insn.wa = 0;
    insn.no_base = 1;
    insn.scalar = 1;
    insn.imm = (int32_t)(fuzz_below(c->in, 13) * 4 + (fuzz_u8(c->in) == 1 ? 20 : 0));
    insn.rd = destination_of(c, insn.wd, true);
    emit(c, &insn);
}

/* ---- control ---- */

static void guarded(struct code *c, enum ppu_op op, uint8_t guard, int32_t distance)
{
    struct ppu_insn insn = insn_of(op);

    insn.guard = guard;
    insn.immed = insn.format == PPU_FMT_TARGET;
    insn.imm = distance;
    emit(c, &insn);
}

static uint8_t some_guard(struct code *c)
{
    return pred_of(fuzz_u8(c->in));
}

/* What is before the word goes there. */
static void reach(struct code *c, uint32_t from)
{
    if (from < MOST_WORDS) {
        c->word[from] = (uint32_t)c->word[from] | (uint64_t)(c->count - from) << 32;
    }
}

static void item(struct code *c)
{
    const uint32_t kind = fuzz_u8(c->in);

    switch (kind % 16) {
    case 15:
        special(c);
        break;
    case 14:
        if (c->depth != 0 && kind < 0x60u) {
            guarded(c, PPU_OP_YIELDN, kind < 0x10u ? some_guard(c) : 0, kind < 0x40u ? 1000 : kind / 16);
        } else {
            arithmetic(c, false);
        }
        break;
    case 1:
        parameter(c);
        break;
    case 2:
        if (kind < 0x10u) {
            emit_word(c, attacker_word(c->in, c->tmd));
        } else {
            guarded(c, PPU_OP_EXIT, some_guard(c), 0);
        }
        break;
    case 3:
    case 4:
        arithmetic(c, true);
        break;
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
        access_memory(c);
        break;
    default:
        arithmetic(c, false);
        break;
    }
}

static void body(struct code *c)
{
    for (uint32_t left = 2 + fuzz_below(c->in, MOST_ITEMS); left != 0; left--) {
        item(c);
    }
}

static void section(struct code *c);

/* p7 = counter != bound, of a scalar that counts up. */
static void count_up(struct code *c, uint32_t counter, uint32_t turns, enum ppu_icmp comparison)
{
    struct ppu_insn insn = insn_of(PPU_OP_ADD);

    insn.scalar = insn.immed = insn.a_scalar = 1;
    insn.rd = insn.ra = (uint8_t)counter;
    insn.imm = 1;
    emit(c, &insn);
    insn = insn_of(PPU_OP_ISETP);
    insn.scalar = insn.immed = insn.a_scalar = 1;
    insn.cmp = (uint8_t)comparison;
    insn.rd = LOOP_PRED;
    insn.ra = (uint8_t)counter;
    insn.imm = (int32_t)turns;
    emit(c, &insn);
}

static void counted_loop(struct code *c)
{
    const uint32_t counter = FIRST_COUNTER + c->depth, turns = 4 + fuzz_below(c->in, 60);

    move(c, counter, true, 0);
    const uint32_t begin = c->count;
    body(c);
    section(c);
    count_up(c, counter, turns, PPU_ICMP_NE);
    guarded(c, PPU_OP_BRA, PPU_GUARD_ON | LOOP_PRED, (int32_t)(begin - c->count));
}

/* Lanes leave it one by one, and all in the end. */
static void left_loop(struct code *c)
{
    const uint32_t counter = FIRST_COUNTER + c->depth, turns = 4 + fuzz_below(c->in, 60), entry = c->count;
    uint32_t ways[3], count = 0;

    guarded(c, PPU_OP_PBRK, 0, 0);
    move(c, counter, true, 0);
    const uint32_t begin = c->count;
    for (uint32_t leaves = 1 + fuzz_below(c->in, 2); leaves != 0; leaves--) {
        body(c);
        ways[count++] = c->count;
        guarded(c, PPU_OP_BRK, some_guard(c), 0);
    }
    count_up(c, counter, turns, PPU_ICMP_GE);
    ways[count++] = c->count;
    guarded(c, PPU_OP_BRK, PPU_GUARD_ON | LOOP_PRED, 0);
    guarded(c, PPU_OP_BRA, 0, (int32_t)(begin - c->count));
    reach(c, entry);
    while (count != 0) {
        reach(c, ways[--count]);
    }
}

/* Each lane has its own number of turns. */
static void lanes_loop(struct code *c)
{
    const uint32_t counter = c->tmd->vregs - 1u;
    struct ppu_insn insn = insn_of(PPU_OP_ADD);

    move(c, counter, false, 0);
    const uint32_t begin = c->count;
    body(c);
    insn.immed = 1;
    insn.rd = insn.ra = (uint8_t)counter;
    insn.imm = 1 + (int32_t)fuzz_below(c->in, 4);
    emit(c, &insn);
    insn = insn_of(PPU_OP_ISETP);
    insn.cmp = PPU_ICMP_LTU;
    insn.rd = LOOP_PRED;
    insn.ra = (uint8_t)counter;
    insn.rb = source_of(c, 1, false);
    insn.immed = fuzz_below(c->in, 2) ? 1 : 0;
    insn.rb = insn.immed ? 0 : insn.rb;
    insn.imm = insn.immed ? 20 : 0;
    emit(c, &insn);
    guarded(c, PPU_OP_BRA, PPU_GUARD_ON | LOOP_PRED, (int32_t)(begin - c->count));
}

/* Some lanes go one way, others another. */
static void fork_lanes(struct code *c)
{
    const uint32_t entry = c->count;

    guarded(c, PPU_OP_SSY, 0, 0);
    const uint32_t branch = c->count;
    guarded(c, PPU_OP_BRA, some_guard(c), 0);
    body(c);
    const uint32_t first = c->count;
    guarded(c, PPU_OP_SYNC, 0, 0);
    reach(c, branch);
    body(c);
    const uint32_t second = c->count;
    guarded(c, PPU_OP_SYNC, 0, 0);
    reach(c, entry);
    reach(c, first);
    reach(c, second);
}

static void section(struct code *c)
{
    if (c->depth == MOST_DEPTH) {
        return;
    }
    const bool only = c->loads_only;
    c->loads_only = only || fuzz_below(c->in, 2); /* loops without stores are written in a way of their own */
    c->depth++;
    switch (fuzz_below(c->in, 8)) {
    case 0:
    case 1:
    case 2:
        counted_loop(c);
        break;
    case 3:
        left_loop(c);
        break;
    case 4:
        lanes_loop(c);
        break;
    case 5:
        fork_lanes(c);
        break;
    default:
        body(c);
        break;
    }
    c->depth--;
    c->loads_only = only;
}

/* ---- the program ---- */

/* Where rows begin: in the middle of a page, near its ends, and where there is none. */
static void give_parameters(struct attacker *attacker)
{
    static const uint64_t bases[] = {
        DATA_VA,
        DATA_VA + 0x4000,
        DATA_VA + 0x8004,
        DATA_VA + PPU_PAGE_64K - 256,
        ODD_VA,
        ODD_VA + PPU_PAGE_64K - 512,
        CODE_VA + PPU_PAGE_64K + 0x8000,
        SYS_VA,
        0,
        UINT64_MAX - 255,
        DATA_VA - 0x1000,
        DATA_VA - UINT32_MAX - 1,
    };
    uint64_t params[PARAMS];

    for (uint32_t i = 0; i < PARAMS; i++) {
        const uint32_t byte = fuzz_u8(&attacker->in);
        const bool odd = i < 2 ? byte >= 0xfau : byte >= 0xa0u;
        params[i] = bases[odd ? byte % PPU_ARRAY_SIZE(bases) : byte % 3u] + (byte / 16 % 8) * 4u;
    }
    memcpy(attacker->board->vram + PARAMS_AT, params, sizeof(params));
    attacker->tmd.param_bytes =
        fuzz_below(&attacker->in, 16) == 1 ? 32 + fuzz_below(&attacker->in, 32) : sizeof(params);
}

/* p0 to p2: lanes up to one, threads from one on, and a quarter of the lanes. */
static void first_preds(struct code *c)
{
    static const uint8_t comparisons[FIRST_PREDS] = { PPU_ICMP_LTU, PPU_ICMP_GEU, PPU_ICMP_EQ };
    static const uint8_t numbers[FIRST_PREDS] = { 3, 0, NUMBERS };
    struct ppu_insn insn = insn_of(PPU_OP_AND);

    insn.rd = numbers[2];
    insn.ra = numbers[0];
    insn.immed = 1;
    insn.imm = 3;
    emit(c, &insn);
    for (uint32_t pred = 0; pred < FIRST_PREDS; pred++) {
        insn = insn_of(PPU_OP_ISETP);
        insn.rd = (uint8_t)pred;
        insn.ra = numbers[pred];
        insn.cmp = comparisons[pred];
        insn.immed = 1;
        insn.imm = pred == 2 ? 1 : (int32_t)fuzz_below(c->in, 2 * PPU_MAX_WAVE);
        emit(c, &insn);
    }
}

/* What each warp does once: it loads, it computes, it stores. */
static void straight(struct code *c)
{
    c->loads_only = true;
    for (uint32_t bodies = 1 + fuzz_below(c->in, 3); bodies != 0; bodies--) {
        body(c);
    }
    c->loads_only = false;
    for (uint32_t stores = fuzz_below(c->in, 5); stores != 0; stores--) {
        access_memory(c);
    }
}

void tier_code_make(struct attacker *attacker, bool is_straight)
{
    struct code c = { .in = &attacker->in, .tmd = &attacker->tmd, .word = attacker_code(attacker, 0) };
    const uint32_t any = fuzz_below(&attacker->in, 4), sections = is_straight ? 0 : any;

    c.no_shared = is_straight;

    give_parameters(attacker);
    attacker_prologue(attacker);
    c.count = attacker->words;
    first_preds(&c);
    if (sections == 0) {
        straight(&c);
    }
    for (uint32_t left = sections; left != 0; left--) {
        section(&c);
    }
    c.word[c.count++] = PPU_OP_EXIT;
    attacker->words = c.count;
    memcpy(attacker_code(attacker, 1), c.word, c.count * PPU_INSN_BYTES);
}
