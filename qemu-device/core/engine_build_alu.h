/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic: an operation for each row of engine_alu.def, in vector and in scalar form. Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_ALU_H
#define PPU_CORE_ENGINE_BUILD_ALU_H

/* ---- one lane ---- */

BUILD_INLINE uint32_t divided(int32_t a, int32_t b)
{
    return b == 0 ? UINT32_MAX : b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}
BUILD_INLINE uint32_t remainder_of(int32_t a, int32_t b)
{
    return b == 0 ? (uint32_t)a : b == -1 ? 0u : (uint32_t)(a % b);
}
BUILD_INLINE uint64_t divided64(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0u - (uint64_t)a : (uint64_t)(a / b);
}
BUILD_INLINE uint64_t remainder_of64(int64_t a, int64_t b)
{
    return b == 0 ? (uint64_t)a : b == -1 ? 0u : (uint64_t)(a % b);
}
BUILD_INLINE uint32_t upper(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}
BUILD_INLINE uint32_t upper_signed(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)(int32_t)a * (int32_t)b) >> 32);
}
BUILD_INLINE uint32_t reversed(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}
/* `value` is a extended to 64 bits: what lies above bit 31. */
BUILD_INLINE uint32_t field_of(uint64_t value, uint32_t from, uint32_t bits)
{
    from = from > 32 ? 32 : from;
    bits = bits > 32 ? 32 : bits;
    return (uint32_t)(value >> from & ((1ull << bits) - 1));
}
BUILD_INLINE uint32_t field(uint32_t a, uint32_t from, uint32_t bits)
{
    return field_of(a, from, bits);
}
BUILD_INLINE uint32_t field_signed(uint32_t a, uint32_t from, uint32_t bits)
{
    uint32_t value = field_of((uint64_t)(int64_t)(int32_t)a, from, bits);
    uint32_t sign = bits == 0 ? 0 : 1u << ((bits > 32 ? 32 : bits) - 1);

    return (value ^ sign) - sign;
}
BUILD_INLINE uint32_t permuted(uint32_t a, uint32_t b, uint32_t selectors)
{
    uint64_t bytes = a | (uint64_t)b << 32;
    uint32_t value = 0;

    for (uint32_t i = 0; i < 4; i++) {
        uint32_t selector = selectors >> (4 * i);
        uint32_t byte = (uint32_t)(bytes >> (8 * (selector & 7))) & 0xffu;
        byte = selector & 8 ? (byte & 0x80u ? 0xffu : 0) : byte;
        value |= byte << (8 * i);
    }
    return value;
}

/* A NaN gives way to the other; -0 is smaller than 0. */
#define SMALLER(type, name, sign)                               \
    BUILD_INLINE type name(type a, type b)                      \
    {                                                           \
        type least = a < b || (a == b && sign(a) != 0) ? a : b; \
        return a != a ? b : b != b ? a : least;                 \
    }
#define LARGER(type, name, sign)                               \
    BUILD_INLINE type name(type a, type b)                     \
    {                                                          \
        type most = a > b || (a == b && sign(a) == 0) ? a : b; \
        return a != a ? b : b != b ? a : most;                 \
    }
SMALLER(float, smaller, __builtin_signbitf)
SMALLER(double, smaller64, __builtin_signbit)
LARGER(float, larger, __builtin_signbitf)
LARGER(double, larger64, __builtin_signbit)

/* ---- operands by type letter, from the lower and the upper word of a lane ---- */

typedef uint32_t type_u;
typedef int32_t type_s;
typedef uint64_t type_U;
typedef int64_t type_S;
typedef float type_f;
typedef double type_g;
typedef uint32_t type_m;
typedef uint64_t type_n;
typedef uint32_t type_z; /* a source that is not there */

/* As registers keep them. */
typedef uint32_t bits_u;
typedef uint32_t bits_s;
typedef uint32_t bits_m;
typedef uint32_t bits_f;
typedef uint64_t bits_U;
typedef uint64_t bits_S;
typedef uint64_t bits_n;
typedef uint64_t bits_g;

#define GET_z(low, high) 0u
#define GET_u(low, high) (low)
#define GET_s(low, high) ((int32_t)(low))
#define GET_m(low, high) (low)
#define GET_f(low, high) float_of(low)
#define GET_U(low, high) ((low) | (uint64_t)(high) << 32)
#define GET_S(low, high) ((int64_t)GET_U(low, high))
#define GET_n(low, high) GET_U(low, high)
#define GET_g(low, high) double_of(GET_U(low, high))

BUILD_INLINE float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}
BUILD_INLINE double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* What is stored for a value: its bits, NaNs made one. */
BUILD_INLINE uint32_t bits_of_f(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return value != value ? F32_NAN : bits;
}
BUILD_INLINE uint64_t bits_of_g(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return value != value ? F64_NAN : bits;
}
#define bits_of_u(value) ((uint32_t)(value))
#define bits_of_s(value) ((uint32_t)(value))
#define bits_of_m(value) ((uint32_t)(value))
#define bits_of_U(value) ((uint64_t)(value))
#define bits_of_S(value) ((uint64_t)(value))
#define bits_of_n(value) ((uint64_t)(value))

#define WORDS_z 0
#define WORDS_u 1
#define WORDS_s 1
#define WORDS_m 1
#define WORDS_f 1
#define WORDS_U 2
#define WORDS_S 2
#define WORDS_n 2
#define WORDS_g 2

/* ---- rows of an instruction ---- */

struct operand {
    const uint32_t *low;
    const uint32_t *high;
};

/* Sources in the order a, b, c; the rows of the first pass. Those of the others follow. */
struct operands {
    uint32_t *low;
    uint32_t *high;
    struct operand o[3];
    uint32_t same[3][2]; /* words of sources that are the same for all lanes, in place of rows */
};

/* Words of source n of lane i; the sources in `same` are the same for all. */
BUILD_INLINE uint32_t low_of(const struct operands *r, uint32_t same, uint32_t n, uint32_t i)
{
    return same >> n & 1u ? r->same[n][0] : r->o[n].low[i];
}
BUILD_INLINE uint32_t high_of(const struct operands *r, uint32_t same, uint32_t n, uint32_t i)
{
    return same >> n & 1u ? r->same[n][1] : r->o[n].high[i];
}

/* A scalar register, an immediate, or 32 lanes as 32 lanes, with the modifiers of floats. */
struct spread {
    uint32_t low[3][PPU_LANES];
    uint32_t high[3][PPU_LANES];
};

BUILD_INLINE struct operand operand_at(const struct exec *x, uint32_t reg, bool scalar)
{
    const uint32_t *low = scalar ? &x->w->sreg[reg] : row(x, reg, 0);

    return (struct operand){ low, low + (scalar ? 1u : row_step(x, reg)) };
}

/* Sources that are none of the instruction's may lie beyond its registers: they are not asked for. */
BUILD_INLINE void operands_find(const struct exec *x, const struct code_insn *code, uint32_t sources,
                                struct operands *out)
{
    const struct ppu_insn *insn = &code->insn;

    if (insn->scalar) {
        out->low = &x->w->sreg[insn->rd];
        out->high = out->low + 1;
    } else {
        out->low = row(x, insn->rd, 0);
        out->high = out->low + row_step(x, insn->rd);
    }
    if (sources & 1u) {
        out->o[0] = operand_at(x, insn->ra, insn->a_scalar);
    }
    if (sources & 2u) {
        out->o[1] =
            insn->immed ? (struct operand){ &code->imm[0], &code->imm[1] } : operand_at(x, insn->rb, insn->b_scalar);
    }
    if (sources & 4u) {
        out->o[2] = operand_at(x, insn->rc, insn->c_scalar);
    }
}

/* Source n when it is known whether it is the same for all lanes: its words are then kept where no store changes them.
 */
BUILD_INLINE void source_find(const struct exec *x, const struct code_insn *code, uint32_t n, uint32_t reg, bool same,
                              bool wide, struct operands *out)
{
    if (same) {
        const uint32_t *const words = n == 1 && code->insn.immed ? code->imm : &x->w->sreg[reg];
        out->same[n][0] = words[0];
        out->same[n][1] = wide ? words[1] : 0;
    } else {
        out->o[n] = operand_at(x, reg, false);
    }
}

/* As operands_find() when the sources are known that are `same` for all lanes. */
BUILD_INLINE void operands_find_form(const struct exec *x, const struct code_insn *code, uint32_t sources,
                                     uint32_t same, uint32_t wide, struct operands *out)
{
    const struct ppu_insn *insn = &code->insn;

    out->low = row(x, insn->rd, 0);
    out->high = out->low + row_step(x, insn->rd);
    if (sources & 1u) {
        source_find(x, code, 0, insn->ra, same & CODE_SAME_A, wide & 1u, out);
    }
    if (sources & 2u) {
        source_find(x, code, 1, insn->rb, same & CODE_SAME_B, wide & 2u, out);
    }
    if (sources & 4u) {
        source_find(x, code, 2, insn->rc, same & CODE_SAME_C, wide & 4u, out);
    }
}

/* On to the next pass. */
BUILD_INLINE void operands_step(struct operands *r, uint32_t sources, uint32_t same)
{
    r->low += PPU_LANES;
    r->high += PPU_LANES;
    for (uint32_t n = 0; n < 3; n++) {
        if ((sources & ~same) >> n & 1u) {
            r->o[n].low += PPU_LANES;
            r->o[n].high += PPU_LANES;
        }
    }
}

/* `count` words, 32 or 1, of a row, or of one word that is the same for all lanes. */
BUILD_INLINE void spread_words(uint32_t *restrict to, const uint32_t *restrict from, bool same, uint32_t count,
                               uint32_t keep, uint32_t flip)
{
    if (same) {
        const uint32_t word = (from[0] & keep) ^ flip;
        for (uint32_t i = 0; i < count; i++) {
            to[i] = word;
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            to[i] = (from[i] & keep) ^ flip;
        }
    }
}

/* Makes a source one of 32 lanes (`count` 1: of one). Modifiers act on the word that has the sign. */
BUILD_INLINE void spread_one(const struct code_insn *code, struct operand *o, uint32_t n, bool wide, uint32_t count,
                             struct spread *to)
{
    static const uint8_t negates[3] = { PPU_FMOD_NEG_A, PPU_FMOD_NEG_B, PPU_FMOD_NEG_C };
    static const uint8_t absolutes[3] = { PPU_FMOD_ABS_A, PPU_FMOD_ABS_B, 0 };
    const uint32_t keep = code->insn.fmod & absolutes[n] ? 0x7fffffffu : UINT32_MAX;
    const uint32_t flip = code->insn.fmod & negates[n] ? 0x80000000u : 0;
    const bool same = code->kinds >> n & 1u;

    if (wide) {
        spread_words(to->low[n], o->low, same, count, UINT32_MAX, 0);
        spread_words(to->high[n], o->high, same, count, keep, flip);
    } else {
        spread_words(to->low[n], o->low, same, count, keep, flip);
    }
    *o = (struct operand){ to->low[n], to->high[n] };
}

BUILD_INLINE void spread_all(const struct code_insn *code, struct operands *r, uint32_t sources, uint32_t wide,
                             uint32_t count, struct spread *to)
{
    for (uint32_t n = 0; n < 3; n++) {
        if (sources >> n & 1u) {
            spread_one(code, &r->o[n], n, wide >> n & 1u, count, to);
        }
    }
}

/* ---- an operation ---- */

/* Every lane of the warp. */
BUILD_INLINE bool whole(const struct exec *x, const struct lanes *mask)
{
    return ((half(mask, 0) ^ x->whole[0]) | (half(mask, 1) ^ x->whole[1])) == 0;
}

static const uint32_t lane_bit[PPU_LANES] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31,
};

/*
 * One of two values, by whether a set has lane i. A lane's bit as the sign is what AVX2 chooses by; other levels have
 * masks, or no shifts by lane.
 */
#if defined(__AVX2__) && !defined(__AVX512F__)
#define LANE_PICK(set, i, in, out) ((int32_t)(~(set) << (31u - (i))) < 0 ? (out) : (in))
#else
#define LANE_PICK(set, i, in, out) (((set)&lane_bit[i]) != 0 ? (in) : (out))
#endif

/* Stores the result of lane i, `low_` and `high_`. */
#define PUT(words, i)      \
    r.low[i] = low_;       \
    if ((words) == 2) {    \
        r.high[i] = high_; \
    }

struct result {
    uint32_t low[PPU_LANES];
    uint32_t high[PPU_LANES];
};

BUILD_INLINE void keep(uint32_t *to, const uint32_t *from, uint32_t set)
{
    EACH_LANE
    {
        to[i] = LANE_PICK(set, i, from[i], to[i]);
    }
}

#define FEW_LANES 4u /* of 64 bits: sooner done one by one */

/* What MAKE says for the lanes of a set. Vectorizers put two rows only where every lane is put. */
#define SOME_LANES(words, same, MAKE, ...)                      \
    if ((words) == 1) {                                         \
        EACH_LANE                                               \
        {                                                       \
            MAKE(same, i, __VA_ARGS__)                          \
            r.low[i] = LANE_PICK(set, i, low_, r.low[i]);       \
        }                                                       \
    } else if ((uint32_t)__builtin_popcount(set) < FEW_LANES) { \
        BITS_EACH(set, i)                                       \
        {                                                       \
            MAKE(same, i, __VA_ARGS__)                          \
            PUT(words, i)                                       \
        }                                                       \
    } else {                                                    \
        struct result result;                                   \
        EACH_LANE                                               \
        {                                                       \
            MAKE(same, i, __VA_ARGS__)                          \
            result.low[i] = low_;                               \
            result.high[i] = high_;                             \
        }                                                       \
        keep(r.low, result.low, set);                           \
        keep(r.high, result.high, set);                         \
    }

/*
 * A function for instructions whose sources in `same` are the same for all lanes, and the others rows. MAKE(same, i,
 * ...) computes low_ and high_ of lane i from the sources in r. Each pass is looked at for itself: in a loop that lanes
 * leave one by one most passes are still whole, or empty.
 */
#define FORM(function, sources, same, wide, words, MAKE, ...)                                         \
    static enum step function(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                 \
        const uint32_t *sets = mask->m, *const end = sets + x->passes;                                \
        struct operands r;                                                                            \
        operands_find_form(x, code, sources, same, wide, &r);                                         \
        do {                                                                                          \
            uint32_t set;                                                                             \
            for (; (set = *sets) == ALL_LANES; operands_step(&r, sources, same)) {                    \
                EACH_LANE                                                                             \
                {                                                                                     \
                    MAKE(same, i, __VA_ARGS__) PUT(words, i)                                          \
                }                                                                                     \
                if (++sets == end) {                                                                  \
                    return STEP_NEXT;                                                                 \
                }                                                                                     \
            }                                                                                         \
            if (set != 0) {                                                                           \
                SOME_LANES(words, same, MAKE, __VA_ARGS__)                                            \
            }                                                                                         \
            operands_step(&r, sources, same);                                                         \
        } while (++sets != end);                                                                      \
        return STEP_NEXT;                                                                             \
    }

/* Sources of any kind, modified or not: they are made rows first. */
#define FORM_ANY(function, sources, wide, words, MAKE, ...)                                           \
    static enum step function(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                 \
        struct operands found;                                                                        \
        operands_find(x, code, sources, &found);                                                      \
        for (uint32_t pass = 0; pass < x->passes; pass++) {                                           \
            const uint32_t set = mask->m[pass];                                                       \
            if (set != 0) {                                                                           \
                struct operands r = found;                                                            \
                struct spread spread;                                                                 \
                spread_all(code, &r, sources, wide, PPU_LANES, &spread);                              \
                SOME_LANES(words, 0, MAKE, __VA_ARGS__)                                               \
            }                                                                                         \
            operands_step(&found, sources, code->kinds);                                              \
        }                                                                                             \
        return STEP_NEXT;                                                                             \
    }

/* In the scalar unit. */
#define FORM_ONE(function, sources, wide, words, MAKE, ...)                                           \
    static enum step function(struct exec *x, const struct code_insn *code, const struct lanes *mask) \
    {                                                                                                 \
        struct operands r;                                                                            \
        struct spread spread;                                                                         \
        (void)mask;                                                                                   \
        operands_find(x, code, sources, &r);                                                          \
        if (code->kinds & CODE_MODIFIED) {                                                            \
            spread_all(code, &r, sources, wide, 1, &spread);                                          \
        }                                                                                             \
        MAKE(0, 0, __VA_ARGS__)                                                                       \
        PUT(words, 0)                                                                                 \
        return STEP_NEXT;                                                                             \
    }

/* The forms of an operation with one source, with two, with three, by CODE_SAME_*; NULL: the one for any. */
enum {
    FORMS = 8,
};
struct forms {
    engine_op *same[FORMS];
    engine_op *any;
    engine_op *one;
};
#define FORMS_REST(name, sources, wide, words, ...)              \
    FORM_ANY(op_##name##_any, sources, wide, words, __VA_ARGS__) \
    FORM_ONE(op_##name##_one, sources, wide, words, __VA_ARGS__)
#define FORMS_1(name, sources, wide, words, ...)          \
    FORM(op_##name, sources, 0, wide, words, __VA_ARGS__) \
    FORMS_REST(name, sources, wide, words, __VA_ARGS__)   \
    static const struct forms forms_##name = { { op_##name }, op_##name##_any, op_##name##_one };
#define FORMS_B(name, sources, wide, words, ...)              \
    FORM(op_##name, sources, 0, wide, words, __VA_ARGS__)     \
    FORM(op_##name##_b, sources, 2, wide, words, __VA_ARGS__) \
    FORMS_REST(name, sources, wide, words, __VA_ARGS__)       \
    static const struct forms forms_##name = { { op_##name, NULL, op_##name##_b }, op_##name##_any, op_##name##_one };
#define FORMS_2(name, sources, wide, words, ...)                                            \
    FORM(op_##name, sources, 0, wide, words, __VA_ARGS__)                                   \
    FORM(op_##name##_a, sources, 1, wide, words, __VA_ARGS__)                               \
    FORM(op_##name##_b, sources, 2, wide, words, __VA_ARGS__)                               \
    FORMS_REST(name, sources, wide, words, __VA_ARGS__)                                     \
    static const struct forms forms_##name = { { op_##name, op_##name##_a, op_##name##_b }, \
                                               op_##name##_any,                             \
                                               op_##name##_one };
#define FORMS_3(name, sources, wide, words, ...)                                                                    \
    FORM(op_##name, sources, 0, wide, words, __VA_ARGS__)                                                           \
    FORM(op_##name##_a, sources, 1, wide, words, __VA_ARGS__)                                                       \
    FORM(op_##name##_b, sources, 2, wide, words, __VA_ARGS__)                                                       \
    FORM(op_##name##_ab, sources, 3, wide, words, __VA_ARGS__)                                                      \
    FORM(op_##name##_c, sources, 4, wide, words, __VA_ARGS__)                                                       \
    FORM(op_##name##_ac, sources, 5, wide, words, __VA_ARGS__)                                                      \
    FORM(op_##name##_bc, sources, 6, wide, words, __VA_ARGS__)                                                      \
    FORMS_REST(name, sources, wide, words, __VA_ARGS__)                                                             \
    static const struct forms forms_##name = {                                                                      \
        { op_##name, op_##name##_a, op_##name##_b, op_##name##_ab, op_##name##_c, op_##name##_ac, op_##name##_bc }, \
        op_##name##_any,                                                                                            \
        op_##name##_one,                                                                                            \
    };

/* ---- what one computes: from values by type, or by halves of 64 bits, which vectorizers do best ---- */

#define SOURCES(ta, tb, tc) ((WORDS_##ta != 0) | (WORDS_##tb != 0) << 1 | (WORDS_##tc != 0) << 2)
#define WIDES(ta, tb, tc) ((WORDS_##ta == 2) | (WORDS_##tb == 2) << 1 | (WORDS_##tc == 2) << 2)

#define GET(t, same, n, i) GET_##t(low_of(&r, same, n, i), high_of(&r, same, n, i))
#define MAKE_VALUE(same, i, name, td, ta, tb, tc)                                                                      \
    const bits_##td bits_ = bits_of_##td(value_##name(GET(ta, same, 0, i), GET(tb, same, 1, i), GET(tc, same, 2, i))); \
    const uint32_t low_ = (uint32_t)bits_, high_ = (uint32_t)((uint64_t)bits_ >> 32);                                  \
    (void)high_;

#define VALUE(name, td, ta, tb, tc, expression)                                \
    BUILD_INLINE type_##td value_##name(type_##ta a, type_##tb b, type_##tc c) \
    {                                                                          \
        (void)a, (void)b, (void)c;                                             \
        return (expression);                                                   \
    }
#define OPERATION(name, td, ta, tb, tc, expression, forms_of) \
    VALUE(name, td, ta, tb, tc, expression)                   \
    forms_of(name, SOURCES(ta, tb, tc), WIDES(ta, tb, tc), WORDS_##td, MAKE_VALUE, name, td, ta, tb, tc)

/* Operations that cost much for each lane: only those that are wanted. */
#define DEAR(name, td, ta, tb, tc, expression)                                                                      \
    VALUE(name, td, ta, tb, tc, expression)                                                                         \
    static enum step op_##name##_any(struct exec *x, const struct code_insn *code, const struct lanes *mask)        \
    {                                                                                                               \
        struct operands found;                                                                                      \
        operands_find(x, code, SOURCES(ta, tb, tc), &found);                                                        \
        for (uint32_t pass = 0; pass < x->passes; pass++) {                                                         \
            if (mask->m[pass] != 0) {                                                                               \
                struct operands r = found;                                                                          \
                struct spread spread;                                                                               \
                spread_all(code, &r, SOURCES(ta, tb, tc), WIDES(ta, tb, tc), PPU_LANES, &spread);                   \
                BITS_EACH(mask->m[pass], i)                                                                         \
                {                                                                                                   \
                    MAKE_VALUE(0, i, name, td, ta, tb, tc)                                                          \
                    PUT(WORDS_##td, i)                                                                              \
                }                                                                                                   \
            }                                                                                                       \
            operands_step(&found, SOURCES(ta, tb, tc), code->kinds);                                                \
        }                                                                                                           \
        return STEP_NEXT;                                                                                           \
    }                                                                                                               \
    FORM_ONE(op_##name##_one, SOURCES(ta, tb, tc), WIDES(ta, tb, tc), WORDS_##td, MAKE_VALUE, name, td, ta, tb, tc) \
    static const struct forms forms_##name = { { NULL }, op_##name##_any, op_##name##_one };

#define HIGH_0(same, n, i) 0u
#define HIGH_1(same, n, i) 0u
#define HIGH_2(same, n, i) high_of(&r, same, n, i)
#define LOW_0(same, n, i) 0u
#define LOW_1(same, n, i) low_of(&r, same, n, i)
#define LOW_2(same, n, i) low_of(&r, same, n, i)

#define MAKE_HALVES(same, i, name, wa, wb, wc)                                                        \
    const uint32_t al = LOW_##wa(same, 0, i), ah = HIGH_##wa(same, 0, i), bl = LOW_##wb(same, 1, i);  \
    const uint32_t bh = HIGH_##wb(same, 1, i), cl = LOW_##wc(same, 2, i), ch = HIGH_##wc(same, 2, i); \
    const uint32_t low_ = low_##name(al, bl, cl), high_ = high_##name(al, ah, bl, bh, cl, ch, low_);  \
    (void)high_;

#define FORMS_WIDE_0 FORMS_2
#define FORMS_WIDE_2 FORMS_3
#define WIDE(name, wa, wb, wc, low_value, high_value)                                                               \
    BUILD_INLINE uint32_t low_##name(uint32_t al, uint32_t bl, uint32_t cl)                                         \
    {                                                                                                               \
        (void)al, (void)bl, (void)cl;                                                                               \
        return (low_value);                                                                                         \
    }                                                                                                               \
    BUILD_INLINE uint32_t high_##name(uint32_t al, uint32_t ah, uint32_t bl, uint32_t bh, uint32_t cl, uint32_t ch, \
                                      uint32_t low)                                                                 \
    {                                                                                                               \
        (void)al, (void)ah, (void)bl, (void)bh, (void)cl, (void)ch, (void)low;                                      \
        return (high_value);                                                                                        \
    }                                                                                                               \
    BUILD_NAME(FORMS_WIDE_, wc)                                                                                     \
    (name, ((wa) != 0) | ((wb) != 0) << 1 | ((wc) != 0) << 2, ((wa) == 2) | ((wb) == 2) << 1 | ((wc) == 2) << 2, 2, \
     MAKE_HALVES, name, wa, wb, wc)

#define ALU1(name, td, ta, expression) OPERATION(name, td, ta, z, z, expression, FORMS_1)
#define ALUB(name, td, tb, expression) OPERATION(name, td, z, tb, z, expression, FORMS_B)
#define ALU2(name, td, ta, tb, expression) OPERATION(name, td, ta, tb, z, expression, FORMS_2)
#define ALU3(name, td, ta, tb, tc, expression) OPERATION(name, td, ta, tb, tc, expression, FORMS_3)
#define DEAR1(name, td, ta, expression) DEAR(name, td, ta, z, z, expression)
#define DEAR2(name, td, ta, tb, expression) DEAR(name, td, ta, tb, z, expression)
#include "engine_alu.def"
#undef ALU1
#undef ALUB
#undef ALU2
#undef ALU3
#undef DEAR1
#undef DEAR2
#undef WIDE

/* ---- conversions ---- */

/* Those that kernels use most; engine_convert() does the others lane by lane. */
#define CONVERSIONS(row)                                                                                         \
    row(S32, F32, RNE, 0, f, s, (float)a) row(U32, F32, RNE, 0, f, u, (float)a)                                  \
        row(S32, S64, RTZ, 0, S, s, (int64_t)a) row(U32, U64, RTZ, 0, U, u, (uint64_t)a)                         \
            row(U8, U32, RTZ, 0, u, u, a & 0xffu) row(U16, U32, RTZ, 0, u, u, a & 0xffffu)                       \
                row(S8, S32, RTZ, 0, s, u, (int8_t)(uint8_t)a) row(S16, S32, RTZ, 0, s, u, (int16_t)(uint16_t)a) \
                    row(F32, S32, RTZ, 0, s, f, whole_of(a)) row(F32, F64, RNE, 0, g, f, (double)a)              \
                        row(F64, F32, RNE, 0, f, g, (float)a) row(S32, F64, RNE, 0, g, s, (double)a)             \
                            row(U32, F64, RNE, 0, g, u, (double)a) row(F64, S32, RTZ, 0, s, g, whole_of64(a))

/* Towards zero, the nearest where there is none; NaN: 0. */
BUILD_INLINE int32_t whole_of(float a)
{
    const float inside = a >= -2147483648.0f && a < 2147483648.0f ? a : 0.0f;
    const int32_t value = (int32_t)inside;

    return a >= 2147483648.0f ? INT32_MAX : a < -2147483648.0f ? INT32_MIN : value;
}

BUILD_INLINE int32_t whole_of64(double a)
{
    const double inside = a > -2147483649.0 && a < 2147483648.0 ? a : 0.0;
    const int32_t value = (int32_t)inside;

    return a >= 2147483648.0 ? INT32_MAX : a <= -2147483649.0 ? INT32_MIN : value;
}

#define CONVERSION(stype, dtype, round, sat, td, ta, expression) \
    OPERATION(CVT_##stype##_##dtype, td, ta, z, z, expression, FORMS_1)
CONVERSIONS(CONVERSION)
#undef CONVERSION

static enum step op_convert(struct exec *x, const struct code_insn *code, const struct lanes *mask)
{
    const struct ppu_insn *insn = &code->insn;
    const struct lanes set = insn->scalar ? lanes_one(0) : *mask;

    LANES_EACH(&set, lane)
    {
        uint64_t bits = insn->wa == 2 ? exec_read64(x, insn->ra, insn->a_scalar, lane)
                                      : exec_read(x, insn->ra, insn->a_scalar, lane);
        uint64_t value = engine_convert(bits, insn->stype, insn->dtype, insn->round, insn->sat);

        exec_write(x, insn->rd, insn->scalar, lane, (uint32_t)value);
        if (insn->wd == 2) {
            exec_write(x, insn->rd + 1u, insn->scalar, lane, (uint32_t)(value >> 32));
        }
    }
    return STEP_NEXT;
}

/* What executes an instruction of this form. */
static engine_op *form_of(const struct code_insn *code, const struct forms *forms)
{
    engine_op *known = code->kinds < FORMS ? forms->same[code->kinds] : NULL;

    return code->insn.scalar ? forms->one : known != NULL ? known : forms->any;
}

/* Between whole numbers that keep their value the rounding says nothing. */
static engine_op *conversion_op(const struct code_insn *code)
{
    const struct ppu_insn *const insn = &code->insn;
    const bool whole = insn->stype < PPU_TYPE_F16 && insn->dtype < PPU_TYPE_F16;

    if (insn->sat) {
        return op_convert;
    }
#define CONVERSION(from, to, rounding, sat, td, ta, expression)           \
    if (insn->stype == PPU_TYPE_##from && insn->dtype == PPU_TYPE_##to && \
        (whole || insn->round == PPU_ROUND_##rounding)) {                 \
        return form_of(code, &forms_CVT_##from##_##to);                   \
    }
    CONVERSIONS(CONVERSION)
#undef CONVERSION
    return op_convert;
}

/* NULL: not arithmetic. */
static engine_op *alu_op(const struct code_insn *code)
{
    static const struct forms *const ops[PPU_ISA_OPS] = {
#define ALU1(name, ...) [PPU_OP_##name] = &forms_##name,
#define ALUB(name, ...) [PPU_OP_##name] = &forms_##name,
#define ALU2(name, ...) [PPU_OP_##name] = &forms_##name,
#define ALU3(name, ...) [PPU_OP_##name] = &forms_##name,
#define DEAR1(name, ...) [PPU_OP_##name] = &forms_##name,
#define DEAR2(name, ...) [PPU_OP_##name] = &forms_##name,
#define WIDE(name, ...) [PPU_OP_##name] = &forms_##name,
#include "engine_alu.def"
#undef ALU1
#undef ALUB
#undef ALU2
#undef ALU3
#undef DEAR1
#undef DEAR2
#undef WIDE
    };

    if (code->insn.op == PPU_OP_CVT) {
        return conversion_op(code);
    }
    return ops[code->insn.op] != NULL ? form_of(code, ops[code->insn.op]) : NULL;
}

#endif
