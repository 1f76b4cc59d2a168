/* SPDX-License-Identifier: MIT */
/*
 * Built-in functions with two results, or with one of another type, as functions of one type T (which the test defines).
 * What the specification leaves open is made 0.
 */

T of_fract(T x)
{
    T whole;
    return fract(x, &whole);
}

T of_fract_whole(T x)
{
    T whole;
    fract(x, &whole);
    return whole;
}

T of_frexp(T x)
{
    int exponent;
    return frexp(x, &exponent);
}

T of_frexp_exponent(T x)
{
    int exponent;
    frexp(x, &exponent);
    return isfinite(x) ? exponent : 0;
}

/* 5000 stands for the numbers that the specification names. */
T of_ilogb(T x)
{
    int e = ilogb(x), special = x == 0 ? FP_ILOGB0 : isnan(x) ? FP_ILOGBNAN : INT_MAX;

    return x == 0 || !isfinite(x) ? (e == special ? 5000 : 0) : e;
}

T of_isfinite(T x)
{
    return isfinite(x);
}

T of_isinf(T x)
{
    return isinf(x);
}

T of_isnan(T x)
{
    return isnan(x);
}

T of_isnormal(T x)
{
    return isnormal(x);
}

T of_signbit(T x)
{
    return signbit(x);
}

T of_lgamma_r_sign(T x)
{
    int sign;
    lgamma_r(x, &sign);
    return (x <= 0 && x == floor(x)) || !isfinite(x) ? 0 : sign;
}

T of_lgamma_r(T x)
{
    int sign;
    T value = lgamma_r(x, &sign), alone = lgamma(x);
    return value == alone || (isnan(value) && isnan(alone));
}

T of_sincos(T x)
{
    T c, s = sincos(x, &c);
    return (s == sin(x) && c == cos(x)) || (isnan(s) && isnan(c) && isnan(sin(x)));
}

T of_modf(T x)
{
    T whole;
    return modf(x, &whole);
}

T of_modf_whole(T x)
{
    T whole;
    modf(x, &whole);
    return whole;
}

T of_nan(T x)
{
    return sizeof(T) == 4 ? (T)nan((uint)x) : (T)nan((ulong)x);
}

T of_nextafter(T x, T y)
{
    return nextafter(x, y);
}

T of_remquo(T x, T y)
{
    int bits;
    return remquo(x, y, &bits);
}

T of_remquo_bits(T x, T y)
{
    int bits;
    remquo(x, y, &bits);
    return y == 0 || !isfinite(x) || isnan(y) ? 0 : bits;
}

#define RELATION(name)    \
    T of_##name(T x, T y) \
    {                     \
        return name(x, y); \
    }
RELATION(isequal)
RELATION(isgreater)
RELATION(isgreaterequal)
RELATION(isless)
RELATION(islessequal)
RELATION(islessgreater)
RELATION(isnotequal)
RELATION(isordered)
RELATION(isunordered)
