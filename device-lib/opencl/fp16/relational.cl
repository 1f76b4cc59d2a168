/* SPDX-License-Identifier: MIT */
/* Implements relational functions of half (OpenCL C 6.15.6), and choices between halves. */
#include "fp16/half.h"

#define SIGN_BIT 0x8000
#define INFINITY_BITS 0x7c00

#define MAGNITUDE(unused, n)                                                  \
    INTERNAL short##n magnitude(half##n x)                                    \
    {                                                                         \
        return as_short##n(x) & (short##n)(SIGN_BIT - 1);                     \
    }
WIDTHS(MAGNITUDE, )

/* A scalar's truth is an int of 0 or 1, that of a vector's element a short of 0 or -1. */
#define COMPARISONS(truth, n)                                         \
    truth##n BUILTIN isequal(half##n x, half##n y)                    \
    {                                                                 \
        return x == y;                                                \
    }                                                                 \
    truth##n BUILTIN isnotequal(half##n x, half##n y)                 \
    {                                                                 \
        return x != y;                                                \
    }                                                                 \
    truth##n BUILTIN isgreater(half##n x, half##n y)                  \
    {                                                                 \
        return x > y;                                                 \
    }                                                                 \
    truth##n BUILTIN isgreaterequal(half##n x, half##n y)             \
    {                                                                 \
        return x >= y;                                                \
    }                                                                 \
    truth##n BUILTIN isless(half##n x, half##n y)                     \
    {                                                                 \
        return x < y;                                                 \
    }                                                                 \
    truth##n BUILTIN islessequal(half##n x, half##n y)                \
    {                                                                 \
        return x <= y;                                                \
    }                                                                 \
    truth##n BUILTIN islessgreater(half##n x, half##n y)              \
    {                                                                 \
        return (x < y) | (x > y);                                     \
    }                                                                 \
    truth##n BUILTIN isordered(half##n x, half##n y)                  \
    {                                                                 \
        return (x == x) & (y == y);                                   \
    }                                                                 \
    truth##n BUILTIN isunordered(half##n x, half##n y)                \
    {                                                                 \
        return (x != x) | (y != y);                                   \
    }                                                                 \
    truth##n BUILTIN isnan(half##n x)                                 \
    {                                                                 \
        return x != x;                                                \
    }                                                                 \
    truth##n BUILTIN isinf(half##n x)                                 \
    {                                                                 \
        return magnitude(x) == (short##n)INFINITY_BITS;               \
    }                                                                 \
    truth##n BUILTIN isfinite(half##n x)                              \
    {                                                                 \
        return magnitude(x) < (short##n)INFINITY_BITS;                \
    }                                                                 \
    truth##n BUILTIN isnormal(half##n x)                              \
    {                                                                 \
        return (magnitude(x) >= (short##n)0x0400) & (magnitude(x) < (short##n)INFINITY_BITS); \
    }                                                                 \
    truth##n BUILTIN signbit(half##n x)                               \
    {                                                                 \
        return as_short##n(x) < (short##n)0;                          \
    }

COMPARISONS(int, )
VECTORS(COMPARISONS, short)

half BUILTIN select(half x, half y, short c)
{
    return c ? y : x;
}

half BUILTIN select(half x, half y, ushort c)
{
    return c ? y : x;
}

#define SELECT(unused, n)                                          \
    half##n BUILTIN select(half##n x, half##n y, short##n c)       \
    {                                                              \
        return c < (short##n)0 ? y : x;                            \
    }                                                              \
    half##n BUILTIN select(half##n x, half##n y, ushort##n c)      \
    {                                                              \
        return as_short##n(c) < (short##n)0 ? y : x;               \
    }
VECTORS(SELECT, )

#define BITSELECT(unused, n)                                                                  \
    half##n BUILTIN bitselect(half##n x, half##n y, half##n c)                                \
    {                                                                                         \
        ushort##n mask = as_ushort##n(c);                                                     \
        return as_half##n((ushort##n)((as_ushort##n(x) & ~mask) | (as_ushort##n(y) & mask))); \
    }
WIDTHS(BITSELECT, )
