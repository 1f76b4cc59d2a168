/* SPDX-License-Identifier: MIT */
#include "tests/engine/models.h"

#include <math.h>
#include <string.h>

#define F32_NAN 0x7fc00000u
#define F64_NAN 0x7ff8000000000000ull

float reference_f(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float value;

    memcpy(&value, &low, sizeof(value));
    return value;
}

double reference_d(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

uint64_t reference_of_f(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return isnan(value) ? F32_NAN : bits;
}

uint64_t reference_of_d(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    return isnan(value) ? F64_NAN : bits;
}

#define MODEL(name, expression)                                                                                    \
    static uint64_t m_##name(uint64_t a, uint64_t b, uint64_t c)                                                   \
    {                                                                                                              \
        uint32_t A = (uint32_t)a, B = (uint32_t)b, C = (uint32_t)c;                                                \
        int32_t SA = (int32_t)A, SB = (int32_t)B;                                                                  \
        int64_t LA = (int64_t)a, LB = (int64_t)b;                                                                  \
        float FA = reference_f(a), FB = reference_f(b), FC = reference_f(c);                                       \
        double DA = reference_d(a), DB = reference_d(b), DC = reference_d(c);                                      \
        (void)A, (void)B, (void)C, (void)SA, (void)SB, (void)LA, (void)LB, (void)FA, (void)FB, (void)FC, (void)DA, \
            (void)DB, (void)DC;                                                                                    \
        return (uint64_t)(expression);                                                                             \
    }

static uint64_t count_bits(uint64_t value)
{
    uint64_t n = 0;

    for (; value != 0; value >>= 1) {
        n += value & 1;
    }
    return n;
}

static uint64_t leading(uint64_t value, uint32_t width)
{
    uint64_t n = 0;

    while (n < width && !(value >> (width - 1 - n) & 1)) {
        n++;
    }
    return n;
}

static uint64_t trailing(uint64_t value, uint32_t width)
{
    uint64_t n = 0;

    while (n < width && !(value >> n & 1)) {
        n++;
    }
    return n;
}

static uint64_t mirrored(uint32_t value)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < 32; i++) {
        out |= (value >> i & 1u) << (31 - i);
    }
    return out;
}

static uint64_t extract(uint32_t a, uint32_t from, uint32_t count, bool with_sign)
{
    uint32_t out = 0, top = 0;

    count = count > 32 ? 32 : count;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t position = (uint64_t)(from > 32 ? 32 : from) + i;
        uint32_t bit = position < 32 ? a >> position & 1u : with_sign ? a >> 31 : 0;
        out |= bit << i;
        top = bit;
    }
    for (uint32_t i = count; with_sign && count != 0 && i < 32; i++) {
        out |= top << i;
    }
    return out;
}

static uint64_t bytes_of(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < 4; i++) {
        uint32_t pick = c >> (i * 4) & 15u, source = (pick & 7u) < 4 ? a : b, byte = source >> (8 * (pick & 3u)) & 255u;
        out |= (pick > 7 ? (byte > 127 ? 255u : 0u) : byte) << (8 * i);
    }
    return out;
}

static uint64_t high_product(uint64_t a, uint64_t b)
{
    uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (uint32_t)middle;

    return ah * bh + (middle >> 32) + (other >> 32);
}

static float least_f(float a, float b, bool largest)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    if (a == 0 && b == 0) {
        return largest ? (signbit(a) ? b : a) : (signbit(a) ? a : b);
    }
    return (a < b) != largest ? a : b;
}

static double least_d(double a, double b, bool largest)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) ? b : a;
    }
    if (a == 0 && b == 0) {
        return largest ? (signbit(a) ? b : a) : (signbit(a) ? a : b);
    }
    return (a < b) != largest ? a : b;
}

MODEL(MOV, B)
MODEL(ADD, A + B)
MODEL(SUB, A - B)
MODEL(RSUB, B - A)
MODEL(MUL, A *B)
MODEL(MULHI, (uint32_t)((uint64_t)((int64_t)SA *SB) >> 32))
MODEL(MULHIU, (uint64_t)A *B >> 32)
MODEL(MAD, A *B + C)
MODEL(DIV, B == 0 ? UINT32_MAX : A == 0x80000000u && SB == -1 ? A : (uint32_t)(SA / SB))
MODEL(DIVU, B == 0 ? UINT32_MAX : A / B)
MODEL(REM, B == 0 ? A : SB == -1 ? 0 : (uint32_t)(SA % SB))
MODEL(REMU, B == 0 ? A : A % B)
MODEL(MIN, (uint32_t)(SA < SB ? SA : SB))
MODEL(MAX, (uint32_t)(SA > SB ? SA : SB))
MODEL(MINU, A < B ? A : B)
MODEL(MAXU, A > B ? A : B)
MODEL(ABS, SA < 0 ? 0u - A : A)
MODEL(AND, A &B)
MODEL(OR, A | B)
MODEL(XOR, A ^ B)
MODEL(NOT, (uint32_t)~A)
MODEL(SHL, B >= 32 ? 0 : (uint32_t)(A << B))
MODEL(SHR, B >= 32 ? 0 : A >> B)
MODEL(ASR, (uint32_t)((int64_t)SA >> (B > 40 ? 40 : B)))
MODEL(ROTL, (uint32_t)(A << (B % 32)) | (uint32_t)((uint64_t)A >> (32 - B % 32)))
MODEL(CLZ, leading(A, 32))
MODEL(CTZ, trailing(A, 32))
MODEL(POPC, count_bits(A))
MODEL(BREV, mirrored(A))
MODEL(BFE, extract(A, B, C, true))
MODEL(BFEU, extract(A, B, C, false))
MODEL(PRMT, bytes_of(A, B, C))
MODEL(MULW, (int64_t)SA *SB)
MODEL(MULWU, (uint64_t)A *B)
MODEL(MADW, (uint64_t)((int64_t)SA *SB) + c)
MODEL(MADWU, (uint64_t)A *B + c)
MODEL(MOV64, b)
MODEL(ADD64, a + b)
MODEL(SUB64, a - b)
MODEL(RSUB64, b - a)
MODEL(MUL64, a *b)
MODEL(MULHI64, high_product(a, b) - (LA < 0 ? b : 0) - (LB < 0 ? a : 0))
MODEL(MULHIU64, high_product(a, b))
MODEL(MAD64, a *b + c)
MODEL(DIV64, b == 0 ? UINT64_MAX : LB == -1 ? 0 - a : (uint64_t)(LA / LB))
MODEL(DIVU64, b == 0 ? UINT64_MAX : a / b)
MODEL(REM64, b == 0 ? a : LB == -1 ? 0 : (uint64_t)(LA % LB))
MODEL(REMU64, b == 0 ? a : a % b)
MODEL(MIN64, LA < LB ? a : b)
MODEL(MAX64, LA > LB ? a : b)
MODEL(MINU64, a < b ? a : b)
MODEL(MAXU64, a > b ? a : b)
MODEL(ABS64, LA < 0 ? 0 - a : a)
MODEL(AND64, a &b)
MODEL(OR64, a | b)
MODEL(XOR64, a ^ b)
MODEL(NOT64, ~a)
MODEL(SHL64, B > 63 ? 0 : a << B)
MODEL(SHR64, B > 63 ? 0 : a >> B)
MODEL(ASR64, B > 63 ? (LA < 0 ? UINT64_MAX : 0) : LA < 0 ? ~(~a >> B) : a >> B)
MODEL(CLZ64, leading(a, 64))
MODEL(CTZ64, trailing(a, 64))
MODEL(POPC64, count_bits(a))
MODEL(FADD, reference_of_f(FA + FB))
MODEL(FSUB, reference_of_f(FA - FB))
MODEL(FRSUB, reference_of_f(FB - FA))
MODEL(FMUL, reference_of_f(FA *FB))
MODEL(FFMA, reference_of_f(fmaf(FA, FB, FC)))
MODEL(FDIV, reference_of_f(FA / FB))
MODEL(FMIN, reference_of_f(least_f(FA, FB, false)))
MODEL(FMAX, reference_of_f(least_f(FA, FB, true)))
MODEL(FMOV, A)
MODEL(FSQRT, reference_of_f(sqrtf(FA)))
MODEL(FFLOOR, reference_of_f(floorf(FA)))
MODEL(FCEIL, reference_of_f(ceilf(FA)))
MODEL(FTRUNC, reference_of_f(truncf(FA)))
MODEL(FRINT, reference_of_f(nearbyintf(FA)))
MODEL(FRCP, reference_of_f(1.0f / FA))
MODEL(FRSQRT, reference_of_f((float)(1.0 / sqrt((double)FA))))
MODEL(FSIN, reference_of_f((float)sin((double)FA)))
MODEL(FCOS, reference_of_f((float)cos((double)FA)))
MODEL(FEXP2, reference_of_f((float)exp2((double)FA)))
MODEL(FLOG2, reference_of_f((float)log2((double)FA)))
MODEL(DADD, reference_of_d(DA + DB))
MODEL(DSUB, reference_of_d(DA - DB))
MODEL(DRSUB, reference_of_d(DB - DA))
MODEL(DMUL, reference_of_d(DA *DB))
MODEL(DFMA, reference_of_d(fma(DA, DB, DC)))
MODEL(DDIV, reference_of_d(DA / DB))
MODEL(DMIN, reference_of_d(least_d(DA, DB, false)))
MODEL(DMAX, reference_of_d(least_d(DA, DB, true)))
MODEL(DMOV, a)
MODEL(DSQRT, reference_of_d(sqrt(DA)))
MODEL(DFLOOR, reference_of_d(floor(DA)))
MODEL(DCEIL, reference_of_d(ceil(DA)))
MODEL(DTRUNC, reference_of_d(trunc(DA)))
MODEL(DRINT, reference_of_d(nearbyint(DA)))

#define ROW(name) [PPU_OP_##name] = m_##name
reference_model *const reference_models[PPU_ISA_OPS] = {
    ROW(MOV),   ROW(ADD),     ROW(SUB),      ROW(RSUB),   ROW(MUL),   ROW(MULHI),  ROW(MULHIU), ROW(MAD),
    ROW(DIV),   ROW(DIVU),    ROW(REM),      ROW(REMU),   ROW(MIN),   ROW(MAX),    ROW(MINU),   ROW(MAXU),
    ROW(ABS),   ROW(AND),     ROW(OR),       ROW(XOR),    ROW(NOT),   ROW(SHL),    ROW(SHR),    ROW(ASR),
    ROW(ROTL),  ROW(CLZ),     ROW(CTZ),      ROW(POPC),   ROW(BREV),  ROW(BFE),    ROW(BFEU),   ROW(PRMT),
    ROW(MULW),  ROW(MULWU),   ROW(MADW),     ROW(MADWU),  ROW(MOV64), ROW(ADD64),  ROW(SUB64),  ROW(RSUB64),
    ROW(MUL64), ROW(MULHI64), ROW(MULHIU64), ROW(MAD64),  ROW(DIV64), ROW(DIVU64), ROW(REM64),  ROW(REMU64),
    ROW(MIN64), ROW(MAX64),   ROW(MINU64),   ROW(MAXU64), ROW(ABS64), ROW(AND64),  ROW(OR64),   ROW(XOR64),
    ROW(NOT64), ROW(SHL64),   ROW(SHR64),    ROW(ASR64),  ROW(CLZ64), ROW(CTZ64),  ROW(POPC64), ROW(FADD),
    ROW(FSUB),  ROW(FRSUB),   ROW(FMUL),     ROW(FFMA),   ROW(FDIV),  ROW(FMIN),   ROW(FMAX),   ROW(FMOV),
    ROW(FSQRT), ROW(FFLOOR),  ROW(FCEIL),    ROW(FTRUNC), ROW(FRINT), ROW(FRCP),   ROW(FRSQRT), ROW(FSIN),
    ROW(FCOS),  ROW(FEXP2),   ROW(FLOG2),    ROW(DADD),   ROW(DSUB),  ROW(DRSUB),  ROW(DMUL),   ROW(DFMA),
    ROW(DDIV),  ROW(DMIN),    ROW(DMAX),     ROW(DMOV),   ROW(DSQRT), ROW(DFLOOR), ROW(DCEIL),  ROW(DTRUNC),
    ROW(DRINT),
};

/* ---- conversions ---- */

struct float_shape {
    int digits; /* of the significand, the leading one included */
    int least;  /* exponent of the smallest normal number */
    int most;   /* exponent of the largest number */
};

static const struct float_shape float_shapes[PPU_TYPE_COUNT] = {
    [PPU_TYPE_F16] = { 11, -14, 15 },
    [PPU_TYPE_F32] = { 24, -126, 127 },
    [PPU_TYPE_F64] = { 53, -1022, 1023 },
};

static bool is_float(uint32_t type)
{
    return type == PPU_TYPE_F16 || type == PPU_TYPE_F32 || type == PPU_TYPE_F64;
}

static bool is_signed(uint32_t type)
{
    return type == PPU_TYPE_S8 || type == PPU_TYPE_S16 || type == PPU_TYPE_S32 || type == PPU_TYPE_S64;
}

static int int_bits(uint32_t type)
{
    switch (type) {
    case PPU_TYPE_U8:
    case PPU_TYPE_S8:
        return 8;
    case PPU_TYPE_U16:
    case PPU_TYPE_S16:
        return 16;
    case PPU_TYPE_U32:
    case PPU_TYPE_S32:
        return 32;
    default:
        return 64;
    }
}

static long double half_value(uint32_t bits)
{
    int exponent = (int)(bits >> 10 & 31u);
    uint32_t fraction = bits & 1023u;
    long double size = exponent == 31  ? (fraction != 0 ? NAN : INFINITY)
                       : exponent == 0 ? ldexpl(fraction, -24)
                                       : ldexpl(1024 + fraction, exponent - 25);

    return bits >> 15 & 1u ? -size : size;
}

static uint32_t half_bits(long double value)
{
    uint32_t sign = signbit(value) ? 0x8000u : 0;
    int exponent = 0;

    value = fabsl(value);
    if (isinf(value)) {
        return sign | 0x7c00u;
    }
    if (value < ldexpl(1, -14)) {
        return sign | (uint32_t)ldexpl(value, 24);
    }
    value = frexpl(value, &exponent);
    return sign | ((uint32_t)(exponent + 14) << 10) | ((uint32_t)ldexpl(value, 11) & 1023u);
}

static long double rounded_whole(long double value, uint32_t round)
{
    switch (round) {
    case PPU_ROUND_RTZ:
        return truncl(value);
    case PPU_ROUND_RTP:
        return ceill(value);
    case PPU_ROUND_RTN:
        return floorl(value);
    default:
        return rintl(value);
    }
}

/* The number of the type that the rounding selects. */
static long double rounded_float(long double value, uint32_t type, uint32_t round)
{
    const struct float_shape *shape = &float_shapes[type];
    long double largest = ldexpl(2 - ldexpl(1, 1 - shape->digits), shape->most);
    int exponent = 0;

    if (value == 0 || isinf(value)) {
        return value;
    }
    (void)frexpl(value, &exponent);
    int unit = (exponent - 1 > shape->least ? exponent - 1 : shape->least) - (shape->digits - 1);
    value = copysignl(ldexpl(rounded_whole(ldexpl(value, -unit), round), unit), value);
    if (fabsl(value) > largest) {
        bool away = round == PPU_ROUND_RNE || round == (signbit(value) ? PPU_ROUND_RTN : PPU_ROUND_RTP);
        value = copysignl(away ? (long double)INFINITY : largest, value);
    }
    return value;
}

static uint64_t float_bits(long double value, uint32_t type)
{
    if (type == PPU_TYPE_F64) {
        return reference_of_d((double)value);
    }
    return type == PPU_TYPE_F32 ? reference_of_f((float)value) : isnan(value) ? 0x7e00u : half_bits(value);
}

/* The register's integer, extended to 64 bits by the sign of its type. */
static uint64_t int_value(uint64_t bits, uint32_t type)
{
    uint64_t low = UINT64_MAX >> (64 - int_bits(type));

    bits &= low;
    return is_signed(type) && bits > low / 2 ? bits | ~low : bits;
}

static long double source_value(uint64_t bits, uint32_t type)
{
    switch (type) {
    case PPU_TYPE_F16:
        return half_value((uint32_t)bits);
    case PPU_TYPE_F32:
        return (long double)reference_f(bits);
    case PPU_TYPE_F64:
        return (long double)reference_d(bits);
    default:
        bits = int_value(bits, type);
        return is_signed(type) ? (long double)(int64_t)bits : (long double)bits;
    }
}

static uint64_t saturated(long double value, uint32_t type)
{
    long double most = ldexpl(1, int_bits(type) - is_signed(type)) - 1, least = is_signed(type) ? -most - 1 : 0;

    if (isnan(value)) {
        return 0;
    }
    value = value > most ? most : value < least ? least : value;
    return value < 0 ? 0 - (uint64_t)-value : (uint64_t)value;
}

uint64_t reference_convert(uint64_t bits, uint32_t stype, uint32_t dtype, uint32_t round, bool sat)
{
    long double value = source_value(bits, stype);

    if (is_float(dtype)) {
        if (sat) {
            value = !(value > 0) ? 0 : value > 1 ? 1 : value;
        }
        return float_bits(isnan(value) ? value : rounded_float(value, dtype, round), dtype);
    }
    if (is_float(stype)) {
        return int_value(saturated(isnan(value) ? value : rounded_whole(value, round), dtype), dtype);
    }
    return int_value(sat ? saturated(value, dtype) : int_value(bits, stype), dtype);
}
