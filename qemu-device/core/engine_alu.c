/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic: the operations of engine_alu.def over the lanes of a warp. */
#include "sm_state.h"

#include <math.h>
#include <string.h>

#define F32_NAN 0x7fc00000u
#define F64_NAN 0x7ff8000000000000ull

/* Where an operand's halves are for lane 0, and how far lanes are apart. */
struct operand {
    const uint32_t *low;
    const uint32_t *high;
    uint32_t step;
    uint8_t negate;
    uint8_t absolute;
};

struct result {
    uint32_t *low;
    uint32_t *high;
    uint32_t step;
};

/* ---- one lane ---- */

static inline uint32_t divided(int32_t a, int32_t b)
{
    return b == 0 ? UINT32_MAX : b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}
static inline uint32_t remainder_of(int32_t a, int32_t b)
{
    return b == 0 ? (uint32_t)a : b == -1 ? 0u : (uint32_t)(a % b);
}
static inline uint64_t divided64(int64_t a, int64_t b)
{
    return b == 0 ? UINT64_MAX : b == -1 ? 0u - (uint64_t)a : (uint64_t)(a / b);
}
static inline uint64_t remainder_of64(int64_t a, int64_t b)
{
    return b == 0 ? (uint64_t)a : b == -1 ? 0u : (uint64_t)(a % b);
}
static inline uint32_t reversed(uint32_t a)
{
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(a);
}
/* `value` is a extended to 64 bits: what lies above bit 31. */
static inline uint32_t field_of(uint64_t value, uint32_t from, uint32_t bits)
{
    from = from > 32 ? 32 : from;
    bits = bits > 32 ? 32 : bits;
    return (uint32_t)(value >> from & ((1ull << bits) - 1));
}
static inline uint32_t field(uint32_t a, uint32_t from, uint32_t bits)
{
    return field_of(a, from, bits);
}
static inline uint32_t field_signed(uint32_t a, uint32_t from, uint32_t bits)
{
    uint32_t value = field_of((uint64_t)(int64_t)(int32_t)a, from, bits);
    uint32_t sign = bits == 0 ? 0 : 1u << ((bits > 32 ? 32 : bits) - 1);

    return (value ^ sign) - sign;
}
static inline uint32_t permuted(uint32_t a, uint32_t b, uint32_t selectors)
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
static inline double smaller(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    return a < b || (a == b && signbit(a)) ? a : b;
}
static inline double larger(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    return a > b || (a == b && !signbit(a)) ? a : b;
}

/* ---- operands by type letter ---- */

typedef uint32_t type_u;
typedef int32_t type_s;
typedef uint64_t type_U;
typedef int64_t type_S;
typedef float type_f;
typedef double type_g;
typedef uint32_t type_m;
typedef uint64_t type_n;

static inline uint32_t get_u(const struct operand *o, uint32_t lane)
{
    return o->low[lane * o->step];
}
static inline int32_t get_s(const struct operand *o, uint32_t lane)
{
    return (int32_t)get_u(o, lane);
}
static inline uint64_t get_U(const struct operand *o, uint32_t lane)
{
    return o->low[lane * o->step] | (uint64_t)o->high[lane * o->step] << 32;
}
static inline int64_t get_S(const struct operand *o, uint32_t lane)
{
    return (int64_t)get_U(o, lane);
}
static inline uint32_t get_m(const struct operand *o, uint32_t lane)
{
    uint32_t bits = get_u(o, lane);

    bits = o->absolute ? bits & 0x7fffffffu : bits;
    return o->negate ? bits ^ 0x80000000u : bits;
}
static inline uint64_t get_n(const struct operand *o, uint32_t lane)
{
    uint64_t bits = get_U(o, lane);

    bits = o->absolute ? bits & ~(1ull << 63) : bits;
    return o->negate ? bits ^ 1ull << 63 : bits;
}
static inline float get_f(const struct operand *o, uint32_t lane)
{
    uint32_t bits = get_m(o, lane);
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}
static inline double get_g(const struct operand *o, uint32_t lane)
{
    uint64_t bits = get_n(o, lane);
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

static inline void put_u(const struct result *d, uint32_t lane, uint32_t value)
{
    d->low[lane * d->step] = value;
}
static inline void put_s(const struct result *d, uint32_t lane, int32_t value)
{
    put_u(d, lane, (uint32_t)value);
}
static inline void put_m(const struct result *d, uint32_t lane, uint32_t value)
{
    put_u(d, lane, value);
}
static inline void put_U(const struct result *d, uint32_t lane, uint64_t value)
{
    d->low[lane * d->step] = (uint32_t)value;
    d->high[lane * d->step] = (uint32_t)(value >> 32);
}
static inline void put_S(const struct result *d, uint32_t lane, int64_t value)
{
    put_U(d, lane, (uint64_t)value);
}
static inline void put_n(const struct result *d, uint32_t lane, uint64_t value)
{
    put_U(d, lane, value);
}
static inline void put_f(const struct result *d, uint32_t lane, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_u(d, lane, isnan(value) ? F32_NAN : bits);
}
static inline void put_g(const struct result *d, uint32_t lane, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_U(d, lane, isnan(value) ? F64_NAN : bits);
}

/* ---- conversions ---- */

/* Layout of a float type. */
struct float_format {
    uint32_t fraction_bits;
    uint32_t exponent_bits;
};

static struct float_format format_of(uint32_t type)
{
    return type == PPU_TYPE_F16   ? (struct float_format){ 10, 5 }
           : type == PPU_TYPE_F32 ? (struct float_format){ 23, 8 }
                                  : (struct float_format){ 52, 11 };
}

/* value >> shift, rounded; the sign decides what up and down mean. */
static uint64_t shifted(uint64_t value, uint32_t shift, bool negative, uint32_t round)
{
    uint64_t whole = shift > 63 ? 0 : value >> shift;
    uint64_t rest = shift > 63 ? value : value & ((1ull << shift) - 1);
    uint64_t half = shift == 0 || shift > 64 ? 0 : 1ull << (shift - 1);
    bool up = false;

    if (rest == 0) {
        return whole;
    }
    switch (round) {
    case PPU_ROUND_RNE:
        up = half != 0 && (rest > half || (rest == half && (whole & 1)));
        break;
    case PPU_ROUND_RTP:
        up = !negative;
        break;
    case PPU_ROUND_RTN:
        up = negative;
        break;
    default:
        break;
    }
    return whole + up;
}

/* (-1)^negative * magnitude * 2^exponent as a float of the type. */
static uint64_t packed(uint32_t type, bool negative, uint64_t magnitude, int32_t exponent, uint32_t round)
{
    struct float_format format = format_of(type);
    int32_t bias = (1 << (format.exponent_bits - 1)) - 1;
    uint64_t infinity = ((1ull << format.exponent_bits) - 1) << format.fraction_bits;
    uint64_t sign = negative ? 1ull << (format.exponent_bits + format.fraction_bits) : 0;
    int32_t top, biased, shift;
    uint64_t bits;

    if (magnitude == 0) {
        return sign;
    }
    top = __builtin_clzll(magnitude);
    magnitude <<= top; /* bit 63 is the leading one */
    exponent += 63 - top;
    biased = exponent + bias;
    shift = 63 - (int32_t)format.fraction_bits;
    if (biased <= 0) {
        shift += 1 - biased > 64 ? 64 : 1 - biased;
        biased = 0;
    }
    bits = shifted(magnitude, (uint32_t)shift, negative, round);
    /* Without its leading one; a carry out of the fraction raises the exponent by itself. */
    bits += biased > 0 ? ((uint64_t)(biased - 1) << format.fraction_bits) : 0;
    if (biased >= (1 << format.exponent_bits) - 1 || bits >= infinity) {
        bool largest =
            round == PPU_ROUND_RTZ || (round == PPU_ROUND_RTP && negative) || (round == PPU_ROUND_RTN && !negative);
        bits = infinity - largest;
    }
    return sign | bits;
}

/* A number taken apart. */
struct number {
    bool nan;
    bool infinite;
    bool negative;
    uint64_t magnitude;
    int32_t exponent;
};

static struct number float_parts(uint64_t bits, uint32_t type)
{
    struct float_format format = format_of(type);
    uint64_t fraction = bits & ((1ull << format.fraction_bits) - 1);
    int32_t biased = (int32_t)(bits >> format.fraction_bits & ((1ull << format.exponent_bits) - 1));
    int32_t bias = (1 << (format.exponent_bits - 1)) - 1;
    struct number n = { .negative = bits >> (format.fraction_bits + format.exponent_bits) & 1 };

    if (biased == (1 << format.exponent_bits) - 1) {
        n.nan = fraction != 0;
        n.infinite = fraction == 0;
        return n;
    }
    n.magnitude = biased ? fraction | 1ull << format.fraction_bits : fraction;
    n.exponent = (biased ? biased : 1) - bias - (int32_t)format.fraction_bits;
    return n;
}

static bool type_signed(uint32_t type)
{
    return type == PPU_TYPE_S8 || type == PPU_TYPE_S16 || type == PPU_TYPE_S32 || type == PPU_TYPE_S64;
}

static uint32_t type_bits(uint32_t type)
{
    return type <= PPU_TYPE_S8 ? 8 : type <= PPU_TYPE_S16 ? 16 : type <= PPU_TYPE_S32 ? 32 : 64;
}

/* The low bits of an integer register, extended by the type's sign to 64. */
static uint64_t extended(uint64_t bits, uint32_t type)
{
    uint64_t low = UINT64_MAX >> (64 - type_bits(type));
    uint64_t sign = low ^ low >> 1;

    return type_signed(type) && (bits & sign) ? bits | ~low : bits & low;
}

static struct number int_parts(uint64_t bits, uint32_t type)
{
    uint64_t value = extended(bits, type);
    bool negative = type_signed(type) && value >> 63;

    return (struct number){ .negative = negative, .magnitude = negative ? 0u - value : value };
}

/* The nearest value the integer type has. */
static uint64_t clamped(bool negative, uint64_t magnitude, uint32_t type)
{
    uint32_t bits = type_bits(type);
    uint64_t largest = UINT64_MAX >> (64 - bits + type_signed(type));

    if (!negative) {
        return magnitude > largest ? largest : magnitude;
    }
    if (!type_signed(type)) {
        return 0;
    }
    return 0u - (magnitude > largest + 1 ? largest + 1 : magnitude);
}

static uint64_t float_to_int(const struct number *n, uint32_t dtype, uint32_t round)
{
    uint64_t magnitude = n->magnitude;

    if (n->nan) {
        return 0;
    }
    if (n->infinite || (magnitude != 0 && n->exponent > __builtin_clzll(magnitude))) {
        return clamped(n->negative, UINT64_MAX, dtype);
    }
    magnitude = n->exponent >= 0
                    ? magnitude << n->exponent
                    : shifted(magnitude, (uint32_t)(n->exponent < -65 ? 65 : -n->exponent), n->negative, round);
    return clamped(n->negative, magnitude, dtype);
}

static bool type_float(uint32_t type)
{
    return type >= PPU_TYPE_F16;
}

static uint64_t to_float(const struct number *n, uint32_t dtype, uint32_t round, bool sat)
{
    struct float_format format = format_of(dtype);
    uint64_t infinity = ((1ull << format.exponent_bits) - 1) << format.fraction_bits;

    if (sat && (n->nan || n->negative)) {
        return 0;
    }
    if (sat && (n->infinite || (n->magnitude != 0 && n->exponent + 63 - __builtin_clzll(n->magnitude) >= 0))) {
        return packed(dtype, false, 1, 0, round);
    }
    if (n->nan) {
        return infinity | 1ull << (format.fraction_bits - 1);
    }
    if (n->infinite) {
        return infinity | (uint64_t)n->negative << (format.exponent_bits + format.fraction_bits);
    }
    return packed(dtype, n->negative, n->magnitude, n->exponent, round);
}

uint64_t engine_convert(uint64_t bits, uint32_t stype, uint32_t dtype, uint32_t round, bool sat)
{
    struct number n = type_float(stype) ? float_parts(bits, stype) : int_parts(bits, stype);

    if (type_float(dtype)) {
        return to_float(&n, dtype, round, sat);
    }
    if (type_float(stype)) {
        return extended(float_to_int(&n, dtype, round), dtype);
    }
    return extended(sat ? clamped(n.negative, n.magnitude, dtype) : extended(bits, stype), dtype);
}

/* ---- warps ---- */

static struct operand source(const struct exec *x, uint32_t reg, bool scalar)
{
    if (scalar) {
        return (struct operand){ &x->w->sreg[reg], &x->w->sreg[(reg + 1u) % PPU_SREGS], 0, 0, 0 };
    }
    return (struct operand){ exec_vreg(x, reg), exec_vreg(x, reg) + x->wave, 1, 0, 0 };
}

static struct operand immediate(const struct ppu_isa_row *row, const struct ppu_insn *insn, uint32_t words[2])
{
    bool high_half = (row->flags & PPU_IF_X) && insn->wb == 2;

    words[0] = high_half ? 0 : (uint32_t)insn->imm;
    words[1] = high_half ? (uint32_t)insn->imm : insn->imm < 0 ? UINT32_MAX : 0;
    return (struct operand){ &words[0], &words[1], 0, 0, 0 };
}

/* Runs a statement for each lane; `lane` is in scope. Whole passes have a loop of their own. */
#define LANES_RUN(set, statement)                                                           \
    for (uint32_t pass = 0; pass < passes; pass++) {                                        \
        uint32_t left = (set)->m[pass];                                                     \
        if (left == UINT32_MAX) {                                                           \
            for (uint32_t lane = pass * PPU_LANES; lane < (pass + 1) * PPU_LANES; lane++) { \
                statement;                                                                  \
            }                                                                               \
            continue;                                                                       \
        }                                                                                   \
        for (; left != 0; left &= left - 1) {                                               \
            uint32_t lane = pass * PPU_LANES + (uint32_t)__builtin_ctz(left);               \
            statement;                                                                      \
        }                                                                                   \
    }

#define ALU1(name, td, ta, expression)                                                                 \
    static void alu_##name(const struct result *d, const struct operand o[3], const struct lanes *set, \
                           uint32_t passes)                                                            \
    {                                                                                                  \
        LANES_RUN(set, type_##ta a = get_##ta(&o[0], lane); put_##td(d, lane, (expression)))           \
    }
#define ALU2(name, td, ta, tb, expression)                                                             \
    static void alu_##name(const struct result *d, const struct operand o[3], const struct lanes *set, \
                           uint32_t passes)                                                            \
    {                                                                                                  \
        LANES_RUN(set, type_##ta a = get_##ta(&o[0], lane); type_##tb b = get_##tb(&o[1], lane);       \
                  put_##td(d, lane, (expression)))                                                     \
    }
#define ALU3(name, td, ta, tb, tc, expression)                                                         \
    static void alu_##name(const struct result *d, const struct operand o[3], const struct lanes *set, \
                           uint32_t passes)                                                            \
    {                                                                                                  \
        LANES_RUN(set, type_##ta a = get_##ta(&o[0], lane); type_##tb b = get_##tb(&o[1], lane);       \
                  type_##tc c = get_##tc(&o[2], lane); put_##td(d, lane, (expression)))                \
    }
#include "engine_alu.def"
#undef ALU1
#undef ALU2
#undef ALU3

static void alu_MOV(const struct result *d, const struct operand o[3], const struct lanes *set, uint32_t passes)
{
    LANES_RUN(set, put_u(d, lane, get_u(&o[1], lane)))
}

static void alu_MOV64(const struct result *d, const struct operand o[3], const struct lanes *set, uint32_t passes)
{
    LANES_RUN(set, put_U(d, lane, get_U(&o[1], lane)))
}

typedef void alu_function(const struct result *d, const struct operand o[3], const struct lanes *set, uint32_t passes);

static alu_function *const functions[PPU_ISA_OPS] = {
    [PPU_OP_MOV] = alu_MOV,
    [PPU_OP_MOV64] = alu_MOV64,
#define ALU1(name, td, ta, expression) [PPU_OP_##name] = alu_##name,
#define ALU2(name, td, ta, tb, expression) [PPU_OP_##name] = alu_##name,
#define ALU3(name, td, ta, tb, tc, expression) [PPU_OP_##name] = alu_##name,
#include "engine_alu.def"
#undef ALU1
#undef ALU2
#undef ALU3
};

static void convert(const struct ppu_insn *insn, const struct result *d, const struct operand *a,
                    const struct lanes *set, uint32_t passes)
{
    LANES_RUN(set, uint64_t bits = insn->wa == 2 ? get_U(a, lane) : get_u(a, lane);
              uint64_t value = engine_convert(bits, insn->stype, insn->dtype, insn->round, insn->sat);
              if (insn->wd == 2) put_U(d, lane, value); else put_u(d, lane, (uint32_t)value))
}

bool engine_alu(struct exec *x, const struct ppu_insn *insn, const struct lanes *mask)
{
    const struct ppu_isa_row *row = ppu_isa_row(insn->op);
    struct lanes set = insn->scalar ? lanes_one(0) : *mask;
    /* An operand that the operation does not have reads a register that is there. */
    struct operand none = { .low = x->w->sreg, .high = x->w->sreg };
    struct operand o[3] = { none, none, none };
    struct result d;
    uint32_t imm[2];

    if (functions[insn->op] == NULL && insn->op != PPU_OP_CVT) {
        return false;
    }
    if (insn->wa) {
        o[0] = source(x, insn->ra, insn->a_scalar);
    }
    if (insn->wb) {
        o[1] = insn->immed ? immediate(row, insn, imm) : source(x, insn->rb, insn->b_scalar);
    }
    if (insn->wc) {
        o[2] = source(x, insn->rc, insn->c_scalar);
    }
    o[0].negate = (insn->fmod & PPU_FMOD_NEG_A) != 0;
    o[0].absolute = (insn->fmod & PPU_FMOD_ABS_A) != 0;
    o[1].negate = (insn->fmod & PPU_FMOD_NEG_B) != 0;
    o[1].absolute = (insn->fmod & PPU_FMOD_ABS_B) != 0;
    o[2].negate = (insn->fmod & PPU_FMOD_NEG_C) != 0;
    if (insn->scalar) {
        d = (struct result){ &x->w->sreg[insn->rd], &x->w->sreg[(insn->rd + 1u) % PPU_SREGS], 0 };
    } else {
        d = (struct result){ exec_vreg(x, insn->rd), exec_vreg(x, insn->rd) + x->wave, 1 };
    }
    if (insn->op == PPU_OP_CVT) {
        convert(insn, &d, &o[0], &set, x->passes);
    } else {
        functions[insn->op](&d, o, &set, x->passes);
    }
    return true;
}
