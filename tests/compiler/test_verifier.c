/* SPDX-License-Identifier: MIT */
/*
 * Tests the verifier between the back end's passes: it accepts sound code, and names what is wrong with code that is
 * not.
 */
#include "tests/compiler/device.h"

#include "compiler/mir/mir.h"
#include "compiler/mir/mir_verify.h"
#include "ppu/macros.h"

#include <stdlib.h>
#include <string.h>

/* v1 = 5; v2:2 = 7; s3 = 1; p4 = v1 == 5; branch p4 to two blocks that end. */
struct sample {
    struct compilation compilation;
    struct mir *mir;
    struct mir_ref one, pair, scalar, pred;
};

static const struct ppu_compile_options options;

static struct mir_insn move(enum ppu_op op, struct mir_ref to, bool scalar)
{
    struct mir_insn insn = mir_insn(op);

    insn.code.immed = 1;
    insn.code.scalar = scalar;
    insn.d = to;
    return insn;
}

static void fill(struct sample *s)
{
    static const uint32_t succ[3][2] = { { 1, 2 } }, succs[3] = { 2 };
    static const bool none[3];
    uint32_t order[3];
    struct flow *flow = flow_new(&s->compilation.arena, 3, succ, succs, order);
    struct mir_insn compare = mir_insn(PPU_OP_ISETP);

    flow_reconverge(flow, none, none);
    s->mir = mir_new(&s->compilation, "sample", flow);
    s->one = mir_reg(s->mir, MIR_VECTOR, 1, 0);
    s->pair = mir_reg(s->mir, MIR_VECTOR, 2, 0);
    s->scalar = mir_reg(s->mir, MIR_SCALAR, 1, 0);
    s->pred = mir_reg(s->mir, MIR_PRED, 1, 0);
    struct mir_insn insn = move(PPU_OP_MOV, s->one, false);
    mir_add(s->mir, 0, &insn);
    insn = move(PPU_OP_MOV64, s->pair, false);
    mir_add(s->mir, 0, &insn);
    insn = move(PPU_OP_MOV, s->scalar, true);
    mir_add(s->mir, 0, &insn);
    compare.code.immed = 1;
    compare.a = s->one;
    compare.d = s->pred;
    mir_add(s->mir, 0, &compare);
    s->mir->blocks[0].end = MIR_BRANCH;
    s->mir->blocks[0].cond = s->pred;
}

static void sound(struct sample *s)
{
    (void)s;
}

static void unknown_register(struct sample *s)
{
    s->mir->blocks[0].insns[3].a.reg = 99;
}

static void value_for_predicate(struct sample *s)
{
    s->mir->blocks[0].insns[3].guard = s->one;
}

static void predicate_for_value(struct sample *s)
{
    s->mir->blocks[0].insns[3].a = s->pred;
}

static void too_few_words(struct sample *s)
{
    s->mir->blocks[0].insns[1].d = s->one;
}

static void misaligned_words(struct sample *s)
{
    s->mir->blocks[0].insns[1].d = mir_sub(s->pair, 1);
}

static void negated_value(struct sample *s)
{
    s->mir->blocks[0].insns[3].a.negated = true;
}

static void vector_writes_scalar(struct sample *s)
{
    s->mir->blocks[0].insns[2].code.scalar = 0;
}

static void scalar_reads_vector(struct sample *s)
{
    s->mir->blocks[0].insns[3].code.scalar = 1;
}

static void scalar_where_lanes_parted(struct sample *s)
{
    struct mir_insn insn = move(PPU_OP_MOV, s->scalar, true);

    s->mir->flow->convergent[1] = false;
    mir_add(s->mir, 1, &insn);
}

static void wrong_successors(struct sample *s)
{
    s->mir->blocks[0].end = MIR_JUMP;
}

static void condition_is_a_value(struct sample *s)
{
    s->mir->blocks[0].cond = s->one;
}

static void read_before_written(struct sample *s)
{
    struct mir_insn first = s->mir->blocks[0].insns[0];

    s->mir->blocks[0].insns[0] = s->mir->blocks[0].insns[3];
    s->mir->blocks[0].insns[3] = first;
}

static const struct {
    void (*spoil)(struct sample *s);
    const char *says; /* NULL: nothing is wrong */
} cases[] = {
    { sound, NULL },
    { unknown_register, "instruction 3 (isetp): a register that does not exist" },
    { value_for_predicate, "instruction 3 (isetp): a predicate where a value stands, or the other way round" },
    { predicate_for_value, "instruction 3 (isetp): a predicate where a value stands, or the other way round" },
    { too_few_words, "instruction 1 (mov64): words that the register does not have, or misaligned ones" },
    { misaligned_words, "instruction 1 (mov64): words that the register does not have, or misaligned ones" },
    { negated_value, "instruction 3 (isetp): a negated register that is no predicate" },
    { vector_writes_scalar, "instruction 2 (mov): a scalar register written by a vector operation" },
    { scalar_reads_vector, "instruction 3 (isetp): a scalar operation that reads a vector register" },
    { scalar_where_lanes_parted,
      "block 1, instruction 0 (mov): a scalar register written by a vector operation, or where" },
    { wrong_successors, "block 0, instruction 4 (end): not the successors of the flow graph" },
    { condition_is_a_value, "block 0, instruction 4 (end): a condition that is no predicate" },
    { read_before_written, "after test: register 1 is read before it is written" },
};

/* False: the verifier stopped, with a message in the log. */
static bool is_content(struct sample *s, void (*spoil)(struct sample *s))
{
    if (setjmp(s->compilation.no_memory) != 0) {
        fail_msg("no memory");
    }
    if (setjmp(s->compilation.escape) != 0) {
        return false;
    }
    fill(s);
    spoil(s);
    mir_verify(s->mir, "test");
    return true;
}

static void check(size_t i)
{
    struct sample *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    s->compilation.options = &options;
    s->compilation.source_name = "sample.cl";
    s->compilation.arena.no_memory = &s->compilation.no_memory;
    bool content = is_content(s, cases[i].spoil);
    bytes_add_zeros(&s->compilation.log, 1);
    const char *log = (const char *)s->compilation.log.at;
    if (!cases[i].says ? !content : content || !strstr(log, cases[i].says)) {
        fail_msg("case %zu: %s", i, content ? "it is content" : log);
    }
    arena_free(&s->compilation.arena);
    bytes_free(&s->compilation.log);
    free(s);
}

static void verifier(void **state)
{
    (void)state;
    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        check(i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "the verifier names what is wrong", verifier, NULL, NULL, NULL },
    };

    return cmocka_run_group_tests_name("compiler: verifier", tests, NULL, NULL);
}
