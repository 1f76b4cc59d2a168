/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conversions between number types, of one value. */
#include "qemu-device/core/engine/convert.h"
#include "ppu/image.h"
#include "ppu/macros.h"

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

    if (magnitude == 0) {
        return sign;
    }
    int32_t top = __builtin_clzll(magnitude);
    magnitude <<= top; /* bit 63 is the leading one */
    exponent += 63 - top;
    int32_t biased = exponent + bias;
    int32_t shift = 63 - (int32_t)format.fraction_bits;
    if (biased <= 0) {
        shift += 1 - biased > 64 ? 64 : 1 - biased;
        biased = 0;
    }
    uint64_t bits = shifted(magnitude, (uint32_t)shift, negative, round);
    /* The fraction has no leading one here; a carry out of it raises the exponent. */
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
        return PPU_MIN(magnitude, largest);
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
