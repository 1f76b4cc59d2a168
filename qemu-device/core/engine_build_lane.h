/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Predicates, selection and numbers of lanes. Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_LANE_H
#define PPU_CORE_ENGINE_BUILD_LANE_H

/* ---- comparisons: a function for each kind and type ---- */

BUILD_INLINE void pred_put(struct lanes *pred, uint32_t pass, uint32_t set, uint32_t value)
{
    pred->m[pass] = (pred->m[pass] & ~set) | (value & set);
}

BUILD_INLINE void pred_set(struct exec *x, uint32_t pred, uint32_t pass, uint32_t set, uint32_t value)
{
    pred_put(&x->w->pred[pred], pass, set, value);
}

#define COMPARE_LANE(name, ta, same, i) (0u - (uint32_t)holds_##name(GET(ta, same, 0, i), GET(ta, same, 1, i)))
#define COMPARE_LANES(name, ta, same)               \
    EACH_LANE                                       \
    {                                               \
        words[i] = COMPARE_LANE(name, ta, same, i); \
    }
#define COMPARE_FORM(function, name, ta, same)                                                        \
    static enum step function(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                 \
        struct lanes *const pred = &x->w->pred[code->insn.rd];                                        \
        const uint32_t passes = x->passes;                                                            \
        struct operands r;                                                                            \
        operands_find_form(x, code, 3, same, WORDS_##ta == 2 ? 3 : 0, &r);                            \
        for (uint32_t pass = 0; pass < passes; pass++) {                                              \
            if (mask->m[pass] != 0) {                                                                 \
                uint32_t words[PPU_LANES];                                                            \
                COMPARE_LANES(name, ta, same)                                                         \
                pred_put(pred, pass, mask->m[pass], gather_mask(words));                              \
            }                                                                                         \
            operands_step(&r, 3, same);                                                               \
        }                                                                                             \
        return STEP_NEXT;                                                                             \
    }

#define COMPARISON(name, ta, tsigned, expression)                                                              \
    BUILD_INLINE bool holds_##name(type_##ta a, type_##ta b)                                                   \
    {                                                                                                          \
        const tsigned sa = (tsigned)a, sb = (tsigned)b;                                                        \
        (void)sa, (void)sb;                                                                                    \
        return expression;                                                                                     \
    }                                                                                                          \
    COMPARE_FORM(setp_##name, name, ta, 0)                                                                     \
    COMPARE_FORM(setp_##name##_b, name, ta, CODE_SAME_B)                                                       \
    static enum step setp_##name##_any(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                          \
        struct operands found;                                                                                 \
        operands_find(x, code, 3, &found);                                                                     \
        for (uint32_t pass = 0; pass < x->passes; pass++) {                                                    \
            if (mask->m[pass] != 0) {                                                                          \
                struct operands r = found;                                                                     \
                struct spread spread;                                                                          \
                uint32_t words[PPU_LANES];                                                                     \
                spread_all(code, &r, 3, WORDS_##ta == 2 ? 3 : 0, PPU_LANES, &spread);                          \
                COMPARE_LANES(name, ta, 0)                                                                     \
                pred_set(x, code->insn.rd, pass, mask->m[pass], gather_mask(words));                           \
            }                                                                                                  \
            operands_step(&found, 3, code->kinds);                                                             \
        }                                                                                                      \
        return STEP_NEXT;                                                                                      \
    }                                                                                                          \
    static enum step setp_##name##_one(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                          \
        struct operands r;                                                                                     \
        struct spread spread;                                                                                  \
        uint32_t value;                                                                                        \
        (void)mask;                                                                                            \
        operands_find(x, code, 3, &r);                                                                         \
        if (code->kinds & CODE_MODIFIED) {                                                                     \
            spread_all(code, &r, 3, WORDS_##ta == 2 ? 3 : 0, 1, &spread);                                      \
        }                                                                                                      \
        value = COMPARE_LANE(name, ta, 0, 0);                                                                  \
        for (uint32_t pass = 0; pass < x->passes; pass++) {                                                    \
            pred_set(x, code->insn.rd, pass, ALL_LANES, value);                                                \
        }                                                                                                      \
        return STEP_NEXT;                                                                                      \
    }                                                                                                          \
    static const struct forms forms_##name = { { setp_##name, NULL, setp_##name##_b },                         \
                                               setp_##name##_any,                                              \
                                               setp_##name##_one };

#define PPU_ICMP(name, text, number, expression)    \
    COMPARISON(ICMP_##name, u, int32_t, expression) \
    COMPARISON(ICMP64_##name, U, int64_t, expression)
#define PPU_FCMP(name, text, number, expression)  \
    COMPARISON(FCMP_##name, f, float, expression) \
    COMPARISON(FCMP64_##name, g, double, expression)
#include "ppu/isa.def"

static engine_op *compare_op(const struct code_insn *code)
{
    static const struct forms *const integers[2][PPU_ICMP_COUNT] = {
        {
#define PPU_ICMP(name, text, number, expression) [number] = &forms_ICMP_##name,
#include "ppu/isa.def"
        },
        {
#define PPU_ICMP(name, text, number, expression) [number] = &forms_ICMP64_##name,
#include "ppu/isa.def"
        },
    };
    static const struct forms *const floats[2][PPU_FCMP_COUNT] = {
        {
#define PPU_FCMP(name, text, number, expression) [number] = &forms_FCMP_##name,
#include "ppu/isa.def"
        },
        {
#define PPU_FCMP(name, text, number, expression) [number] = &forms_FCMP64_##name,
#include "ppu/isa.def"
        },
    };
    const struct ppu_insn *insn = &code->insn;
    const bool is_float = insn->op == PPU_OP_FSETP || insn->op == PPU_OP_DSETP;

    return form_of(code, is_float ? floats[insn->op == PPU_OP_DSETP][insn->cmp]
                                  : integers[insn->op == PPU_OP_ISETP64][insn->cmp]);
}

/* ---- predicates ---- */

BUILD_INLINE uint32_t pred_word(const struct exec *x, uint32_t operand, uint32_t pass)
{
    const uint32_t word = x->w->pred[operand & PPU_GUARD_PRED].m[pass];

    return operand & PPU_PRED_NEGATE ? ~word : word;
}

#define PREDICATE_OP(name, expression)                                                                   \
    static enum step op_##name(struct exec *x, const struct code_insn *code, const struct lanes *mask)   \
    {                                                                                                    \
        for (uint32_t pass = 0; pass < x->passes; pass++) {                                              \
            const uint32_t a = pred_word(x, code->insn.ra, pass), b = pred_word(x, code->insn.rb, pass); \
            pred_set(x, code->insn.rd, pass, mask->m[pass], expression);                                 \
        }                                                                                                \
        return STEP_NEXT;                                                                                \
    }
PREDICATE_OP(PAND, a &b)
PREDICATE_OP(POR, a | b)
PREDICATE_OP(PXOR, a ^ b)

BUILD_INLINE void select_low(const struct operands *r, uint32_t same, uint32_t chosen, uint32_t set)
{
    EACH_LANE
    {
        const uint32_t value = LANE_PICK(chosen, i, low_of(r, same, 0, i), low_of(r, same, 1, i));
        r->low[i] = LANE_PICK(set, i, value, r->low[i]);
    }
}

BUILD_INLINE void select_high(const struct operands *r, uint32_t same, uint32_t chosen, uint32_t set)
{
    EACH_LANE
    {
        const uint32_t value = LANE_PICK(chosen, i, high_of(r, same, 0, i), high_of(r, same, 1, i));
        r->high[i] = LANE_PICK(set, i, value, r->high[i]);
    }
}

#define SELECT_FORM(function, words, same)                                                            \
    static enum step function(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                 \
        struct operands r;                                                                            \
        operands_find_form(x, code, 3, same, (words) == 2 ? 3 : 0, &r);                               \
        for (uint32_t pass = 0; pass < x->passes; pass++) {                                           \
            const uint32_t set = mask->m[pass], chosen = pred_word(x, code->insn.pred, pass);         \
            if (set != 0) {                                                                           \
                select_low(&r, same, chosen, set);                                                    \
                if ((words) == 2) {                                                                   \
                    select_high(&r, same, chosen, set);                                               \
                }                                                                                     \
            }                                                                                         \
            operands_step(&r, 3, same);                                                               \
        }                                                                                             \
        return STEP_NEXT;                                                                             \
    }
#define SELECT(name, words)               \
    SELECT_FORM(op_##name, words, 0)      \
    SELECT_FORM(op_##name##_a, words, 1)  \
    SELECT_FORM(op_##name##_b, words, 2)  \
    SELECT_FORM(op_##name##_ab, words, 3) \
    static engine_op *const ops_##name[] = { op_##name, op_##name##_a, op_##name##_b, op_##name##_ab };
SELECT(SEL, 1)
SELECT(SEL64, 2)

/* ---- special registers: those that are one number, or count up with the lanes ---- */

static enum step op_special_same(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const uint32_t value = engine_special(x, code->insn.ra, 0);

    for (uint32_t pass = 0; pass < x->passes; pass++) {
        uint32_t *const to = row(x, code->insn.rd, pass);
        const uint32_t set = mask->m[pass];

        if (set == ALL_LANES) {
            EACH_LANE
            {
                to[i] = value;
            }
        } else if (set != 0) {
            EACH_LANE
            {
                to[i] = LANE_PICK(set, i, value, to[i]);
            }
        }
    }
    return STEP_NEXT;
}

/* Threads of a CTA are numbered x first, so that no lane needs a division. */
static enum step op_special_thread(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const struct ppu_tmd *tmd = &x->task->tmd;
    const uint32_t first = x->w->number * x->wave;
    uint32_t at[3] = { first % tmd->cta[0], first / tmd->cta[0] % tmd->cta[1], first / tmd->cta[0] / tmd->cta[1] };
    const uint32_t which = code->insn.ra - PPU_SR_TID_X;

    for (uint32_t pass = 0; pass < x->passes; pass++) {
        uint32_t *const to = row(x, code->insn.rd, pass);

        for (uint32_t i = 0; i < PPU_LANES; i++) {
            if (mask->m[pass] >> i & 1u) {
                to[i] = at[which];
            }
            at[0]++;
            if (at[0] == tmd->cta[0]) {
                at[0] = 0;
                at[1]++;
            }
            if (at[1] == tmd->cta[1]) {
                at[1] = 0;
                at[2]++;
            }
        }
    }
    return STEP_NEXT;
}

static enum step op_special_line(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const uint32_t first = code->insn.ra == PPU_SR_LANE ? 0 : x->w->number * x->wave;
    const struct ppu_tmd *tmd = &x->task->tmd;

    if (code->insn.ra == PPU_SR_TID_X && tmd->cta[1] * tmd->cta[2] != 1) {
        return op_special_thread(x, code, mask);
    }
    if (whole(x, mask)) {
        steady_put(x, code->insn.rd, first, 1);
        return STEP_NEXT;
    }
    for (uint32_t pass = 0; pass < x->passes; pass++) {
        uint32_t *const to = row(x, code->insn.rd, pass);
        const uint32_t set = mask->m[pass], begin = first + pass * PPU_LANES;

        if (set != 0) {
            EACH_LANE
            {
                to[i] = LANE_PICK(set, i, begin + i, to[i]);
            }
        }
    }
    return STEP_NEXT;
}

static enum step op_special_one(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    x->w->sreg[code->insn.rd] = engine_special(x, code->insn.ra, lanes_first(mask));
    return STEP_NEXT;
}

/* Where a CTA is, and how large: what nearly every program begins with. */
static enum step op_special_cta(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    (void)mask;
    x->w->sreg[code->insn.rd] = x->cta->cta.id[code->insn.ra - PPU_SR_CTA_X];
    return STEP_NEXT;
}

static enum step op_special_ntid(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    (void)mask;
    x->w->sreg[code->insn.rd] = x->task->tmd.cta[code->insn.ra - PPU_SR_NTID_X];
    return STEP_NEXT;
}

static engine_op *special_op(const struct ppu_insn *insn)
{
    if (insn->scalar) {
        const bool cta = insn->ra >= PPU_SR_CTA_X && insn->ra <= PPU_SR_CTA_Z;
        const bool ntid = insn->ra >= PPU_SR_NTID_X && insn->ra <= PPU_SR_NTID_Z;
        return cta ? op_special_cta : ntid ? op_special_ntid : op_special_one;
    }
    switch (insn->ra) {
    case PPU_SR_TID_X:
    case PPU_SR_TID:
    case PPU_SR_LANE:
        return op_special_line;
    case PPU_SR_TID_Y:
    case PPU_SR_TID_Z:
        return op_special_thread;
    default:
        return op_special_same;
    }
}

/* NULL: none of these. */
static engine_op *lane_op(const struct code_insn *code)
{
    const struct ppu_insn *const insn = &code->insn;

    switch (insn->op) {
    case PPU_OP_ISETP:
    case PPU_OP_ISETP64:
    case PPU_OP_FSETP:
    case PPU_OP_DSETP:
        return compare_op(code);
    case PPU_OP_PAND:
        return op_PAND;
    case PPU_OP_POR:
        return op_POR;
    case PPU_OP_PXOR:
        return op_PXOR;
    case PPU_OP_SEL:
        return insn->scalar ? NULL : ops_SEL[code->kinds & (CODE_SAME_A | CODE_SAME_B)];
    case PPU_OP_SEL64:
        return insn->scalar ? NULL : ops_SEL64[code->kinds & (CODE_SAME_A | CODE_SAME_B)];
    case PPU_OP_RDSR:
        return special_op(insn);
    default:
        return NULL;
    }
}

#endif
