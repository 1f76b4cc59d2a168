/* SPDX-License-Identifier: MIT */
/* Built-in functions whose versions in libclc use what the machine does not have, or do worse than it can. */
#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* The machine has no approximations of these: the native versions are the precise ones. */
#define AS_PRECISE(name, type)         \
    type BUILTIN native_##name(type x) \
    {                                  \
        return name(x);                \
    }                                  \
    type BUILTIN half_##name(type x)   \
    {                                  \
        return name(x);                \
    }

#define AS_PRECISE2(name, type)                \
    type BUILTIN native_##name(type x, type y) \
    {                                          \
        return name(x, y);                     \
    }                                          \
    type BUILTIN half_##name(type x, type y)   \
    {                                          \
        return name(x, y);                     \
    }

#define NATIVE(type)        \
    AS_PRECISE(sin, type)   \
    AS_PRECISE(cos, type)   \
    AS_PRECISE(tan, type)   \
    AS_PRECISE(exp, type)   \
    AS_PRECISE(exp2, type)  \
    AS_PRECISE(exp10, type) \
    AS_PRECISE(log, type)   \
    AS_PRECISE(log2, type)  \
    AS_PRECISE(log10, type) \
    AS_PRECISE2(powr, type)

NATIVE(float)
NATIVE(float2)
NATIVE(float3)
NATIVE(float4)
NATIVE(float8)
NATIVE(float16)

#define MAD_HI(type)                                  \
    type BUILTIN mad_hi(type a, type b, type c)       \
    {                                                 \
        return mul_hi(a, b) + c;                      \
    }

#define CTZ(type)                          \
    type BUILTIN ctz(type x)               \
    {                                      \
        return popcount((type)(~x & (x - (type)1))); \
    }

#define INTEGER(type) MAD_HI(type) CTZ(type)
#define INTEGERS(type) \
    INTEGER(type)      \
    INTEGER(type##2)   \
    INTEGER(type##3)   \
    INTEGER(type##4)   \
    INTEGER(type##8)   \
    INTEGER(type##16)

INTEGERS(char)
INTEGERS(uchar)
INTEGERS(short)
INTEGERS(ushort)
INTEGERS(int)
INTEGERS(uint)
INTEGERS(long)
INTEGERS(ulong)

long BUILTIN mul_hi(long a, long b)
{
    return __ppu_mulhi64(a, b);
}

ulong BUILTIN mul_hi(ulong a, ulong b)
{
    return __ppu_mulhiu64(a, b);
}

/* libclc's are less precise in float than the specification allows; in double they are precise enough for a float. */
double __attribute__((overloadable)) erfc(double x);
double __attribute__((overloadable)) tgamma(double x);

float BUILTIN erfc(float x)
{
    return (float)erfc((double)x);
}

/* Below one half by reflection: what libclc does there has wrong signs. */
float BUILTIN tgamma(float x)
{
    double wide = x;

    if (x == 0) {
        return copysign(INFINITY, x);
    }
    if (x < 0 && x == floor(x)) {
        return NAN;
    }
    return (float)(x < 0.5f ? M_PI / (sinpi(wide) * tgamma(1.0 - wide)) : tgamma(wide));
}
