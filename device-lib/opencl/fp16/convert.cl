/* SPDX-License-Identifier: MIT */
/* Implements conversions from and to half (OpenCL C 6.4.3), rounded and saturated as their names say. */
#include "fp16/half.h"

/* Rounds to infinity, or to the largest half, like everything that is larger. */
#define TOO_LARGE 131072

INTERNAL half rounded(float x, uint round)
{
    return as_half((ushort)__ppu_half_of_float(x, round));
}

INTERNAL half rounded(double x, uint round)
{
    return as_half((ushort)__ppu_half_of_double(x, round));
}

/* Integers that could be halves are floats: they are rounded once. */
#define OF_SIGNED(type)                                                                        \
    INTERNAL half rounded(type x, uint round)                                                  \
    {                                                                                          \
        return rounded((float)clamp((long)x, (long)-TOO_LARGE, (long)TOO_LARGE), round);       \
    }
#define OF_UNSIGNED(type)                                                                      \
    INTERNAL half rounded(type x, uint round)                                                  \
    {                                                                                          \
        return rounded((float)min((ulong)x, (ulong)TOO_LARGE), round);                         \
    }

OF_SIGNED(char)
OF_SIGNED(short)
OF_SIGNED(int)
OF_SIGNED(long)
OF_UNSIGNED(uchar)
OF_UNSIGNED(ushort)
OF_UNSIGNED(uint)
OF_UNSIGNED(ulong)

INTERNAL half rounded(half x, uint round)
{
    return x;
}

#define TO_HALF(from, suffix, round)                 \
    half BUILTIN convert_half##suffix(from x)        \
    {                                                \
        return rounded(x, round);                    \
    }
#define TO_HALVES(from, suffix, round, n)                \
    half##n BUILTIN convert_half##n##suffix(from##n x)   \
    {                                                    \
        half##n result;                                  \
        for (uint i = 0; i < n; i++) {                   \
            result[i] = rounded(x[i], round);            \
        }                                                \
        return result;                                   \
    }

#define ROUNDINGS(macro, ...)                   \
    macro(__VA_ARGS__, , PPU_ROUND_RNE)         \
    macro(__VA_ARGS__, _rte, PPU_ROUND_RNE)     \
    macro(__VA_ARGS__, _rtz, PPU_ROUND_RTZ)     \
    macro(__VA_ARGS__, _rtp, PPU_ROUND_RTP)     \
    macro(__VA_ARGS__, _rtn, PPU_ROUND_RTN)

#define ALL_WIDTHS(from, suffix, round)     \
    TO_HALF(from, suffix, round)            \
    VECTORS(TO_HALVES, from, suffix, round)

ROUNDINGS(ALL_WIDTHS, char)
ROUNDINGS(ALL_WIDTHS, uchar)
ROUNDINGS(ALL_WIDTHS, short)
ROUNDINGS(ALL_WIDTHS, ushort)
ROUNDINGS(ALL_WIDTHS, int)
ROUNDINGS(ALL_WIDTHS, uint)
ROUNDINGS(ALL_WIDTHS, long)
ROUNDINGS(ALL_WIDTHS, ulong)
ROUNDINGS(ALL_WIDTHS, float)
ROUNDINGS(ALL_WIDTHS, double)
ROUNDINGS(ALL_WIDTHS, half)

/* ---- to other types: every half is a float ---- */

#define OF_HALF(to, suffix, n)                            \
    to##n BUILTIN convert_##to##n##suffix(half##n x)      \
    {                                                     \
        return convert_##to##n##suffix(wide(x));          \
    }
#define OF_HALF_ROUNDINGS(to, saturates)    \
    WIDTHS(OF_HALF, to, saturates)          \
    WIDTHS(OF_HALF, to, saturates##_rte)    \
    WIDTHS(OF_HALF, to, saturates##_rtz)    \
    WIDTHS(OF_HALF, to, saturates##_rtp)    \
    WIDTHS(OF_HALF, to, saturates##_rtn)
#define OF_HALF_INTEGER(to)                 \
    OF_HALF_ROUNDINGS(to, )                 \
    OF_HALF_ROUNDINGS(to, _sat)

OF_HALF_INTEGER(char)
OF_HALF_INTEGER(uchar)
OF_HALF_INTEGER(short)
OF_HALF_INTEGER(ushort)
OF_HALF_INTEGER(int)
OF_HALF_INTEGER(uint)
OF_HALF_INTEGER(long)
OF_HALF_INTEGER(ulong)

OF_HALF_ROUNDINGS(double, )
WIDTHS(OF_HALF, float, )
WIDTHS(OF_HALF, float, _rte)
WIDTHS(OF_HALF, float, _rtz)
WIDTHS(OF_HALF, float, _rtp)
WIDTHS(OF_HALF, float, _rtn)
