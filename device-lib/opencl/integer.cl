/* SPDX-License-Identifier: MIT */
/* Implements integer functions, and conversions that libclc gets wrong at the ends of the range and near zero. */
#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

int BUILTIN sub_sat(int x, int y)
{
    return __builtin_elementwise_sub_sat(x, y);
}

long BUILTIN sub_sat(long x, long y)
{
    return __builtin_elementwise_sub_sat(x, y);
}

/* In 128 bits: what does not fit has another high word than the low one's sign. */
long BUILTIN mad_sat(long x, long y, long z)
{
    ulong product = (ulong)x * (ulong)y, low = product + (ulong)z;
    long high = __ppu_mulhi64(x, y) + (z >> 63) + (low < product);

    return high == (long)low >> 63 ? (long)low : high < 0 ? LONG_MIN : LONG_MAX;
}

#define ROUNDED(to, from, other, suffix, round)                    \
    to BUILTIN convert_##to##suffix(from x)                        \
    {                                                              \
        return __ppu_##to##_of_##other(x, round);                  \
    }

#define ROUNDINGS(to, from, other)                  \
    ROUNDED(to, from, other, _rte, PPU_ROUND_RNE)   \
    ROUNDED(to, from, other, _rtz, PPU_ROUND_RTZ)   \
    ROUNDED(to, from, other, _rtp, PPU_ROUND_RTP)   \
    ROUNDED(to, from, other, _rtn, PPU_ROUND_RTN)

ROUNDINGS(float, int, long)
ROUNDINGS(float, uint, ulong)
ROUNDINGS(float, long, long)
ROUNDINGS(float, ulong, ulong)
ROUNDINGS(float, double, double) /* libclc's have no -0 */
ROUNDINGS(double, long, long)
ROUNDINGS(double, ulong, ulong)

/* Vectors of libclc have its own scalars inside. */
#define OF_TWO(name, type, n)                             \
    type##n BUILTIN name(type##n x, type##n y)            \
    {                                                     \
        type##n result;                                   \
        for (uint i = 0; i < n; i++) {                    \
            result[i] = name(x[i], y[i]);                 \
        }                                                 \
        return result;                                    \
    }

#define OF_THREE(name, type, n)                           \
    type##n BUILTIN name(type##n x, type##n y, type##n z) \
    {                                                     \
        type##n result;                                   \
        for (uint i = 0; i < n; i++) {                    \
            result[i] = name(x[i], y[i], z[i]);           \
        }                                                 \
        return result;                                    \
    }

#define CONVERSION(to, from, suffix, n)                   \
    to##n BUILTIN convert_##to##n##suffix(from##n x)      \
    {                                                     \
        to##n result;                                     \
        for (uint i = 0; i < n; i++) {                    \
            result[i] = convert_##to##suffix(x[i]);       \
        }                                                 \
        return result;                                    \
    }

#define CONVERSIONS(to, from, n)    \
    CONVERSION(to, from, _rte, n)   \
    CONVERSION(to, from, _rtz, n)   \
    CONVERSION(to, from, _rtp, n)   \
    CONVERSION(to, from, _rtn, n)

#define WIDTHS(macro, ...)    \
    macro(__VA_ARGS__, 2)     \
    macro(__VA_ARGS__, 3)     \
    macro(__VA_ARGS__, 4)     \
    macro(__VA_ARGS__, 8)     \
    macro(__VA_ARGS__, 16)

WIDTHS(OF_TWO, sub_sat, int)
WIDTHS(OF_TWO, sub_sat, long)
WIDTHS(OF_THREE, mad_sat, long)
WIDTHS(CONVERSIONS, float, int)
WIDTHS(CONVERSIONS, float, uint)
WIDTHS(CONVERSIONS, float, long)
WIDTHS(CONVERSIONS, float, ulong)
WIDTHS(CONVERSIONS, float, double)
WIDTHS(CONVERSIONS, double, long)
WIDTHS(CONVERSIONS, double, ulong)
