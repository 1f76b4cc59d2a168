/* SPDX-License-Identifier: MIT */
/* Built-in functions whose versions in libclc use what the machine does not have, or do worse than it can. */
#include "primitive.h"

/* The machine has no approximations of these: the native versions are the precise ones. */
#define NATIVE(name)                    \
    float BUILTIN native_##name(float x) \
    {                                   \
        return name(x);                 \
    }                                   \
    float BUILTIN half_##name(float x)  \
    {                                   \
        return name(x);                 \
    }

NATIVE(sin)
NATIVE(cos)
NATIVE(tan)
NATIVE(exp)
NATIVE(exp2)
NATIVE(exp10)
NATIVE(log)
NATIVE(log2)
NATIVE(log10)

float BUILTIN native_powr(float x, float y)
{
    return powr(x, y);
}

float BUILTIN half_powr(float x, float y)
{
    return powr(x, y);
}

long BUILTIN mul_hi(long a, long b)
{
    return __ppu_mulhi64(a, b);
}

ulong BUILTIN mul_hi(ulong a, ulong b)
{
    return __ppu_mulhiu64(a, b);
}
