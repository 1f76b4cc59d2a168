/* SPDX-License-Identifier: MIT */
/*
 * Registers: v0 thread, v1 and v15 its places in global memory, v3 its place in shared memory, v4 its neighbour's;
 * v2, v5, v7 scratch; v12 to v14 return addresses; v16 to v31 random values; v32 to v37 unified addresses; v38 and v39
 * 0 and 1, for locks; v40 to v43 offsets; v44 on loop counters; v60 on where long jumps go. s0 to s7 addresses, s8 to
 * s23 random values. p0 to p5 random, p6 and p7 for branches.
 *
 * In a graph: v44 steps left, v45 pushes left, v60 to v63 addresses of blocks, or of what follows a call.
 */
#include "tests/engine/generate.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ppu/isa.h"
#include "ppu/macros.h"
#include "tests/device-core/board.h"
#include "tools/asm/ppuasm.h"

#define PRIVATE_BYTES 64u
#define RESULT_BYTES 80u
#define RESULTS_AT 0x8000u
#define COUNTERS_AT 0x10000u
#define TABLE_AT 0x11000u
#define TABLE_MASK 0x3fcu
#define SLOT_BYTES 16u
#define FUNCTIONS 3u
#define DEPTH_MAX 3u
#define COUNTER_REG 44u
#define JUMP_REG 60u
#define LOCK_BYTES 16u
#define GRAPH_STEPS 24u
#define GRAPH_PUSHES 5u
#define GRAPH_ADDRESSES 4u
#define RANDOM_V 16u
#define RANDOM_S 8u
#define RANDOM_REGS 16u
#define SOURCE_V 44u
#define SOURCE_S 24u
#define RANDOM_P 6u
#define ITEMS_MAX 90u

struct gen {
    uint64_t *random;
    char *text;
    size_t len;
    enum gen_style style;
    bool ended;      /* some lanes may have */
    bool region;     /* inside what an exit token covers: whatever may drop it is left out */
    bool parts;      /* the program has segments for parts of warps, and this may be inside of one */
    bool segment;    /* it is */
    uint32_t meets;  /* depth at which all lanes meet: of the warp, or of the part that runs */
    uint32_t shared; /* registers that parts share here */
    uint32_t jump;   /* counter and address of the long jump that may be done here are those of this number; 0: none */
    uint32_t cta_threads;
    uint32_t labels;
    uint32_t blocks; /* of a graph */
    uint32_t items;
    uint32_t function; /* whose body is made; 0: the kernel's */
};

static uint32_t below(struct gen *g, uint32_t limit)
{
    return random_below(g->random, limit);
}

static void emit(struct gen *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void emit(struct gen *g, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    g->len += (size_t)vsnprintf(g->text + g->len, GEN_TEXT_BYTES - g->len, format, args);
    va_end(args);
    assert_true(g->len < GEN_TEXT_BYTES);
}

/* A shared register, or as many as that; 0: none now. They have values from the segment's begin on. */
static uint32_t shared_reg(struct gen *g, uint32_t words)
{
    return g->shared >= words && below(g, 3) == 0 ? GEN_VREGS + (below(g, g->shared - words + 1) & ~(words - 1)) : 0;
}

static uint32_t dest(struct gen *g, uint32_t words)
{
    uint32_t shared = shared_reg(g, words);

    if (shared != 0) {
        return shared;
    }
    return RANDOM_V + (below(g, RANDOM_REGS) & ~(words - 1));
}

static void emit_guard(struct gen *g)
{
    if (below(g, 3) == 0) {
        emit(g, "@%sp%u ", below(g, 2) ? "!" : "", below(g, RANDOM_P));
    }
}

/* ---- arithmetic, predicates, other lanes ---- */

static bool together(const struct ppu_isa_row *row, uint32_t op)
{
    return (row->flags & PPU_IF_V) || row->format == PPU_FMT_VOTE || op == PPU_OP_SHFL || op == PPU_OP_SHFLUP ||
           op == PPU_OP_SHFLDN || op == PPU_OP_SHFLX || op == PPU_OP_BALLOT || op == PPU_OP_ACTIVE;
}

static bool usable(uint32_t op, bool joined)
{
    const struct ppu_isa_row *row = ppu_isa_row(op);

    return row->mnemonic && row->built && row->format >= PPU_FMT_D && row->format <= PPU_FMT_FIRST &&
           op != PPU_OP_RDTIME && (joined || !together(row, op));
}

/* `cross`: it is read in other lanes. A lane that has ended has nothing in registers that a segment shares. */
static void choose_reg(struct gen *g, uint32_t words, bool scalar, bool cross, uint8_t *reg)
{
    uint32_t shared = scalar || (cross && g->ended) ? 0 : shared_reg(g, words);

    if (shared != 0) {
        *reg = (uint8_t)shared;
        return;
    }
    *reg = (uint8_t)(below(g, scalar ? SOURCE_S : SOURCE_V) & ~(words - 1));
}

static int32_t choose_immediate(struct gen *g)
{
    static const int32_t corners[] = { 0, 1, -1, 31, 32, 33, 63, 64, 0x7fffffff, INT32_MIN, 0x3f800000, 0x7f800000 };

    return below(g, 2) ? corners[below(g, PPU_ARRAY_SIZE(corners))] : (int32_t)random_next(g->random);
}

static void choose_modifiers(struct gen *g, const struct ppu_isa_row *row, struct ppu_insn *insn)
{
    insn->pred = (uint8_t)below(g, 16);
    insn->cmp = (uint8_t)below(g, row->flags & PPU_IF_F ? (uint32_t)PPU_FCMP_COUNT : (uint32_t)PPU_ICMP_COUNT);
    insn->fmod = (uint8_t)(insn->immed ? 0 : random_next(g->random) & ppu_isa_shape(row).fmods);
    insn->dtype = (uint8_t)below(g, PPU_TYPE_COUNT);
    insn->stype = (uint8_t)below(g, PPU_TYPE_COUNT);
    insn->round = (uint8_t)below(g, PPU_ROUND_COUNT);
    insn->sat = (uint8_t)below(g, 2);
    insn->guard = (uint8_t)(below(g, 2) ? 0 : PPU_GUARD_ON | below(g, 2) << 3 | below(g, RANDOM_P));
}

/* First of as many registers as the largest wave needs. */
static uint8_t set_of_lanes(struct gen *g, const struct ppu_insn *insn)
{
    const uint32_t words = PPU_MAX_WAVE / PPU_LANES;

    return (uint8_t)(insn->scalar ? RANDOM_S + below(g, RANDOM_REGS - words + 1) : dest(g, words));
}

/* Where the format's fields are predicates or numbers. */
static void choose_fields(struct gen *g, struct ppu_insn *insn)
{
    switch (insn->format) {
    case PPU_FMT_SETP:
    case PPU_FMT_PLOP:
    case PPU_FMT_VOTE:
        insn->rd = (uint8_t)below(g, RANDOM_P);
        break;
    case PPU_FMT_BALLOT:
        insn->rd = set_of_lanes(g, insn);
        break;
    case PPU_FMT_AI:
        insn->imm = (int32_t)below(g, 1u << RANDOM_P);
        break;
    case PPU_FMT_SR:
        /* The place to be saved in is another one on each run. */
        do {
            insn->ra = (uint8_t)below(g, PPU_SR_COUNT);
        } while (insn->ra == PPU_SR_PLACE);
        break;
    default:
        break;
    }
    if (insn->format == PPU_FMT_PLOP || insn->format == PPU_FMT_VOTE || insn->format == PPU_FMT_BALLOT) {
        insn->ra = (uint8_t)below(g, 16);
        insn->rb = (uint8_t)(insn->format == PPU_FMT_PLOP ? below(g, 16) : 0);
    }
}

static void choose_operands(struct gen *g, const struct ppu_isa_row *row, struct ppu_insn *insn)
{
    uint32_t words[4] = { 0 };
    bool cross = insn->format == PPU_FMT_LANE || insn->format == PPU_FMT_FIRST;

    for (uint32_t i = 0; i < 4 && row->widths[i] != 0; i++) {
        words[i] = (uint32_t)(row->widths[i] - '0');
    }
    if (insn->format == PPU_FMT_CVT) {
        words[0] = ppu_type_words(insn->dtype);
        words[1] = ppu_type_words(insn->stype);
    }
    if (words[0] != 0) {
        insn->rd = (uint8_t)(insn->scalar ? RANDOM_S + (below(g, RANDOM_REGS) & ~(words[0] - 1)) : dest(g, words[0]));
    }
    if (insn->op == PPU_OP_ACTIVE) {
        insn->rd = set_of_lanes(g, insn);
    }
    if (words[1] != 0) {
        insn->a_scalar = !cross && (insn->scalar || below(g, 4) == 0);
        choose_reg(g, words[1], insn->a_scalar, cross, &insn->ra);
    }
    if (words[2] != 0 && !insn->immed) {
        insn->b_scalar = insn->scalar || below(g, 4) == 0;
        choose_reg(g, words[2], insn->b_scalar, cross, &insn->rb);
    }
    if (words[3] != 0) {
        insn->c_scalar = insn->scalar || below(g, 4) == 0;
        choose_reg(g, words[3], insn->c_scalar, cross, &insn->rc);
    }
}

static void emit_operation(struct gen *g, bool joined)
{
    struct ppu_insn insn = { 0 }, decoded;
    char text[PPUASM_TEXT_BYTES];
    uint32_t op;

    do {
        op = below(g, PPU_ISA_OPS);
    } while (!usable(op, joined));
    const struct ppu_isa_row *row = ppu_isa_row(op);
    struct ppu_isa_shape shape = ppu_isa_shape(row);
    insn.op = (uint8_t)op;
    insn.format = row->format;
    insn.scalar = (row->flags & PPU_IF_V) || (joined && (row->flags & PPU_IF_S) && below(g, 3) == 0);
    insn.immed = shape.forms == PPU_FORM_IMMEDIATE || (shape.forms == PPU_FORM_BOTH && below(g, 3) == 0);
    insn.imm = insn.immed ? choose_immediate(g) : 0;
    choose_modifiers(g, row, &insn);
    choose_operands(g, row, &insn);
    choose_fields(g, &insn);
    if (ppu_isa_decode(ppu_isa_encode(&insn), &decoded) != 0) {
        fail_msg("%s: not an instruction", row->mnemonic);
    }
    ppuasm_disassemble(ppu_isa_encode(&insn), text);
    emit(g, "%s\n", text);
}

/* ---- memory ---- */

struct width {
    const char *text;
    uint32_t bytes;
    uint32_t words;
};

static const struct width widths[] = {
#define PPU_WIDTH(name, text, number, bytes, words) { text, bytes, words },
#include "ppu/isa.def"
};

/* The thread's own memory by an index, which may be negative. */
static void emit_indexed(struct gen *g)
{
    const struct width *w = &widths[below(g, PPU_ARRAY_SIZE(widths))];
    uint32_t unit = PPU_MIN(w->bytes, 4), back = below(g, 2) * below(g, 256);
    uint32_t at = below(g, (PRIVATE_BYTES - w->bytes) / unit + 1) * unit + back * w->bytes;

    emit(g, "shr v7, v1, %u\nsub v7, v7, %u\n", (uint32_t)__builtin_ctz(w->bytes), back);
    emit_guard(g);
    emit(g, "%sg.%s v%u, [s0+v7*%u+%u]\n", below(g, 2) ? "ld" : "st", w->text, dest(g, w->words), w->bytes, at);
}

/* An array of the thread's own in local memory: each lane has another offset. */
static void emit_local_element(struct gen *g)
{
    const struct width *w = &widths[below(g, PPU_ARRAY_SIZE(widths))];

    emit(g, "and v7, v%u, %u\n", RANDOM_V + below(g, RANDOM_REGS), (GEN_LOCAL - 1) & ~(w->bytes - 1));
    emit_guard(g);
    emit(g, "%sl.%s v%u, [v7]\n", below(g, 2) ? "ld" : "st", w->text, dest(g, w->words));
}

static void emit_access(struct gen *g)
{
    static const struct {
        const char *space;
        const char *address;
        uint32_t bytes;
    } targets[] = {
        { "g", "s0+v1+", PRIVATE_BYTES }, { "s", "v3+", SLOT_BYTES }, { "l", "", GEN_LOCAL },
        { "u", "v32+", SLOT_BYTES },      { "u", "v34+", GEN_LOCAL }, { "u", "v36+", PRIVATE_BYTES },
    };
    const struct width *w = &widths[below(g, PPU_ARRAY_SIZE(widths))];
    uint32_t target = below(g, PPU_ARRAY_SIZE(targets)), unit = PPU_MIN(w->bytes, 4);
    uint32_t at = below(g, (targets[target].bytes - w->bytes) / unit + 1) * unit;

    if (below(g, 4) == 0) {
        (below(g, 2) ? emit_indexed : emit_local_element)(g);
        return;
    }
    emit_guard(g);
    emit(g, "%s%s.%s v%u, [%s%u]\n", below(g, 2) ? "ld" : "st", targets[target].space, w->text, dest(g, w->words),
         targets[target].address, at);
}

static void emit_param(struct gen *g, bool joined)
{
    const struct width *w = &widths[below(g, PPU_ARRAY_SIZE(widths))];
    uint32_t unit = PPU_MIN(w->bytes, 4), at = below(g, (GEN_PARAMS - w->bytes) / unit + 1) * unit;

    if (joined && below(g, 2)) {
        emit(g, "ldp.%s s%u, [%u]\n", w->text, RANDOM_S + (below(g, RANDOM_REGS) & ~(w->words - 1)), at);
    } else {
        emit_guard(g);
        emit(g, "ldp.%s v%u, [%u]\n", w->text, dest(g, w->words), at);
    }
}

static void emit_gather(struct gen *g)
{
    uint32_t count = 1 + below(g, 4);

    for (uint32_t i = 0; i < 4; i++) {
        emit(g, "and v%u, v%u, 0x%x\n", 40 + i, dest(g, 1), TABLE_MASK);
    }
    emit_guard(g);
    emit(g, "gather.n%u v%u, [s6+v40+%u]\n", count, dest(g, 4), 4 * below(g, 16));
}

/* Every operation has places of its own, so that the order of threads does not matter. */
static void emit_shared_counter(struct gen *g)
{
    static const char *const ops[] = { "add", "min", "max", "minu", "maxu", "and", "or", "xor" };
    uint32_t op = below(g, 8), wide = below(g, 2), at = op * 16 + wide * 8;
    const char *size = wide ? ".b64" : "";

    if (below(g, 2)) {
        emit(g, "mov v7, %u\natomg.%s%s.relaxed.dev _, [s4+v7], v%u\n", at, ops[op], size, dest(g, 1 + wide));
    } else {
        emit(g, "mov v7, %u\natoms.%s%s.acq_rel.cta _, [v7], v%u\n", g->cta_threads * SLOT_BYTES + at, ops[op], size,
             dest(g, 1 + wide));
    }
}

static void emit_own_atomic(struct gen *g)
{
    static const char *const targets[] = { "atomg|s0+v1", "atoms|v3", "atomu|v32", "atomu|v36", "atomg|s0+v7*4" };
    static const char *const ops[] = {
#define PPU_AOP(name, text, number, doc) text,
#include "ppu/isa.def"
    };
    uint32_t op = below(g, PPU_ARRAY_SIZE(ops)), wide = below(g, 2), words = 1 + wide;
    const char *target = targets[below(g, 5)];

    if (below(g, 3) == 0) { /* one that an SM may gather; what comes next sees it */
        emit_guard(g);
        emit(g, "atomg.add.relaxed.dev _, [s0+v1], v%u\n", dest(g, 1));
        return;
    }

    if (strchr(target, '*')) {
        wide = 0;
        words = 1;
        emit(g, "shr v7, v1, 2\n");
    }
    emit_guard(g);
    emit(g, "%.5s.%s%s.seq_cst.sys v%u, [%s], v%u\n", target, ops[op], wide ? ".b64" : "", dest(g, words), target + 6,
         dest(g, op == PPU_AOP_CAS ? 2 * words : words));
}

/* ---- control ---- */

static void emit_body(struct gen *g, uint32_t depth, bool in_loop, uint32_t loop);

static void emit_condition(struct gen *g)
{
    emit(g, "shr v5, v%u, %u\nand v5, v5, 3\nisetp.%s p6, v5, %u\n", dest(g, 1), below(g, 29),
         below(g, 3) ? "eq" : "ltu", below(g, 4));
}

static void emit_if(struct gen *g, uint32_t depth, bool in_loop, uint32_t loop)
{
    uint32_t label = g->labels++;

    emit_condition(g);
    emit(g, "ssy join%u\n@p6 bra else%u\n", label, label);
    emit_body(g, depth + 1, in_loop, loop);
    emit(g, "sync join%u\nelse%u:\n", label, label);
    emit_body(g, depth + 1, in_loop, loop);
    emit(g, "sync join%u\njoin%u:\n", label, label);
}

static void emit_loop(struct gen *g, uint32_t depth)
{
    uint32_t label = g->labels++, counter = COUNTER_REG + g->function * (DEPTH_MAX + 1) + depth;

    emit(g, "and v%u, v%u, 3\npbrk end%u\nhead%u: isetp.eq p6, v%u, 0\n@p6 brk end%u\nsub v%u, v%u, 1\npcont next%u\n",
         counter, dest(g, 1), label, label, counter, label, counter, counter, label);
    emit_body(g, depth + 1, true, label);
    emit(g, "cont next%u\nnext%u: bra head%u\nend%u:\n", label, label, label, label);
}

static void emit_yield(struct gen *g)
{
    static const char *const yields[] = { "yield", "yieldn 3", "yieldp 0x60000000", "yieldq 0x60000000" };

    emit_guard(g);
    emit(g, "%s\n", yields[below(g, 4)]);
}

/* Adds to what the lock guards; other threads may go first anywhere in it. */
static void emit_lock(struct gen *g)
{
    uint32_t label = g->labels++, lock = below(g, GEN_LOCKS_BYTES / LOCK_BYTES);

    emit(g, "mov v7, %u\nlock%u: atomg.cas.acquire.dev v5, [s0+v7], v38\nisetp.eq p7, v5, 0\n@p7 bra held%u\n",
         GEN_LOCKS_AT + lock * LOCK_BYTES, label, label);
    emit(g, "%s\nbra lock%u\nheld%u: ldg.b32 v5, [s0+v7+4]\n", below(g, 2) ? "yield" : "yieldn 2", label, label);
    if (below(g, 2)) {
        emit_yield(g);
    }
    emit(g, "add v5, v5, v%u\nstg.b32 v5, [s0+v7+4]\natomg.xchg.release.dev _, [s0+v7], v38\nmov v5, 0\n", dest(g, 1));
}

/* Lanes that leave by EXIT meet behind. */
static void emit_region(struct gen *g, uint32_t depth)
{
    uint32_t label = g->labels++, jump = g->jump;
    bool outer = g->region;

    g->region = true;
    g->jump = 0;
    emit(g, "pexit after%u\n", label);
    emit_body(g, depth + 1, false, 0);
    emit(g, "exit\nafter%u:\n", label);
    g->region = outer;
    g->jump = jump;
}

/* What a long jump comes back to, a few times; the address is that of a call to the next instruction. */
static void emit_landing(struct gen *g, uint32_t depth, bool in_loop, uint32_t loop)
{
    uint32_t outer = g->jump;

    g->jump = 1 + g->function * (DEPTH_MAX + 1) + depth;
    emit(g, "and v%u, v%u, 3\ncall v%u, .+1\n", COUNTER_REG + g->jump - 1, dest(g, 1), JUMP_REG + g->jump - 1);
    emit_body(g, depth + 1, in_loop, loop);
    g->jump = outer;
}

static void emit_long_jump(struct gen *g)
{
    uint32_t counter = COUNTER_REG + g->jump - 1;

    emit_condition(g);
    emit(g, "isetp.ne p7, v%u, 0\npand p6, p6, p7\n@p6 sub v%u, v%u, 1\n@p6 longjmp v%u\n", counter, counter, counter,
         JUMP_REG + g->jump - 1);
}

/* A branch that nobody waits behind; one to two targets. */
static void emit_loose(struct gen *g, uint32_t depth, bool in_loop, uint32_t loop)
{
    uint32_t label = g->labels++;

    switch (below(g, g->region ? 2 : 6)) {
    case 2:
        emit_lock(g);
        return;
    case 3:
        emit_landing(g, depth, in_loop, loop);
        return;
    case 4:
        if (g->jump != 0) {
            emit_long_jump(g);
        }
        return;
    case 5:
        emit_yield(g);
        return;
    case 1:
        emit(g, "and v5, v%u, 1\nadd v5, v5, 1\nbrx v5\nadd v%u, v%u, 77\n", dest(g, 1), dest(g, 1), dest(g, 1));
        return;
    default:
        emit_condition(g);
        emit(g, "@p6 bra skip%u\n", label);
        emit_body(g, depth + 1, in_loop, loop);
        emit(g, "skip%u:\n", label);
        return;
    }
}

/*
 * What one part of the warp runs after the other (D3): by enter and leave, with or without registers that parts share,
 * by a loop, or if launch or control unit want it, with shared registers or without. Nothing in there jumps out of it.
 */
static void emit_segment(struct gen *g, uint32_t depth)
{
    uint32_t label = g->labels++, jump = g->jump, form = below(g, 5);

    g->segment = true;
    g->meets = depth == 0 && form != 4 ? 1 : 0;
    g->jump = 0;
    if (form == 0) {
        emit(g, "svbegin64 s28, behind%u\nhalf%u:\nsvbegin s30, end%u\npart%u:\n", label, label, label, label);
    } else if (form == 4) {
        g->shared = below(g, 2) ? 0 : 4 + below(g, GEN_SHARED_VREGS - 3);
        emit(g, "sventer %u\n", PPU_SUBVECTOR_MAY + g->shared);
    } else {
        g->shared = form == 1 ? 0 : 4 + below(g, GEN_SHARED_VREGS - 3);
        emit(g, "sventer %u\n", g->shared);
    }
    for (uint32_t i = 0; i < g->shared; i++) {
        emit(g, "mov v%u, v%u\n", GEN_VREGS + i, RANDOM_V + below(g, RANDOM_REGS));
    }
    emit_body(g, depth + 1, false, 0);
    if (form == 0) {
        emit(g, "svend s30, part%u\nend%u:\nsvend64 s28, half%u\nbehind%u:\n", label, label, label, label);
    } else {
        emit(g, "svleave\n");
    }
    g->segment = false;
    g->meets = 0;
    g->shared = 0;
    g->jump = jump;
}

/* What a lane of any part has, of a register that parts share or of one of the lane's own. */
static void emit_across(struct gen *g)
{
    static const char *const ops[] = { "shfl", "shflup", "shfldn", "shflx" };
    const uint32_t from = g->ended ? RANDOM_V + below(g, RANDOM_REGS) : dest(g, 1), lane = below(g, PPU_MAX_WAVE);

    if (below(g, 2)) {
        emit(g, "%s v%u, v%u, %u\n", ops[below(g, 4)], dest(g, 1), from, lane);
    } else {
        emit(g, "readlane s%u, v%u, %u\n", RANDOM_S + below(g, RANDOM_REGS), from, lane);
    }
}

static void emit_exchange(struct gen *g)
{
    uint32_t id = below(g, PPU_BARRIERS);

    emit(g, "sts.b32 v%u, [v3]\nbar %u\nlds.b32 v%u, [v4]\nbar %u\n", dest(g, 1), id, dest(g, 1), below(g, 16));
}

static void emit_item(struct gen *g, uint32_t depth, bool in_loop, uint32_t loop)
{
    bool top = depth == 0 && g->function == 0;
    bool joined = depth == g->meets && g->function == 0 && g->style == GEN_JOINED;
    uint32_t pick = below(g, 42);

    if (++g->items > ITEMS_MAX) {
        return;
    }
    if (g->style != GEN_JOINED && !g->region && below(g, 12) == 0) {
        emit_yield(g);
    }
    if (depth < DEPTH_MAX && pick < 4) {
        emit_if(g, depth, in_loop, loop);
    } else if (depth < DEPTH_MAX && pick < 6) {
        emit_loop(g, depth);
    } else if (pick == 6 && in_loop) {
        emit_condition(g);
        emit(g, "@p6 %s%u\n", below(g, 2) ? "brk end" : "cont next", loop);
    } else if (pick == 7 && g->function < FUNCTIONS && (g->style == GEN_JOINED || !g->region)) {
        uint32_t f = g->function + 1 + below(g, FUNCTIONS - g->function);
        emit(g, "call v%u, f%u\n", 11 + f, f);
    } else if (pick < 10 && g->style == GEN_LOOSE && depth < DEPTH_MAX) {
        emit_loose(g, depth, in_loop, loop);
    } else if (pick >= 40 && depth < DEPTH_MAX) {
        emit_region(g, depth);
    } else if (g->parts && !g->segment && !g->region && g->function == 0 && depth < DEPTH_MAX && below(g, 6) == 0) {
        emit_segment(g, depth);
    } else if (pick == 10 && (g->region || below(g, 4) == 0)) {
        emit_condition(g);
        emit(g, "@p6 exit\n");
        g->ended = true;
    } else if (pick == 11 && top) {
        emit_exchange(g);
    } else if (joined && g->segment && below(g, 2)) {
        emit_across(g);
    } else if (pick < 18) {
        emit_access(g);
    } else if (pick == 18) {
        emit_param(g, joined);
    } else if (pick == 19) {
        emit_gather(g);
    } else if (pick == 20) {
        emit_shared_counter(g);
    } else if (pick < 23) {
        emit_own_atomic(g);
    } else if (pick == 23) {
        emit(g, "fence.acq_rel.dev\n");
    } else {
        emit_operation(g, joined);
    }
}

static void emit_body(struct gen *g, uint32_t depth, bool in_loop, uint32_t loop)
{
    for (uint32_t left = 1 + below(g, depth == 0 && g->function == 0 ? 30 : 5); left != 0; left--) {
        emit_item(g, depth, in_loop, loop);
    }
}

static void emit_start(struct gen *g, bool inverted)
{
    emit(g,
         ".kernel k\n.vregs %u\n.shared_vregs %u\n%s%sldp.b64 s0, [0]\n"
         "add64 s2, s0, %u\nadd64 s4, s0, %u\nadd64 s6, s0, %u\n"
         "rdsr v0, %%tid\nrdsr s8, %%cta.x\nmul s8, s8, %u\nadd v2, v0, s8\nmul v1, v2, %u\nmul v15, v2, %u\n"
         "mul v3, v0, %u\nadd v4, v0, 1\nremu v4, v4, %u\nmul v4, v4, %u\n"
         "mov64 v32, s0\nmov v32, v3\nmov v33, 0xfffe\nmov v34, 0\nmov v35, 0xffff\nmov v36, v1\nmov v37, 0\n"
         "add64 v36, v36, s0\nmov v38, 0\nmov v39, 1\n",
         GEN_VREGS, g->parts ? GEN_SHARED_VREGS : 0, g->parts ? ".mayshare\n" : "", inverted ? ".subvector\n" : "",
         RESULTS_AT, COUNTERS_AT, TABLE_AT, g->cta_threads, PRIVATE_BYTES, RESULT_BYTES, SLOT_BYTES, g->cta_threads,
         SLOT_BYTES);
    for (uint32_t i = 0; i < RANDOM_REGS; i += 4) {
        emit(g, "ldg.b128 v%u, [s0+v1+%u]\nldp.b128 s%u, [%u]\n", RANDOM_V + i, 4 * i, RANDOM_S + i,
             4 * i % GEN_PARAMS);
    }
    for (uint32_t at = 0; at < GEN_LOCAL; at += 16) {
        emit(g, "stl.b128 v16, [%u]\n", at);
    }
    emit(g, "r2p v19, 63\n%s", inverted ? "svleave\n" : "");
}

static void emit_end(struct gen *g)
{
    for (uint32_t i = 0; i < RANDOM_REGS; i += 4) {
        emit(g, "stg.b128 v%u, [s2+v15+%u]\n", RANDOM_V + i, 4 * i);
    }
    emit(g, "p2r v40\nmov v41, 0\n");
    for (uint32_t i = 0; i < RANDOM_REGS; i++) {
        emit(g, "mul v41, v41, 0x1000193\nxor v41, v41, s%u\n", RANDOM_S + i);
    }
    emit(g, "lds.b64 v42, [v3+8]\nstg.b128 v40, [s2+v15+64]\nexit\n");
}

/* ---- programs without structure: every block goes to any other, until the thread's steps are used up ---- */

static uint32_t any_block(struct gen *g)
{
    return below(g, g->blocks);
}

/* Tokens that may fit nothing, as many as a thread has left. */
static void emit_push(struct gen *g)
{
    static const char *const pushes[] = { "ssy", "pbrk", "pcont" };

    emit(g, "isetp.ne p7, v45, 0\n@p7 sub v45, v45, 1\n@p7 %s b%u\n", pushes[below(g, 3)], any_block(g));
}

static void emit_transfer(struct gen *g)
{
    static const char *const direct[] = { "bra", "jmp", "sync", "brk", "cont" };
    static const char *const by_address[] = { "jmx", "ret", "longjmp" };

    emit_condition(g);
    switch (below(g, 4)) {
    case 0:
        emit(g, "@p6 %s v%u\n", by_address[below(g, 3)], JUMP_REG + below(g, GRAPH_ADDRESSES));
        return;
    case 1:
        emit(g, "and v5, v%u, 1\nadd v5, v5, 1\n@p6 brx v5\nbra b%u\nbra b%u\n", dest(g, 1), any_block(g),
             any_block(g));
        return;
    case 2:
        emit(g, "isetp.ne p7, v45, 0\npand p6, p6, p7\n@p6 sub v45, v45, 1\n@p6 call v%u, b%u\n",
             JUMP_REG + below(g, GRAPH_ADDRESSES), any_block(g));
        return;
    default:
        emit(g, "@%sp6 %s b%u\n", below(g, 2) ? "!" : "", direct[below(g, 5)], any_block(g));
        return;
    }
}

static void emit_block_item(struct gen *g)
{
    switch (below(g, 10)) {
    case 0:
        emit_push(g);
        return;
    case 1:
        emit_yield(g);
        return;
    case 2:
        emit_lock(g);
        return;
    case 3:
        emit_own_atomic(g);
        return;
    case 4:
    case 5:
        emit_access(g);
        return;
    default:
        emit_operation(g, false);
        return;
    }
}

static void emit_graph(struct gen *g)
{
    g->blocks = 3 + below(g, 14);
    emit(g, "and v44, v16, 7\nadd v44, v44, %u\nmov v45, %u\n", GRAPH_STEPS - 7, GRAPH_PUSHES);
    for (uint32_t i = 0; i < GRAPH_ADDRESSES; i++) {
        emit(g, "call v%u, .+2\nbra b%u\n", JUMP_REG + i, any_block(g));
    }
    for (uint32_t block = 0; block < g->blocks; block++) {
        emit(g, "b%u: sub v44, v44, 1\nisetp.eq p6, v44, 0\n@p6 bra finish\n", block);
        for (uint32_t left = below(g, 5); left != 0; left--) {
            emit_block_item(g);
        }
        emit_transfer(g);
    }
    emit(g, "bra b%u\nfinish:\n", any_block(g));
}

/* ---- all of it ---- */

static void emit_functions(struct gen *g)
{
    for (g->function = 1; g->function <= FUNCTIONS; g->function++) {
        emit(g, "f%u:\n", g->function);
        emit_body(g, 0, false, 0);
        emit(g, "ret v%u\n", 11 + g->function);
    }
}

void generate(uint64_t *random, enum gen_style style, uint32_t cta_threads, char text[GEN_TEXT_BYTES])
{
    struct gen g = { .random = random, .text = text, .style = style, .cta_threads = cta_threads };

    g.parts = style == GEN_JOINED && below(&g, 2) == 0;
    /* Sub-vector mode is what the warp begins in, and may end in (D6). */
    bool inverted = g.parts && below(&g, 2) == 0;
    emit_start(&g, inverted);
    if (style == GEN_GRAPH) {
        emit_graph(&g);
        emit_end(&g);
        return;
    }
    emit_body(&g, 0, false, 0);
    if (inverted && below(&g, 2) == 0) {
        emit(&g, "sventer %u\n", below(&g, GEN_SHARED_VREGS + 1));
    }
    emit_end(&g);
    emit_functions(&g);
}

uint32_t generate_shared(uint32_t cta_threads)
{
    return cta_threads * SLOT_BYTES + 8 * 16;
}
