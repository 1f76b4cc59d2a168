/* SPDX-License-Identifier: MIT */
/*
 * Tests segments of a kernel (D9): which code may be one, by small graphs made by hand, which pieces become one for a
 * threshold, and what is put into the code.
 */
#include "compiler/mir/emit.h"
#include "compiler/mir/functions.h"
#include "compiler/mir/regalloc.h"
#include "compiler/mir/subvector/insert.h"
#include "ppu/macros.h"
#include "tests/compiler/device.h"

#include <stdlib.h>
#include <string.h>

/* ---- programs by hand ---- */

#define MAX_BLOCKS 6u

struct program {
    struct compilation compilation;
    struct ppu_compile_options options;
    struct kernel_info kernel;
    struct mir *mir;
};

/* `together`: no branch parts the warp. */
static struct program *program_new(const uint32_t (*succ)[2], const uint32_t *succs, uint32_t blocks, bool together)
{
    static const bool none[MAX_BLOCKS];
    struct program *p = calloc(1, sizeof(*p));
    bool divergent[MAX_BLOCKS];
    uint32_t order[MAX_BLOCKS];

    assert_non_null(p);
    p->compilation.options = &p->options;
    p->compilation.arena.no_memory = &p->compilation.no_memory;
    p->compilation.wave = 64;
    struct flow *flow = flow_new(&p->compilation.arena, blocks, succ, succs, order);
    assert_non_null(flow);
    for (uint32_t b = 0; b < blocks; b++) {
        assert_int_equal(order[b], b);
        divergent[b] = succs[b] > 1 && !together;
    }
    flow_reconverge(flow, divergent, none);
    p->mir = mir_new(&p->compilation, "test", flow);
    for (uint32_t b = 0; b < blocks; b++) {
        p->mir->blocks[b].end = succs[b] == 2 ? MIR_BRANCH : succs[b] == 1 ? MIR_JUMP : MIR_EXIT;
    }
    return p;
}

static void program_free(struct program *p)
{
    arena_free(&p->compilation.arena);
    bytes_free(&p->compilation.code);
    bytes_free(&p->compilation.log);
    free(p);
}

static struct mir_insn *add(struct program *p, uint32_t block, enum ppu_op op, struct mir_ref d, struct mir_ref a,
                            struct mir_ref b)
{
    struct mir_insn insn = mir_insn(op);

    insn.d = d;
    insn.a = a;
    insn.b = b;
    insn.code.scalar = d.reg != 0 && mir_class_of(p->mir, d) == MIR_SCALAR;
    return mir_add(p->mir, block, &insn);
}

static struct mir_insn *add_constant(struct program *p, uint32_t block, struct mir_ref d)
{
    struct mir_insn *insn = add(p, block, PPU_OP_MOV, d, (struct mir_ref){ 0 }, (struct mir_ref){ 0 });

    insn->code.immed = 1;
    insn->code.imm = 7;
    return insn;
}

/* ---- what may be a segment ---- */

/* Registers that every program has: v and t are vectors, s and u scalars, p a predicate. */
struct names {
    struct mir_ref v, t, s, u, p;
};

static const struct mir_ref nothing;

static void put_barrier(struct program *p, const struct names *n)
{
    (void)n;
    add(p, 1, PPU_OP_BAR, nothing, nothing, nothing)->code.immed = 1;
}

static void put_wait(struct program *p, const struct names *n)
{
    (void)n;
    add(p, 1, PPU_OP_CWAIT, nothing, nothing, nothing);
}

static void put_yield(struct program *p, const struct names *n)
{
    (void)n;
    add(p, 1, PPU_OP_YIELD, nothing, nothing, nothing);
}

static void put_launch(struct program *p, const struct names *n)
{
    add(p, 1, PPU_OP_TSTART, nothing, n->v, n->t);
}

static void put_shuffle(struct program *p, const struct names *n)
{
    add(p, 1, PPU_OP_SHFL, n->t, n->v, n->v);
}

static void put_first(struct program *p, const struct names *n)
{
    add(p, 1, PPU_OP_READFIRST, n->u, n->v, nothing);
}

static void put_time(struct program *p, const struct names *n)
{
    (void)n;
    add(p, 1, PPU_OP_RDTIME, mir_reg(p->mir, MIR_VECTOR, 2, 0), nothing, nothing);
}

static void put_scalar_store(struct program *p, const struct names *n)
{
    struct mir_insn *store = add(p, 1, PPU_OP_STS, n->u, n->s, nothing);

    store->code.wb = 0;
    store->code.scalar = 1;
}

static void put_count(struct program *p, const struct names *n) /* s = s + v's constant: the former s goes into it */
{
    add(p, 1, PPU_OP_ADD, n->s, n->s, n->u);
}

static void put_made_inside(struct program *p, const struct names *n) /* u = s + s, s stays */
{
    add(p, 1, PPU_OP_ADD, n->u, n->s, n->s);
    add(p, 1, PPU_OP_ADD, n->t, n->v, n->u);
}

static void put_predicate(struct program *p, const struct names *n) /* all lanes of p are written, p was there */
{
    add(p, 1, PPU_OP_SEL, n->t, n->v, n->t)->pred = n->p;
    struct mir_insn *insn = add(p, 1, PPU_OP_ISETP, n->p, n->s, n->s);
    insn->code.scalar = 1;
}

static void put_own_predicate(struct program *p, const struct names *n) /* each lane its own */
{
    add(p, 1, PPU_OP_SEL, n->t, n->v, n->t)->pred = n->p;
    add(p, 1, PPU_OP_ISETP, n->p, n->v, n->t);
}

static void put_memory(struct program *p, const struct names *n)
{
    struct mir_insn *insn = add(p, 1, PPU_OP_ATOMS, n->t, n->v, n->v);

    insn->code.wc = 0;
}

static const uint32_t line_succ[3][2] = { { 1 }, { 2 } }, line_succs[3] = { 1, 1, 0 };

static const struct {
    const char *name;
    void (*put)(struct program *p, const struct names *n);
    enum refusal_kind kind;
} contents[] = {
    { "memory and atomics", put_memory, REFUSAL_NONE },
    { "a scalar result made inside", put_made_inside, REFUSAL_NONE },
    { "a predicate of each lane", put_own_predicate, REFUSAL_NONE },
    { "barrier", put_barrier, REFUSAL_BARRIER },
    { "wait", put_wait, REFUSAL_WAIT },
    { "yield", put_yield, REFUSAL_YIELD },
    { "launch", put_launch, REFUSAL_TASK },
    { "shuffle", put_shuffle, REFUSAL_LANES },
    { "first lane", put_first, REFUSAL_LANES },
    { "time", put_time, REFUSAL_TIME },
    { "scalar store", put_scalar_store, REFUSAL_SCALAR },
    { "scalar counter", put_count, REFUSAL_SCALAR },
    { "predicate of all lanes", put_predicate, REFUSAL_PREDICATE },
};

/* Three blocks in a line; the one in the middle has the contents, those around write and read all registers. */
static void check_contents(void (*put)(struct program *p, const struct names *n), enum refusal_kind kind,
                           const char *name)
{
    struct program *p = program_new(line_succ, line_succs, 3, false);
    const struct names n = { mir_reg(p->mir, MIR_VECTOR, 1, 0), mir_reg(p->mir, MIR_VECTOR, 1, 0),
                             mir_reg(p->mir, MIR_SCALAR, 1, 0), mir_reg(p->mir, MIR_SCALAR, 1, 0),
                             mir_reg(p->mir, MIR_PRED, 1, 0) };

    add_constant(p, 0, n.v);
    add_constant(p, 0, n.t);
    add_constant(p, 0, n.s);
    if (kind != REFUSAL_NONE) { /* what is written inside was there before */
        add_constant(p, 0, n.u);
    }
    add(p, 0, PPU_OP_ISETP, n.p, n.v, n.t);
    put(p, &n);
    add(p, 2, PPU_OP_ADD, n.t, n.v, n.t);
    add(p, 2, PPU_OP_ADD, n.t, n.t, n.s);
    add(p, 2, PPU_OP_SEL, n.t, n.v, n.t)->pred = n.p;

    const struct refusal_code code = refusal_code_new(p->mir, &p->kernel, false);
    const struct pressure *pressure = code.pressure;
    struct refusal refusal = refusal_of(&code, pressure->first[1], pressure->first[2]);
    if (refusal.kind != kind) {
        fail_msg("%s: %s", name, refusal_text(refusal.kind));
    }
    assert_true(kind == REFUSAL_NONE || pressure->block[refusal.point] == 1);
    program_free(p);
}

static void contents_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(contents); i++) {
        check_contents(contents[i].put, contents[i].kind, contents[i].name);
    }
}

/* Graphs, and blocks between whose beginnings the segment would be. */
static const struct {
    const char *name;
    uint32_t blocks;
    uint32_t succ[MAX_BLOCKS][2];
    uint32_t succs[MAX_BLOCKS];
    uint32_t from, to; /* points behind the beginnings of these blocks: */
    uint32_t from_more, to_more;
    bool masks_scalar;
    bool together;
    enum refusal_kind kind;
} graphs[] = {
    { "both sides", 5, { { 1, 2 }, { 3 }, { 3 }, { 4 } }, { 2, 1, 1, 1, 0 }, 0, 3, 0, 0, false, false, REFUSAL_NONE },
    { "both sides, loop form",
      5,
      { { 1, 2 }, { 3 }, { 3 }, { 4 } },
      { 2, 1, 1, 1, 0 },
      0,
      3,
      0,
      0,
      true,
      false,
      REFUSAL_NONE },
    { "a loop", 5, { { 1 }, { 2 }, { 1, 3 }, { 4 } }, { 1, 1, 2, 1, 0 }, 0, 3, 0, 0, false, false, REFUSAL_NONE },
    { "the body of a loop",
      5,
      { { 1 }, { 2 }, { 1, 3 }, { 4 } },
      { 1, 1, 2, 1, 0 },
      1,
      2,
      0,
      1,
      false,
      false,
      REFUSAL_NONE },
    { "the end of threads", 3, { { 1 }, { 2 } }, { 1, 1, 0 }, 0, 3, 0, 0, false, false, REFUSAL_EXIT },
    { "one side of two",
      5,
      { { 1, 2 }, { 3 }, { 3 }, { 4 } },
      { 2, 1, 1, 1, 0 },
      1,
      3,
      0,
      0,
      false,
      false,
      REFUSAL_MEETS },
    { "a side, and what is behind",
      4,
      { { 1, 2 }, { 2 }, { 3 } },
      { 2, 1, 1, 0 },
      1,
      2,
      0,
      1,
      false,
      false,
      REFUSAL_MEETS },
    { "half of a loop",
      5,
      { { 1 }, { 2 }, { 1, 3 }, { 4 } },
      { 1, 1, 2, 1, 0 },
      2,
      3,
      0,
      0,
      false,
      false,
      REFUSAL_LEAVES },
    { "from outside into a loop",
      5,
      { { 1 }, { 2 }, { 1, 3 }, { 4 } },
      { 1, 1, 2, 1, 0 },
      0,
      2,
      0,
      0,
      false,
      false,
      REFUSAL_MEETS },
    { "the same, warp together",
      5,
      { { 1 }, { 2 }, { 1, 3 }, { 4 } },
      { 1, 1, 2, 1, 0 },
      0,
      2,
      0,
      0,
      false,
      true,
      REFUSAL_ENTERS },
    { "one side of two, warp together",
      5,
      { { 1, 2 }, { 3 }, { 3 }, { 4 } },
      { 2, 1, 1, 1, 0 },
      1,
      3,
      0,
      0,
      false,
      true,
      REFUSAL_ENTERS },
    { "within a side, loop form, warp together",
      5,
      { { 1, 2 }, { 3 }, { 3 }, { 4 } },
      { 2, 1, 1, 1, 0 },
      1,
      1,
      0,
      1,
      true,
      true,
      REFUSAL_NONE },
    { "a branch without its sides",
      5,
      { { 1, 2 }, { 3 }, { 3 }, { 4 } },
      { 2, 1, 1, 1, 0 },
      0,
      1,
      0,
      1,
      false,
      false,
      REFUSAL_LEAVES },
    { "within a side",
      5,
      { { 1, 2 }, { 3 }, { 3 }, { 4 } },
      { 2, 1, 1, 1, 0 },
      1,
      1,
      0,
      1,
      false,
      false,
      REFUSAL_NONE },
    { "within a side, loop form",
      5,
      { { 1, 2 }, { 3 }, { 3 }, { 4 } },
      { 2, 1, 1, 1, 0 },
      1,
      1,
      0,
      1,
      true,
      false,
      REFUSAL_PARTED },
};

static void check_graph(size_t i)
{
    struct program *p = program_new(graphs[i].succ, graphs[i].succs, graphs[i].blocks, graphs[i].together);
    struct mir_ref v = mir_reg(p->mir, MIR_VECTOR, 1, 0), q = mir_reg(p->mir, MIR_PRED, 1, 0);

    add_constant(p, 0, v);
    add(p, 0, PPU_OP_ISETP, q, v, v);
    for (uint32_t b = 0; b < graphs[i].blocks; b++) {
        add(p, b, PPU_OP_ADD, v, v, v);
        p->mir->blocks[b].cond = q;
    }
    const struct refusal_code code = refusal_code_new(p->mir, &p->kernel, graphs[i].masks_scalar);
    const struct pressure *pressure = code.pressure;
    struct refusal refusal = refusal_of(&code, pressure->first[graphs[i].from] + graphs[i].from_more,
                                        pressure->first[graphs[i].to] + graphs[i].to_more);
    if (refusal.kind != graphs[i].kind) {
        fail_msg("%s: %s", graphs[i].name, refusal_text(refusal.kind));
    }
    program_free(p);
}

static void graphs_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(graphs); i++) {
        check_graph(i);
    }
}

/* A segment that calls is as legal as what it calls. */
static void functions_decide(void **state)
{
    (void)state;
    for (uint32_t waits = 0; waits < 2; waits++) {
        struct program *p = program_new(line_succ, line_succs, 3, false),
                       *callee = program_new(line_succ, line_succs, 3, false);
        struct function function = { .mir = callee->mir };

        p->kernel.functions = &function;
        p->kernel.function_count = 1;
        callee->mir->blocks[2].end = MIR_RETURN;
        if (waits) {
            put_barrier(callee, NULL);
        }
        struct mir_insn *call = add(p, 1, PPU_OP_CALL, mir_reg(p->mir, MIR_VECTOR, 1, 0), nothing, nothing);
        call->callee = 1;
        add(p, 2, PPU_OP_NOP, nothing, nothing, nothing);
        const struct refusal_code code = refusal_code_new(p->mir, &p->kernel, false);
        const struct pressure *pressure = code.pressure;
        assert_int_equal(refusal_of(&code, pressure->first[1], pressure->first[2]).kind,
                         waits ? REFUSAL_BARRIER : REFUSAL_NONE);
        program_free(callee);
        program_free(p);
    }
}

/* ---- which pieces are taken ---- */

#define RUN 24u
static const uint32_t needs[10] = { 3, 5, 6, 9, 11, 10, 4, 10, 6, 2 };
#define ABOVE 8u

/* Ten runs of instructions, each of which needs so many registers at once. */
static struct program *ten_runs(enum ppu_subvector_form form, uint32_t inverted)
{
    static const uint32_t succ[1][2], succs[1];
    struct program *p = program_new(succ, succs, 1, false);

    p->options.subvector = (struct ppu_compile_subvector){
        .form = form, .threshold_kind = PPU_THRESHOLD_REGISTERS, .threshold = ABOVE, .run = RUN, .inverted = inverted
    };
    for (uint32_t run = 0; run < 10; run++) {
        struct mir_ref values[16];
        for (uint32_t i = 0; i < needs[run]; i++) {
            values[i] = mir_reg(p->mir, MIR_VECTOR, 1, 0);
            add_constant(p, 0, values[i]);
        }
        for (uint32_t i = 1; i < needs[run]; i++) {
            add(p, 0, PPU_OP_ADD, values[0], values[0], values[i]);
        }
        for (uint32_t i = 2 * needs[run] - 1; i < RUN; i++) {
            add(p, 0, PPU_OP_NOP, nothing, nothing, nothing);
        }
    }
    return p;
}

static void example(void **state)
{
    struct program *p = ten_runs(PPU_SEGMENTS_ENTER, 0);

    (void)state;
    subvector_insert(p->mir, &p->kernel);
    const struct segment_plan *plan = p->mir->segments;
    assert_int_equal(plan->pieces.count, 10);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(plan->pieces.at[i].need, needs[i]);
    }
    assert_int_equal(plan->chosen.count, 2);
    assert_int_equal(plan->chosen.at[0].from, 3 * RUN);
    assert_int_equal(plan->chosen.at[0].to, 6 * RUN);
    assert_int_equal(plan->chosen.at[1].from, 7 * RUN);
    assert_int_equal(plan->chosen.at[1].to, 8 * RUN);
    program_free(p);
}

/* Numbers of the instructions of the code that enter (first bit 1) or leave, without those themselves; how many. */
static uint32_t marks_of(const struct program *p, uint32_t marks[16])
{
    uint32_t insns = (uint32_t)(p->compilation.code.len / PPU_INSN_BYTES), count = 0, others = 0;

    for (uint32_t i = 0; i < insns; i++) {
        struct ppu_insn insn;
        uint64_t word;
        memcpy(&word, p->compilation.code.at + (size_t)i * PPU_INSN_BYTES, sizeof(word));
        assert_int_not_equal(ppu_isa_decode(word, &insn), PPU_FAULT_ILLEGAL);
        if (insn.op == PPU_OP_SVENTER || insn.op == PPU_OP_SVLEAVE) {
            assert_true(count < 16);
            marks[count++] = others * 2 + (insn.op == PPU_OP_SVENTER);
        } else {
            others++;
        }
    }
    return count;
}

static void check_marks(uint32_t inverted, const uint32_t *expected, uint32_t count)
{
    const struct register_limits limits = { { PPU_MAX_VREGS, PPU_SREGS, PPU_PREDS } };
    struct program *p = ten_runs(PPU_SEGMENTS_ENTER, inverted);
    bool force = false, fewer = false;
    uint32_t marks[16];

    subvector_insert(p->mir, &p->kernel);
    assert_true(regalloc(p->mir, &limits, &force, &fewer));
    emit_kernel(&p->compilation, &p->kernel, p->mir);
    assert_int_equal(marks_of(p, marks), count);
    assert_memory_equal(marks, expected, count * sizeof(marks[0]));
    /* 6 registers are needed outside of segments, and 11 inside; private ones are a multiple of 4. */
    assert_int_equal(p->mir->shared, 3);
    assert_int_equal(p->mir->used[MIR_VECTOR], 11);
    program_free(p);
}

static void marks(void **state)
{
    static const uint32_t normal[] = { 3 * RUN * 2 + 1, 6 * RUN * 2, 7 * RUN * 2 + 1, 8 * RUN * 2 };
    static const uint32_t inverted[] = { 0, 3 * RUN * 2 + 1, 6 * RUN * 2, 7 * RUN * 2 + 1, 8 * RUN * 2 };

    (void)state;
    check_marks(0, normal, 4);
    check_marks(1, inverted, 5); /* 0-2, 6 and 8-9 are in normal mode: between a leave and the next enter */
}

/* The threshold is one that nothing has to reach: a run that needs just so many is not taken. */
static void strictly_above(void **state)
{
    struct program *p = ten_runs(PPU_SEGMENTS_ENTER, 0);
    const struct refusal_code code = refusal_code_new(p->mir, &p->kernel, false);
    const struct segment_limits limits = { .parts = 2, .run = RUN, .sm_vregs = 65536, .sm_warps = 64, .shares = true };

    (void)state;
    assert_int_equal(segment_plan(&code, &limits, 10)->chosen.count, 1); /* 4 alone */
    assert_int_equal(segment_plan(&code, &limits, 11)->chosen.count, 0);
    assert_int_equal(segment_plan(&code, &limits, 0)->chosen.count, 1); /* all of them */
    program_free(p);
}

/* ---- the curve ---- */

static void curve(void **state)
{
    static const uint32_t succ[1][2], succs[1];
    struct program *p = program_new(succ, succs, 1, false);
    struct mir_ref pair = mir_reg(p->mir, MIR_VECTOR, 2, 0), v = mir_reg(p->mir, MIR_VECTOR, 1, 0),
                   s = mir_reg(p->mir, MIR_SCALAR, 1, 0);

    (void)state;
    add_constant(p, 0, s);                             /* scalars count nothing */
    add_constant(p, 0, v);                             /* 1 */
    add(p, 0, PPU_OP_MULW, pair, v, s);                /* reads 1, then 2 live: 2, v dies */
    add(p, 0, PPU_OP_MULW, pair, mir_sub(pair, 1), s); /* reads 1, a result that nobody reads is 2 */
    const struct pressure *pressure = pressure_new(p->mir);
    assert_int_equal(pressure->points, 5);
    static const uint32_t expected[] = { 0, 1, 2, 2, 0 };
    assert_memory_equal(pressure->need, expected, sizeof(expected));
    program_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "pairs of live vector registers count twice, scalar ones not at all [D9]", curve, NULL, NULL, NULL },
        { "what parts of a wave may run through one after the other: by instruction [D9]", contents_decide, NULL, NULL,
          NULL },
        { "what parts of a wave may run through one after the other: by graph [D9]", graphs_decide, NULL, NULL, NULL },
        { "a call is a segment when its function may be one [D9]", functions_decide, NULL, NULL, NULL },
        { "of ten pieces 3, 4, 5 and 7 are above the threshold: segments 3-5 and 7 [D11]", example, NULL, NULL, NULL },
        { "two pairs of enter and leave; with the default inverted 0-2, 6 and 8-9 are marked [D6][D11]", marks, NULL,
          NULL, NULL },
        { "a piece that needs as many registers as the threshold is none [D9]", strictly_above, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
