/* SPDX-License-Identifier: MIT */
/* Implements mathematical, common and geometric functions of half (OpenCL C 6.15.2, 6.15.4, 6.15.5). */
#include "fp16/half.h"

#define BELOW_ONE 0x1.ffcp-1h

#define UNARY(name, n)                     \
    half##n BUILTIN name(half##n x)        \
    {                                      \
        return narrow(name(wide(x)));      \
    }
#define BINARY(name, n)                          \
    half##n BUILTIN name(half##n x, half##n y)   \
    {                                            \
        return narrow(name(wide(x), wide(y)));   \
    }

WIDTHS(UNARY, acos)
WIDTHS(UNARY, acosh)
WIDTHS(UNARY, acospi)
WIDTHS(UNARY, asin)
WIDTHS(UNARY, asinh)
WIDTHS(UNARY, asinpi)
WIDTHS(UNARY, atan)
WIDTHS(UNARY, atanh)
WIDTHS(UNARY, atanpi)
WIDTHS(UNARY, cbrt)
WIDTHS(UNARY, ceil)
WIDTHS(UNARY, cos)
WIDTHS(UNARY, cosh)
WIDTHS(UNARY, cospi)
WIDTHS(UNARY, erf)
WIDTHS(UNARY, erfc)
WIDTHS(UNARY, exp)
WIDTHS(UNARY, exp10)
WIDTHS(UNARY, exp2)
WIDTHS(UNARY, expm1)
WIDTHS(UNARY, floor)
WIDTHS(UNARY, lgamma)
WIDTHS(UNARY, log)
WIDTHS(UNARY, log10)
WIDTHS(UNARY, log1p)
WIDTHS(UNARY, log2)
WIDTHS(UNARY, logb)
WIDTHS(UNARY, rint)
WIDTHS(UNARY, round)
WIDTHS(UNARY, rsqrt)
WIDTHS(UNARY, sin)
WIDTHS(UNARY, sinh)
WIDTHS(UNARY, sinpi)
WIDTHS(UNARY, sqrt)
WIDTHS(UNARY, tan)
WIDTHS(UNARY, tanh)
WIDTHS(UNARY, tanpi)
WIDTHS(UNARY, tgamma)
WIDTHS(UNARY, trunc)
WIDTHS(UNARY, degrees)
WIDTHS(UNARY, radians)
WIDTHS(UNARY, sign)

WIDTHS(BINARY, atan2)
WIDTHS(BINARY, atan2pi)
WIDTHS(BINARY, fdim)
WIDTHS(BINARY, fmax)
WIDTHS(BINARY, fmin)
WIDTHS(BINARY, fmod)
WIDTHS(BINARY, hypot)
WIDTHS(BINARY, maxmag)
WIDTHS(BINARY, minmag)
WIDTHS(BINARY, pow)
WIDTHS(BINARY, powr)
WIDTHS(BINARY, remainder)

/* ---- by their bits ---- */

#define SIGN_BIT 0x8000

INTERNAL half next_after(half x, half y)
{
    short bits = as_short(x);

    if (isnan(x) || isnan(y)) {
        return x + y;
    }
    if (x == y) {
        return y;
    }
    if (x == 0) {
        return as_half((short)((as_short(y) & SIGN_BIT) | 1));
    }
    return as_half((short)((x < y) == (x > 0) ? bits + 1 : bits - 1));
}

#define BITS(unused, n)                                                                                        \
    half##n BUILTIN fabs(half##n x)                                                                            \
    {                                                                                                          \
        return as_half##n((ushort##n)(as_ushort##n(x) & (ushort##n)(SIGN_BIT - 1)));                           \
    }                                                                                                          \
    half##n BUILTIN copysign(half##n x, half##n y)                                                             \
    {                                                                                                          \
        return as_half##n((ushort##n)((as_ushort##n(x) & (ushort##n)(SIGN_BIT - 1)) |                          \
                                      (as_ushort##n(y) & (ushort##n)SIGN_BIT)));                               \
    }                                                                                                          \
    half##n BUILTIN nan(ushort##n code)                                                                        \
    {                                                                                                          \
        return as_half##n((ushort##n)(code | (ushort##n)0x7e00));                                              \
    }
WIDTHS(BITS, )

half BUILTIN nextafter(half x, half y)
{
    return next_after(x, y);
}

#define NEXT(unused, n)                                 \
    half##n BUILTIN nextafter(half##n x, half##n y)     \
    {                                                   \
        half##n result;                                 \
        for (uint i = 0; i < n; i++) {                  \
            result[i] = next_after(x[i], y[i]);         \
        }                                               \
        return result;                                  \
    }
VECTORS(NEXT, )

/* ---- with integers, and with second results ---- */

/* The product of halves is exact in float. What the sum in double loses is far from the middle between two halves. */
INTERNAL half fused(half x, half y, half z)
{
    return (half)((double)((float)x * (float)y) + (double)z);
}

half BUILTIN fma(half x, half y, half z)
{
    return fused(x, y, z);
}

half BUILTIN mad(half x, half y, half z)
{
    return fused(x, y, z);
}

#define FUSED(unused, n)                                     \
    half##n BUILTIN fma(half##n x, half##n y, half##n z)     \
    {                                                        \
        half##n result;                                      \
        for (uint i = 0; i < n; i++) {                       \
            result[i] = fused(x[i], y[i], z[i]);             \
        }                                                    \
        return result;                                       \
    }                                                        \
    half##n BUILTIN mad(half##n x, half##n y, half##n z)     \
    {                                                        \
        return fma(x, y, z);                                 \
    }
VECTORS(FUSED, )

#define INTEGERS(unused, n)                          \
    int##n BUILTIN ilogb(half##n x)                  \
    {                                                \
        return ilogb(wide(x));                       \
    }                                                \
    half##n BUILTIN ldexp(half##n x, int##n k)       \
    {                                                \
        return narrow(ldexp(wide(x), k));            \
    }                                                \
    half##n BUILTIN pown(half##n x, int##n k)        \
    {                                                \
        return narrow(pown(wide(x), k));             \
    }                                                \
    half##n BUILTIN rootn(half##n x, int##n k)       \
    {                                                \
        return narrow(rootn(wide(x), k));            \
    }
WIDTHS(INTEGERS, )

#define LDEXP(unused, n)                             \
    half##n BUILTIN ldexp(half##n x, int k)          \
    {                                                \
        return ldexp(x, (int##n)k);                  \
    }
VECTORS(LDEXP, )

/* Of what has no fraction it is 0 with the same sign; what rounding made 1 is below that. */
#define FRACTION(unused, n)                                                        \
    INTERNAL half##n fraction(half##n result, half##n x)                           \
    {                                                                              \
        half##n below = fmin(result, (half##n)BELOW_ONE);                          \
        half##n zero = copysign((half##n)0, x);                                    \
        return (isinf(x) | (x == (half##n)0)) ? zero : isnan(x) ? x : below;       \
    }
WIDTHS(FRACTION, )

/* clang's header has those of the generic space alone. */
#define OF_FLOAT(unused, n)                                                                           \
    float##n __attribute__((overloadable)) frexp(float##n x, __private int##n *exponent);             \
    float##n __attribute__((overloadable)) lgamma_r(float##n x, __private int##n *sign);              \
    float##n __attribute__((overloadable)) remquo(float##n x, float##n y, __private int##n *quotient); \
    float##n __attribute__((overloadable)) modf(float##n x, __private float##n *whole);               \
    float##n __attribute__((overloadable)) sincos(float##n x, __private float##n *cosine);            \
    float##n __attribute__((overloadable)) fract(float##n x, __private float##n *whole);
WIDTHS(OF_FLOAT, )

#define SECONDS(space, n)                                                  \
    half##n BUILTIN frexp(half##n x, space int##n *exponent)               \
    {                                                                      \
        __private int##n e;                                                \
        half##n result = narrow(frexp(wide(x), (__private int##n *)&e));   \
        *exponent = e;                                                     \
        return result;                                                     \
    }                                                                      \
    half##n BUILTIN lgamma_r(half##n x, space int##n *sign)                \
    {                                                                      \
        __private int##n s;                                                \
        half##n result = narrow(lgamma_r(wide(x), (__private int##n *)&s)); \
        *sign = s;                                                         \
        return result;                                                     \
    }                                                                      \
    half##n BUILTIN remquo(half##n x, half##n y, space int##n *quotient)   \
    {                                                                      \
        __private int##n q;                                                \
        half##n result = narrow(remquo(wide(x), wide(y), (__private int##n *)&q)); \
        *quotient = q;                                                     \
        return result;                                                     \
    }                                                                      \
    half##n BUILTIN modf(half##n x, space half##n *whole)                  \
    {                                                                      \
        __private float##n w;                                              \
        half##n result = narrow(modf(wide(x), (__private float##n *)&w));  \
        *whole = narrow(w);                                                \
        return result;                                                     \
    }                                                                      \
    half##n BUILTIN sincos(half##n x, space half##n *cosine)               \
    {                                                                      \
        __private float##n c;                                              \
        half##n result = narrow(sincos(wide(x), (__private float##n *)&c)); \
        *cosine = narrow(c);                                               \
        return result;                                                     \
    }                                                                      \
    half##n BUILTIN fract(half##n x, space half##n *whole)                 \
    {                                                                      \
        __private float##n w;                                              \
        half##n result = narrow(fract(wide(x), (__private float##n *)&w)); \
        *whole = narrow(w);                                                \
        return fraction(result, x);                                        \
    }

WIDTHS(SECONDS, __private)
WIDTHS(SECONDS, __global)
WIDTHS(SECONDS, __local)
WIDTHS(SECONDS, __generic)

/* ---- common functions ---- */

#define COMMON(unused, n)                                                            \
    half##n BUILTIN clamp(half##n x, half##n least, half##n most)                    \
    {                                                                                \
        return fmin(fmax(x, least), most);                                           \
    }                                                                                \
    half##n BUILTIN max(half##n x, half##n y)                                        \
    {                                                                                \
        return fmax(x, y);                                                           \
    }                                                                                \
    half##n BUILTIN min(half##n x, half##n y)                                        \
    {                                                                                \
        return fmin(x, y);                                                           \
    }                                                                                \
    half##n BUILTIN mix(half##n x, half##n y, half##n a)                             \
    {                                                                                \
        return narrow(wide(x) + (wide(y) - wide(x)) * wide(a));                      \
    }                                                                                \
    half##n BUILTIN step(half##n edge, half##n x)                                    \
    {                                                                                \
        return narrow(step(wide(edge), wide(x)));                                    \
    }                                                                                \
    half##n BUILTIN smoothstep(half##n first, half##n second, half##n x)             \
    {                                                                                \
        return narrow(smoothstep(wide(first), wide(second), wide(x)));               \
    }
WIDTHS(COMMON, )

#define WITH_SCALAR(unused, n)                                             \
    half##n BUILTIN clamp(half##n x, half least, half most)                \
    {                                                                      \
        return clamp(x, (half##n)least, (half##n)most);                    \
    }                                                                      \
    half##n BUILTIN fmax(half##n x, half y)                                \
    {                                                                      \
        return fmax(x, (half##n)y);                                        \
    }                                                                      \
    half##n BUILTIN fmin(half##n x, half y)                                \
    {                                                                      \
        return fmin(x, (half##n)y);                                        \
    }                                                                      \
    half##n BUILTIN max(half##n x, half y)                                 \
    {                                                                      \
        return fmax(x, (half##n)y);                                        \
    }                                                                      \
    half##n BUILTIN min(half##n x, half y)                                 \
    {                                                                      \
        return fmin(x, (half##n)y);                                        \
    }                                                                      \
    half##n BUILTIN mix(half##n x, half##n y, half a)                      \
    {                                                                      \
        return mix(x, y, (half##n)a);                                      \
    }                                                                      \
    half##n BUILTIN step(half edge, half##n x)                             \
    {                                                                      \
        return step((half##n)edge, x);                                     \
    }                                                                      \
    half##n BUILTIN smoothstep(half first, half second, half##n x)         \
    {                                                                      \
        return smoothstep((half##n)first, (half##n)second, x);             \
    }
VECTORS(WITH_SCALAR, )

/* ---- geometry ---- */

half3 BUILTIN cross(half3 x, half3 y)
{
    return narrow(cross(wide(x), wide(y)));
}

half4 BUILTIN cross(half4 x, half4 y)
{
    return narrow(cross(wide(x), wide(y)));
}

#define GEOMETRY(n)                               \
    half BUILTIN dot(half##n x, half##n y)        \
    {                                             \
        return narrow(dot(wide(x), wide(y)));     \
    }                                             \
    half BUILTIN length(half##n x)                \
    {                                             \
        return narrow(length(wide(x)));           \
    }                                             \
    half BUILTIN distance(half##n x, half##n y)   \
    {                                             \
        return narrow(distance(wide(x), wide(y))); \
    }                                             \
    half##n BUILTIN normalize(half##n x)          \
    {                                             \
        return narrow(normalize(wide(x)));        \
    }

GEOMETRY()
GEOMETRY(2)
GEOMETRY(3)
GEOMETRY(4)
