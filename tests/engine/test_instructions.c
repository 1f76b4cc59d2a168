/* SPDX-License-Identifier: MIT */
/*
 * Tests every arithmetic operation on corner operands against plain C, and comparisons, conversions, memory widths,
 * atomics.
 */
#include "ppu/macros.h"
#include "tests/engine/models.h"
#include "tests/engine/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANES 32u
#define OPERANDS 3u
#define OUT_VA (DATA_VA + 0x10000)
#define OUT_AT 0x10000u
#define ROUNDS 12u

/* ---- operands ---- */

static const uint64_t corners[] = {
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7fffffff,
    0x80000000,
    0x80000001,
    0xffffffff,
    0xfffffffe,
    0x100000000,
    0x7fffffffffffffff,
    0x8000000000000000,
    0xffffffffffffffff,
    0x3f800000,
    0xbf800000,
    0x40200000,
    0x7f800000,
    0xff800000,
    0x7fc12345,
    0x7f800001,
    0x00000001,
    0x807fffff,
    0x7f7fffff,
    0x4b000001,
    0xcf000000,
    0x3ff0000000000000,
    0xbff8000000000000,
    0x7ff0000000000000,
    0xfff0000000000000,
    0x7ff4000000000001,
    0x0000000000000001,
    0x800fffffffffffff,
    0x7fefffffffffffff,
    0x4330000000000001,
    0xc1e0000000200000,
    0x12345678,
    0xdeadbeef,
    0x0123456789abcdef,
    0xfedcba9876543210,
};
#define CORNERS PPU_ARRAY_SIZE(corners)

static uint64_t operand(uint64_t *random)
{
    return random_below(random, 4) ? corners[random_below(random, CORNERS)] : random_next(random);
}

/* Lane l reads its operands at in[l][0 to 2] into v10, v12, v14 and stores v16, v17 to out[l]. */
static void load_program(struct rig *rig, const char *body)
{
    char text[2048];

    snprintf(text, sizeof(text),
             ".kernel k\n.vregs 40\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nldp.b64 s10, [16]\nldp.b64 s12, [24]\n"
             "ldp.b64 s14, [32]\nrdsr v0, %%tid\nmul v1, v0, 24\nldg.b64 v10, [s0+v1]\nldg.b64 v12, [s0+v1+8]\n"
             "ldg.b64 v14, [s0+v1+16]\nmov64 v16, -1\nmov64 v18, 0\n%s\nshl v2, v0, 3\nstg.b64 v16, [s2+v2]\nexit\n",
             body);
    rig_load_text(rig, text);
}

static void run_program(struct rig *rig, uint64_t (*in)[OPERANDS], uint64_t *out)
{
    uint64_t params[5] = { DATA_VA, OUT_VA, in[0][0], in[0][1], in[0][2] };
    struct ppu_tmd tmd = rig_tmd(rig, "k");

    memcpy(rig_data(rig, 0), in, LANES * sizeof(in[0]));
    rig_params(rig, 0, &tmd, params, sizeof(params));
    rig_run_done(rig, &tmd);
    memcpy(out, rig_data(rig, OUT_AT), LANES * sizeof(out[0]));
}

static void check(const char *what, uint64_t got, uint64_t expected, const uint64_t in[OPERANDS], uint32_t width)
{
    if (width == 1) {
        got &= UINT32_MAX;
        expected &= UINT32_MAX;
    }
    if (got != expected) {
        fail_msg("%s(%016llx, %016llx, %016llx) = %016llx, not %016llx", what, (unsigned long long)in[0],
                 (unsigned long long)in[1], (unsigned long long)in[2], (unsigned long long)got,
                 (unsigned long long)expected);
    }
}

/* Text of an operation on v10, v12, v14 (or s10 ...) with result v16. */
static void operation_text(const struct ppu_isa_row *row, char kind, char *text, size_t size)
{
    const char *end = kind == 's' ? "\nmov64 v16, s16" : "";

    switch (row->format) {
    case PPU_FMT_DB:
        snprintf(text, size, "%s %c16, %c12%s", row->mnemonic, kind, kind, end);
        return;
    case PPU_FMT_DA:
        snprintf(text, size, "%s %c16, %c10%s", row->mnemonic, kind, kind, end);
        return;
    case PPU_FMT_DAB:
        snprintf(text, size, "%s %c16, %c10, %c12%s", row->mnemonic, kind, kind, kind, end);
        return;
    default:
        snprintf(text, size, "%s %c16, %c10, %c12, %c14%s", row->mnemonic, kind, kind, kind, kind, end);
        return;
    }
}

static bool has_model(uint32_t op)
{
    const struct ppu_isa_row *row = ppu_isa_row(op);

    return row->mnemonic && row->built &&
           (row->format == PPU_FMT_DB || row->format == PPU_FMT_DA || row->format == PPU_FMT_DABC ||
            (row->format == PPU_FMT_DAB && (row->flags & PPU_IF_S)));
}

static void arithmetic(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t op = 0; op < PPU_ISA_OPS; op++) {
        const struct ppu_isa_row *row = ppu_isa_row(op);
        char body[256];

        if (!has_model(op)) {
            assert_null(reference_models[op]);
            continue;
        }
        if (!reference_models[op]) {
            fail_msg("%s has no expectation", row->mnemonic);
            return;
        }
        for (uint32_t round = 0; round < ROUNDS; round++) {
            uint64_t in[LANES][OPERANDS], out[LANES];
            bool scalar = round % 3 == 2;

            for (uint32_t i = 0; i < LANES * OPERANDS; i++) {
                in[i / OPERANDS][i % OPERANDS] = operand(&random);
            }
            operation_text(row, scalar ? 's' : 'v', body, sizeof(body));
            load_program(rig, body);
            run_program(rig, in, out);
            for (uint32_t lane = 0; lane < LANES; lane++) {
                const uint64_t *with = in[scalar ? 0 : lane];
                check(row->mnemonic, out[lane], reference_models[op](with[0], with[1], with[2]), with,
                      (uint32_t)(row->widths[0] - '0'));
            }
        }
    }
}

/* ---- operations of many instructions: few lanes go one by one, more together ---- */

/* Lanes that execute the operation; the others keep all ones. */
static const uint32_t some_lanes[] = { 1, 2, 11, 12, 13, 31, 32 };

/* Runs the operation, and compares what each lane has with the model. */
static void check_for_lanes(struct rig *rig, uint32_t op, const char *sources, uint32_t lanes, uint64_t (*in)[OPERANDS])
{
    const char *const name = ppu_isa_row(op)->mnemonic;
    uint64_t out[LANES];
    char body[128];

    snprintf(body, sizeof(body), "isetp.ltu p2, v0, %u\n@p2 %s v16, %s", (unsigned)lanes, name, sources);
    load_program(rig, body);
    run_program(rig, in, out);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        const uint64_t expected = lane < lanes ? reference_models[op](in[lane][0], in[lane][1], 0) : UINT32_MAX;
        check(name, out[lane], expected, in[lane], 1);
    }
}

/* A float of any exponent, or one of the nearest to a quarter of a turn. */
static uint32_t float_operand(uint64_t *random)
{
    const uint32_t bits = (uint32_t)random_next(random);

    if (random_below(random, 2) == 0) {
        return random_below(random, 4) == 0 ? bits & 0xff800000u : bits;
    }
    const float near = (float)((double)random_below(random, 1u << (1 + random_below(random, 24))) * acos(0.0));
    uint32_t value;

    memcpy(&value, &near, sizeof(value));
    return (value + (uint32_t)random_below(random, 5) - 2) ^ (bits & 0x80000000u);
}

static void functions_like_the_library(void **state)
{
    static const uint32_t ops[] = { PPU_OP_FSIN, PPU_OP_FCOS, PPU_OP_FEXP2, PPU_OP_FLOG2 };
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < PPU_ARRAY_SIZE(ops) * 200; round++) {
        const uint32_t op = ops[round % PPU_ARRAY_SIZE(ops)], lanes = some_lanes[round % PPU_ARRAY_SIZE(some_lanes)];
        uint64_t in[LANES][OPERANDS] = { { 0 } };

        for (uint32_t lane = 0; lane < LANES; lane++) {
            in[lane][0] = float_operand(&random);
            if (op == PPU_OP_FEXP2 && random_below(&random, 4)) {
                const float small = (float)(int32_t)random_next(&random) * 0x1p-23f;
                in[lane][0] = reference_of_f(small);
            }
        }
        check_for_lanes(rig, op, "v10", lanes, in);
    }
}

/* Dividends are multiples of the divisor, one less or more, or anything. */
static void quotients_like_the_host(void **state)
{
    static const uint32_t ops[] = { PPU_OP_DIV, PPU_OP_DIVU, PPU_OP_REM, PPU_OP_REMU };
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t round = 0; round < PPU_ARRAY_SIZE(ops) * 200; round++) {
        const uint32_t op = ops[round % PPU_ARRAY_SIZE(ops)], lanes = some_lanes[round % PPU_ARRAY_SIZE(some_lanes)];
        uint64_t in[LANES][OPERANDS] = { { 0 } };

        for (uint32_t lane = 0; lane < LANES; lane++) {
            const uint32_t divisor = (uint32_t)(random_next(&random) >> (32 + random_below(&random, 32)));
            const uint32_t multiple = divisor ? divisor * (uint32_t)random_below(&random, UINT32_MAX / divisor) : 5;
            in[lane][0] = random_below(&random, 4)
                              ? multiple + (uint32_t)random_below(&random, 3) - 1
                              : (uint32_t)(random_next(&random) >> (32 + random_below(&random, 32)));
            in[lane][1] = random_below(&random, 4) == 0 ? 0u - divisor : divisor;
        }
        check_for_lanes(rig, op, "v10, v12", lanes, in);
    }
}

static void immediates_and_modifiers(void **state)
{
    static const struct {
        const char *text;
        uint64_t a;
        uint64_t expected;
        uint32_t width;
    } cases[] = {
        { "add v16, v10, -1", 5, 4, 1 },
        { "add64 v16, v10, -1", 0, UINT64_MAX, 2 },
        { "mov64 v16, -2", 0, UINT64_MAX - 1, 2 },
        { "fadd v16, v10, 1.5", 0x3f800000, 0x40200000, 1 },
        { "dadd v16, v10, 1.5", 0x3ff0000000000000, 0x4004000000000000, 2 },
        { "fmul v16, v10, 0x40000000", 0x3f800000, 0x40000000, 1 },
        { "fadd v16, -v10, v18", 0x3f800000, 0xbf800000, 1 },
        { "fadd v16, |v10|, v18", 0xbf800000, 0x3f800000, 1 },
        { "fadd v16, -|v10|, v18", 0x3f800000, 0xbf800000, 1 },
        { "fmov v16, -v10", 0x7fc12345, 0xffc12345, 1 },
        { "dmov v16, |v10|", 0xfff4000000000001, 0x7ff4000000000001, 2 },
        { "ffma v16, v10, v10, -v10", 0x40400000, 0x40c00000, 1 },
        { "shl v16, v10, 32", 1, 0, 1 },
        { "mov v16, s10", 77, 77, 1 },
        { "add v16, s10, v10", 77, 154, 1 },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        uint64_t in[LANES][OPERANDS] = { { 0 } }, out[LANES];

        for (uint32_t lane = 0; lane < LANES; lane++) {
            in[lane][0] = cases[i].a;
        }
        load_program(rig, cases[i].text);
        run_program(rig, in, out);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            check(cases[i].text, out[lane], cases[i].expected, in[lane], cases[i].width);
        }
    }
}

static void guards_leave_other_lanes_alone(void **state)
{
    struct rig *rig = *state;
    uint64_t in[LANES][OPERANDS] = { { 0 } }, out[LANES];

    load_program(rig, "isetp.ltu p2, v0, 10\n@p2 mov v16, 1\n@!p2 mov v17, 2\n");
    run_program(rig, in, out);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        assert_true(out[lane] == (lane < 10 ? 0xffffffff00000001ull : 0x00000002ffffffffull));
    }
}

/* ---- comparisons ---- */

static bool int_compare(uint32_t kind, uint64_t a, uint64_t b, bool wide)
{
    int64_t sa = wide ? (int64_t)a : (int32_t)(uint32_t)a, sb = wide ? (int64_t)b : (int32_t)(uint32_t)b;
    uint64_t ua = wide ? a : (uint32_t)a, ub = wide ? b : (uint32_t)b;
    const bool table[PPU_ICMP_COUNT] = { ua == ub, ua != ub, sa<sb, sa <= sb, sa> sb, sa >= sb, ua<ub, ua <= ub, ua> ub,
                                         ua >= ub };

    return table[kind];
}

static bool float_compare(uint32_t kind, double a, double b)
{
    bool nan = isnan(a) || isnan(b);
    const bool table[PPU_FCMP_COUNT] = {
        !nan && a == b, !nan && a != b, !nan && a < b, !nan && a <= b, !nan && a > b, !nan && a >= b, nan || a == b,
        nan || a != b,  nan || a < b,   nan || a <= b, nan || a > b,   nan || a >= b, !nan,           nan
    };

    return table[kind];
}

static void comparisons(void **state)
{
    static const char *const icmp[] = { "eq", "ne", "lt", "le", "gt", "ge", "ltu", "leu", "gtu", "geu" };
    static const char *const fcmp[] = { "eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                        "neu", "ltu", "leu", "gtu", "geu", "num", "nan" };
    static const char *const ops[] = { "isetp", "isetp64", "fsetp", "dsetp" };
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t op = 0; op < 4; op++) {
        for (uint32_t kind = 0; kind < (op < 2 ? PPU_ICMP_COUNT : PPU_FCMP_COUNT); kind++) {
            uint64_t in[LANES][OPERANDS], out[LANES];
            char body[128];

            for (uint32_t i = 0; i < LANES * OPERANDS; i++) {
                in[i / OPERANDS][i % OPERANDS] = operand(&random);
            }
            in[3][1] = in[3][0];
            snprintf(body, sizeof(body), "%s.%s p1, v10, v12\nmov64 v16, 0\n@p1 mov64 v16, 1", ops[op],
                     op < 2 ? icmp[kind] : fcmp[kind]);
            load_program(rig, body);
            run_program(rig, in, out);
            for (uint32_t lane = 0; lane < LANES; lane++) {
                uint64_t a = in[lane][0], b = in[lane][1];
                bool expected = op < 2    ? int_compare(kind, a, b, op == 1)
                                : op == 2 ? float_compare(kind, reference_f(a), reference_f(b))
                                          : float_compare(kind, reference_d(a), reference_d(b));
                check(body, out[lane], expected, in[lane], 2);
            }
        }
    }
}

/* ---- conversions ---- */

static void conversions(void **state)
{
    static const struct {
        const char *types;
        uint64_t in;
        uint64_t out;
    } cases[] = {
        { "s32.f32", 0x7fc00000, 0 },
        { "s32.f32", 0x4f000000, 0x7fffffff },
        { "s32.f32", 0xff800000, 0x80000000 },
        { "s32.f32", 0x40200000, 2 },
        { "s32.f32.rtz", 0x40700000, 3 },
        { "s32.f32.rtp", 0x40200000, 3 },
        { "s32.f32.rtn", 0xc0200000, 0xfffffffd },
        { "s32.f32", 0xc0600000, 0xfffffffc },
        { "u32.f32", 0xbf800000, 0 },
        { "u32.f32", 0x4f800000, 0xffffffff },
        { "u8.f32", 0x43800000, 0xff },
        { "s8.f32", 0xc3800000, 0xffffff80 },
        { "s8.u32", 0x1ff, 0xffffffff },
        { "s8.u32.sat", 0x1ff, 0x7f },
        { "u16.s32.sat", 0xffffffff, 0 },
        { "u16.s32", 0xffffffff, 0xffff },
        { "s64.s32", 0x80000000, 0xffffffff80000000 },
        { "u64.u32", 0x80000000, 0x80000000 },
        { "u32.u64.sat", 0x100000000, 0xffffffff },
        { "f32.s32", 0x01000001, 0x4b800000 },
        { "f32.s32.rtp", 0x01000001, 0x4b800001 },
        { "f32.u64", 0xffffffffffffffff, 0x5f800000 },
        { "f32.u64.rtz", 0xffffffffffffffff, 0x5f7fffff },
        { "f32.s64", 0x8000000000000000, 0xdf000000 },
        { "f64.s64", 0x0020000000000001, 0x4340000000000000 },
        { "f64.f32", 0x00000001, 0x36a0000000000000 },
        { "f64.f32", 0x7f800001, 0x7ff8000000000000 },
        { "f32.f64", 0x3ff0000010000000, 0x3f800000 },
        { "f32.f64", 0x3ff0000030000000, 0x3f800002 },
        { "f32.f64", 0x47f0000000000000, 0x7f800000 },
        { "f32.f64.rtz", 0x47f0000000000000, 0x7f7fffff },
        { "f32.f64", 0x36a0000000000000, 0x00000001 },
        { "f32.f64", 0x3690000000000000, 0x00000000 },
        { "f32.f64.rtp", 0x3690000000000000, 0x00000001 },
        { "f32.f64", 0x380fffffffffffff, 0x00800000 },
        { "f16.f32", 0x3f800000, 0x3c00 },
        { "f16.f32", 0x477ff000, 0x7c00 },
        { "f16.f32", 0x477fefff, 0x7bff },
        { "f16.f32", 0x33800000, 0x0001 },
        { "f16.f32", 0x33000000, 0x0000 },
        { "f32.f16", 0x0001, 0x33800000 },
        { "f32.f16", 0xfc00, 0xff800000 },
        { "f32.f16", 0x7e00, 0x7fc00000 },
        { "f32.f32.sat", 0x40000000, 0x3f800000 },
        { "f32.f32.sat", 0xbf800000, 0 },
        { "f32.f32.sat", 0x3f000000, 0x3f000000 },
        { "s64.f64", 0x43e0000000000000, 0x7fffffffffffffff },
        { "u64.f64", 0x43f0000000000000, 0xffffffffffffffff },
        { "u64.f64", 0x43e0000000000000, 0x8000000000000000 },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        uint64_t in[LANES][OPERANDS] = { { 0 } }, out[LANES];
        char body[128];

        for (uint32_t lane = 0; lane < LANES; lane++) {
            in[lane][0] = cases[i].in;
        }
        snprintf(body, sizeof(body), "mov64 v16, 0\ncvt.%s v16, v10", cases[i].types);
        load_program(rig, body);
        run_program(rig, in, out);
        check(body, out[7], cases[i].out, in[7], 2);
    }
}

/* Float conversions to nearest are what the host's compiler does. */
static void conversions_like_the_host(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();
    static const char *const types[] = { "f32.s64", "f32.u64", "f64.s64", "f64.u64", "f32.f64", "f64.f32" };

    for (uint32_t round = 0; round < 60; round++) {
        uint64_t in[LANES][OPERANDS], out[LANES];
        char body[128];

        for (uint32_t i = 0; i < LANES * OPERANDS; i++) {
            in[i / OPERANDS][i % OPERANDS] = operand(&random);
        }
        snprintf(body, sizeof(body), "mov64 v16, 0\ncvt.%s v16, v10", types[round % 6]);
        load_program(rig, body);
        run_program(rig, in, out);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t a = in[lane][0];
            const uint64_t expected[6] = {
                reference_of_f((float)(int64_t)a),     reference_of_f((float)a),
                reference_of_d((double)(int64_t)a),    reference_of_d((double)a),
                reference_of_f((float)reference_d(a)), reference_of_d((double)reference_f(a))
            };
            check(body, out[lane], expected[round % 6], in[lane], 2);
        }
    }
}

/* Every pair of types, rounding and saturation on corner operands. */
static void conversions_of_all_types(void **state)
{
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t i = 0; i < PPU_TYPE_COUNT * PPU_TYPE_COUNT * PPU_ROUND_COUNT * 2u; i++) {
        struct ppu_insn insn = {
            .op = PPU_OP_CVT,
            .format = PPU_FMT_CVT,
            .rd = 16,
            .ra = 10,
            .dtype = (uint8_t)(i % PPU_TYPE_COUNT),
            .stype = (uint8_t)(i / PPU_TYPE_COUNT % PPU_TYPE_COUNT),
            .round = (uint8_t)(i / PPU_TYPE_COUNT / PPU_TYPE_COUNT % PPU_ROUND_COUNT),
            .sat = (uint8_t)(i / PPU_TYPE_COUNT / PPU_TYPE_COUNT / PPU_ROUND_COUNT),
        };
        uint64_t in[LANES][OPERANDS], out[LANES];
        char body[64];

        snprintf(body, sizeof(body), ".word 0x%llx", (unsigned long long)ppu_isa_encode(&insn));
        for (uint32_t k = 0; k < LANES * OPERANDS; k++) {
            in[k / OPERANDS][k % OPERANDS] = operand(&random);
        }
        load_program(rig, body);
        run_program(rig, in, out);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            check(body, out[lane], reference_convert(in[lane][0], insn.stype, insn.dtype, insn.round, insn.sat),
                  in[lane], ppu_type_words(insn.dtype));
        }
    }
}

/* Every half as a source, and each float halfway between two halves, with its neighbours, as what becomes a half. */
static void conversions_of_all_halves(void **state)
{
    static const struct {
        const char *body;
        uint32_t stype, dtype, round;
    } cases[] = {
        { "cvt.f32.f16 v16, v10", PPU_TYPE_F16, PPU_TYPE_F32, PPU_ROUND_RNE },
        { "cvt.f64.f16 v16, v10", PPU_TYPE_F16, PPU_TYPE_F64, PPU_ROUND_RNE },
        { "cvt.s32.f16.rtz v16, v10", PPU_TYPE_F16, PPU_TYPE_S32, PPU_ROUND_RTZ },
        { "cvt.u32.f16.rtz v16, v10", PPU_TYPE_F16, PPU_TYPE_U32, PPU_ROUND_RTZ },
        { "cvt.f16.f32 v16, v10", PPU_TYPE_F32, PPU_TYPE_F16, PPU_ROUND_RNE },
        { "cvt.f16.f32.rtz v16, v10", PPU_TYPE_F32, PPU_TYPE_F16, PPU_ROUND_RTZ },
        { "cvt.f16.f32.rtp v16, v10", PPU_TYPE_F32, PPU_TYPE_F16, PPU_ROUND_RTP },
        { "cvt.f16.f32.rtn v16, v10", PPU_TYPE_F32, PPU_TYPE_F16, PPU_ROUND_RTN },
        { "cvt.f16.f64 v16, v10", PPU_TYPE_F64, PPU_TYPE_F16, PPU_ROUND_RNE },
        { "cvt.f16.f64.rtz v16, v10", PPU_TYPE_F64, PPU_TYPE_F16, PPU_ROUND_RTZ },
        { "cvt.f16.f64.rtp v16, v10", PPU_TYPE_F64, PPU_TYPE_F16, PPU_ROUND_RTP },
        { "cvt.f16.f64.rtn v16, v10", PPU_TYPE_F64, PPU_TYPE_F16, PPU_ROUND_RTN },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        load_program(rig, cases[i].body);
        for (uint32_t half = 0; half < 65536; half += LANES) {
            uint64_t in[LANES][OPERANDS] = { 0 }, out[LANES];

            for (uint32_t lane = 0; lane < LANES; lane++) {
                const float from =
                    reference_f(reference_convert(half + lane, PPU_TYPE_F16, PPU_TYPE_F32, PPU_ROUND_RNE, false));
                const float to =
                    reference_f(reference_convert(half + lane + 1, PPU_TYPE_F16, PPU_TYPE_F32, PPU_ROUND_RNE, false));
                const double middle = ((double)from + to) / 2;

                in[lane][0] = half + lane;
                if (cases[i].stype == PPU_TYPE_F32) {
                    in[lane][0] = (reference_of_f((float)middle) + half / LANES % 3 - 1) & UINT32_MAX;
                } else if (cases[i].stype == PPU_TYPE_F64) {
                    in[lane][0] = reference_of_d(middle) + half / LANES % 3 - 1;
                }
            }
            run_program(rig, in, out);
            for (uint32_t lane = 0; lane < LANES; lane++) {
                check(cases[i].body, out[lane],
                      reference_convert(in[lane][0], cases[i].stype, cases[i].dtype, cases[i].round, false), in[lane],
                      ppu_type_words(cases[i].dtype));
            }
        }
    }
}

/* Doubles near floats, and halfway between two, in each direction; those below the least and above the largest, too. */
static void conversions_of_doubles_to_floats(void **state)
{
    static const char *const bodies[PPU_ROUND_COUNT] = { [PPU_ROUND_RNE] = "cvt.f32.f64 v16, v10",
                                                         [PPU_ROUND_RTZ] = "cvt.f32.f64.rtz v16, v10",
                                                         [PPU_ROUND_RTP] = "cvt.f32.f64.rtp v16, v10",
                                                         [PPU_ROUND_RTN] = "cvt.f32.f64.rtn v16, v10" };
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t i = 0; i < PPU_ROUND_COUNT * 512u; i++) {
        const uint32_t round = i / 512;
        uint64_t in[LANES][OPERANDS] = { 0 }, out[LANES];

        for (uint32_t lane = 0; lane < LANES; lane++) {
            const uint64_t bits = operand(&random);
            const double near = (double)reference_f(bits), next = (double)reference_f(bits + 1);
            in[lane][0] = reference_of_d(lane % 2 != 0 ? (near + next) / 2 : near) + lane / 2 % 3 - 1;
        }
        if (i % 512 == 0) {
            load_program(rig, bodies[round]);
        }
        run_program(rig, in, out);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            check(bodies[round], out[lane], reference_convert(in[lane][0], PPU_TYPE_F64, PPU_TYPE_F32, round, false),
                  in[lane], 1);
        }
    }
}

/* ---- predicates, lanes ---- */

static void lanes_exchange(void **state)
{
    static const struct {
        const char *body;
        const char *what;
    } cases[] = {
        { "mov v17, 0\nadd v10, v0, 100\nmov v12, 40\nshfl v16, v10, v12", "shfl" },
        { "mov v17, 0\nadd v10, v0, 100\nshflup v16, v10, 3", "shflup" },
        { "mov v17, 0\nadd v10, v0, 100\nshfldn v16, v10, 5", "shfldn" },
        { "mov v17, 0\nadd v10, v0, 100\nshflx v16, v10, 1", "shflx" },
        { "mov v17, 0\nadd v10, v0, 100\nreadlane s20, v10, 9\nmov v16, s20", "readlane" },
        { "mov v17, 0\nadd v10, v0, 100\nisetp.gtu p0, v0, 6\nmov v16, 0\n@p0 readfirst s20, v10\nmov v16, s20",
          "readfirst" },
        { "mov64 v16, 0\nisetp.gtu p0, v0, 6\nballot s20, p0\nmov v16, s20", "ballot" },
        { "mov64 v16, 0\nisetp.gtu p0, v0, 6\n@p0 active s20\nmov v16, s20", "active" },
        { "mov64 v16, 0\nisetp.gtu p0, v0, 6\nballot v16, p0", "ballot, vector form" },
        { "mov64 v16, 0\nisetp.gtu p0, v0, 6\n@p0 ballot v16, !p0", "ballot of some, vector form" },
        { "mov64 v16, 0\nisetp.gtu p0, v0, 6\n@p0 active v16", "active, vector form" },
        { "mov64 v16, 0\nisetp.gtu p0, v0, 6\nvoteall p1, p0\nvoteany p2, p0\np2r v16", "vote" },
        { "mov64 v16, 0\nisetp.gtu p0, v0, 6\nand v3, v0, 1\nisetp.ne p1, v3, 0\npand p2, p0, !p1\npor p3, p0, p1\n"
          "pxor p4, p0, p1\np2r v16",
          "plop" },
        { "mov64 v16, 0\nr2p v0, 15\np2r v16", "r2p" },
        { "mov v17, 0\nisetp.gtu p0, v0, 6\nmov v3, 5\nsel v16, v0, v3, !p0", "sel" },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < PPU_ARRAY_SIZE(cases); i++) {
        uint64_t in[LANES][OPERANDS] = { { 0 } }, out[LANES];

        load_program(rig, cases[i].body);
        run_program(rig, in, out);
        for (uint32_t l = 0; l < LANES; l++) {
            uint32_t p0 = l > 6, p1 = l & 1;
            const uint64_t expected[] = {
                108,
                100 + (l >= 3 ? l - 3 : l),
                100 + (l + 5 < 32 ? l + 5 : l),
                100 + (l ^ 1),
                109,
                107,
                0xffffff80,
                0xffffff80,
                0xffffff80,
                0, /* of those above 6, nobody lacks it; the others keep theirs */
                p0 ? 0xffffff80 : 0,
                p0 | 0u << 1 | 1u << 2,
                p0 | p1 << 1 | (p0 & !p1) << 2 | (p0 | p1) << 3 | (p0 ^ p1) << 4,
                l & 15,
                p0 ? 5 : l,
            };
            check(cases[i].what, out[l], expected[i], in[l], 2);
        }
    }
}

/* ---- memory ---- */

static void widths_of_memory(void **state)
{
    static const char *const spaces[] = { "g", "s", "l" };
    static const struct {
        const char *load;
        const char *store;
        uint32_t bytes;
    } widths[] = {
        { "u8", "u8", 1 },   { "s8", "u8", 1 },   { "u16", "u16", 2 },
        { "s16", "s16", 2 }, { "b32", "b32", 4 }, { "b64", "b64", 8 },
    };
    struct rig *rig = *state;
    uint64_t random = random_seed();

    for (uint32_t space = 0; space < 3; space++) {
        for (uint32_t w = 0; w < PPU_ARRAY_SIZE(widths); w++) {
            uint64_t in[LANES][OPERANDS], out[LANES];
            uint64_t params[5] = { DATA_VA, OUT_VA, 0, 0, 0 };
            char text[1024];

            for (uint32_t i = 0; i < LANES * OPERANDS; i++) {
                in[i / OPERANDS][i % OPERANDS] = random_next(&random);
            }
            snprintf(text, sizeof(text),
                     ".kernel k\n.vregs 40\n.shared 512\n.local 32\nldp.b64 s0, [0]\nldp.b64 s2, [8]\n"
                     "rdsr v0, %%tid\nmul v1, v0, 24\nldg.b64 v10, [s0+v1]\nmov64 v16, 0\n%s\n"
                     "st%s.%s v10, [v20+4]\nld%s.%s v16, [v20+4]\nshl v2, v0, 3\nstg.b64 v16, [s2+v2]\nexit\n",
                     space == 0   ? "mulwu v20, v0, 8\nadd64 v20, v20, s2\nadd64 v20, v20, 4096"
                     : space == 1 ? "shl v20, v0, 3"
                                  : "mov v20, 8",
                     spaces[space], widths[w].store, spaces[space], widths[w].load);
            rig_load_text(rig, text);
            if (space == 1) {
                rig_load_text(rig, text);
            }
            struct ppu_tmd tmd = rig_tmd(rig, "k");
            tmd.shared_bytes = 512;
            memcpy(rig_data(rig, 0), in, sizeof(in));
            rig_params(rig, 0, &tmd, params, sizeof(params));
            rig_run_done(rig, &tmd);
            memcpy(out, rig_data(rig, OUT_AT), sizeof(out));
            for (uint32_t lane = 0; lane < LANES; lane++) {
                uint64_t kept =
                    widths[w].bytes == 8 ? in[lane][0] : in[lane][0] & ((1ull << (8 * widths[w].bytes)) - 1);
                if (widths[w].load[0] == 's') {
                    kept = (uint32_t)(widths[w].bytes == 1 ? (int32_t)(int8_t)kept : (int32_t)(int16_t)kept);
                }
                /* Words of b64 overlap their neighbours' when lanes are 8 bytes apart and start at 4: they do not. */
                check(text, out[lane], kept, in[lane], 2);
            }
        }
    }
}

/* One to four words, each with an offset of its own; a register may be offset and destination. */
static void gathers(void **state)
{
    struct rig *rig = *state;
    uint32_t *table = rig_data(rig, 0), *out = rig_data(rig, OUT_AT);
    uint64_t params[5] = { DATA_VA, OUT_VA, 0, 0, 0 };

    for (uint32_t count = 1; count <= 4; count++) {
        char text[1024];

        snprintf(
            text, sizeof(text),
            ".kernel k\n.vregs 40\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %%tid\nshl v8, v0, 2\nadd v9, v8, 400\n"
            "xor v10, v8, 4\nmov v11, 0\ngather.n%u v8, [s0+v8+8]\nshl v2, v0, 4\nstg.b128 v8, [s2+v2]\nexit\n",
            count);
        rig_load_text(rig, text);
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        for (uint32_t i = 0; i < 1024; i++) {
            table[i] = 0x80000000u + i;
        }
        rig_params(rig, 0, &tmd, params, sizeof(params));
        rig_run_done(rig, &tmd);
        for (uint32_t lane = 0; lane < LANES; lane++) {
            const uint32_t offset[4] = { 4 * lane, 4 * lane + 400, (4 * lane) ^ 4, 0 };

            for (uint32_t i = 0; i < 4; i++) {
                assert_int_equal(out[4 * lane + i], i < count ? table[(offset[i] + 8) / 4] : offset[i]);
            }
        }
    }
}

static void atomics(void **state)
{
    static const struct {
        const char *op;
        uint64_t before;
        uint64_t value;
        uint64_t after32;
        uint64_t after64;
    } cases[] = {
        { "add", 0xffffffff, 2, 1, 0x100000001 },
        { "min", 0xffffffff, 2, 0xffffffff, 2 },
        { "max", 0xffffffff, 2, 2, 0xffffffff },
        { "minu", 0xffffffff, 2, 2, 2 },
        { "maxu", 0xffffffff, 2, 0xffffffff, 0xffffffff },
        { "and", 0xff, 0x3c3, 0xc3, 0xc3 },
        { "or", 0xff, 0x300, 0x3ff, 0x3ff },
        { "xor", 0xff, 0x3c3, 0x33c, 0x33c },
        { "xchg", 5, 9, 9, 9 },
        { "min", 0x8000000000000000, 1, 0, 0x8000000000000000 },
        { "fadd", 0x3f800000, 0x40000000, 0x40400000, 0 },
    };
    struct rig *rig = *state;

    for (size_t i = 0; i < 2 * PPU_ARRAY_SIZE(cases); i++) {
        bool wide = i % 2, shared = i % 3 == 0;
        uint64_t in[LANES][OPERANDS] = { { 0 } }, out[LANES],
                 expected = wide ? cases[i / 2].after64 : cases[i / 2].after32;
        uint64_t params[5] = { DATA_VA, OUT_VA, 0, 0, 0 };
        char text[1024];

        if (wide && strcmp(cases[i / 2].op, "fadd") == 0) {
            continue;
        }
        in[0][0] = cases[i / 2].before;
        in[0][1] = cases[i / 2].value;
        snprintf(text, sizeof(text),
                 ".kernel k\n.vregs 40\n.shared 64\nldp.b64 s0, [0]\nldp.b64 s2, [8]\nrdsr v0, %%tid\nmov v1, 0\n"
                 "ldg.b64 v10, [s0+v1]\nldg.b64 v12, [s0+v1+8]\n%s\n%s v14, %s, v12\n%s\nexit\n",
                 shared ? "mov v20, 8\nsts.b64 v10, [v20]" : "mov64 v20, s2\nstg.b64 v10, [v20]",
                 shared ? (wide ? "atoms.XX.b64" : "atoms.XX") : (wide ? "atomg.XX.b64.acq_rel.dev" : "atomg.XX"),
                 "[v20]",
                 shared ? "lds.b64 v16, [v20]\nmov64 v22, s2\nstg.b64 v16, [v22]\nstg.b64 v14, [v22+8]"
                        : "stg.b64 v14, [v20+8]");
        {
            char *found = strstr(text, "XX");
            char tail[512];
            snprintf(tail, sizeof(tail), "%s%s", cases[i / 2].op, found + 2);
            snprintf(found, sizeof(text) - (size_t)(found - text), "%s", tail);
        }
        rig_load_text(rig, text);
        struct ppu_tmd tmd = rig_tmd(rig, "k");
        tmd.cta[0] = 1;
        memcpy(rig_data(rig, 0), in, sizeof(in));
        rig_params(rig, 0, &tmd, params, sizeof(params));
        rig_run_done(rig, &tmd);
        memcpy(out, rig_data(rig, OUT_AT), sizeof(out));
        check(text, out[0], expected, in[0], wide ? 2 : 1);
        check(text, out[1], cases[i / 2].before, in[0], wide ? 2 : 1);
    }
}

static void compare_and_swap(void **state)
{
    struct rig *rig = *state;
    uint64_t in[LANES][OPERANDS] = { { 0 } }, out[LANES];

    load_program(rig, "mov64 v16, 0\nmov64 v20, s2\nadd64 v20, v20, 4096\nmov v24, v0\nadd v25, v0, 1\n"
                      "atomg.xchg _, [v20], v18\natomg.cas v16, [v20], v24");
    run_program(rig, in, out);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        assert_int_equal(out[lane], lane); /* lane by lane, lowest first */
    }
    assert_int_equal(*(uint32_t *)rig_data(rig, OUT_AT + 4096), LANES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "every arithmetic operation on corner operands", arithmetic, rig_setup_slices, rig_teardown, NULL },
        { "sine, cosine, powers and logarithms are the library's", functions_like_the_library, rig_setup_slices,
          rig_teardown, NULL },
        { "quotients and remainders are the host's", quotients_like_the_host, rig_setup_slices, rig_teardown, NULL },
        { "immediates and operand modifiers", immediates_and_modifiers, rig_setup_slices, rig_teardown, NULL },
        { "guards leave other lanes alone [A14]", guards_leave_other_lanes_alone, rig_setup_slices, rig_teardown,
          NULL },
        { "every comparison on corner operands", comparisons, rig_setup_slices, rig_teardown, NULL },
        { "conversions at their borders", conversions, rig_setup_slices, rig_teardown, NULL },
        { "conversions to nearest are those of C", conversions_like_the_host, rig_setup_slices, rig_teardown, NULL },
        { "conversions of all types like the model", conversions_of_all_types, rig_setup_slices, rig_teardown, NULL },
        { "conversions of doubles to floats like the model", conversions_of_doubles_to_floats, rig_setup_slices,
          rig_teardown, NULL },
        { "conversions of all halves like the model", conversions_of_all_halves, rig_setup_slices, rig_teardown, NULL },
        { "lanes exchange, vote and select", lanes_exchange, rig_setup_slices, rig_teardown, NULL },
        { "every width of memory access [A7]", widths_of_memory, rig_setup_slices, rig_teardown, NULL },
        { "a gather brings one to four words [A7]", gathers, rig_setup_slices, rig_teardown, NULL },
        { "every atomic operation [A7]", atomics, rig_setup_slices, rig_teardown, NULL },
        { "compare-and-swap goes lane by lane [A7]", compare_and_swap, rig_setup_slices, rig_teardown, NULL },
    };

    return cmocka_run_group_tests_name("engine: instructions", tests, NULL, NULL);
}
