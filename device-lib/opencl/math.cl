/* SPDX-License-Identifier: MIT */
/*
 * Implements built-in functions whose versions in libclc use what the machine does not have, or do worse than it can.
 */
#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* The PPU approximates none of these: native_*() are the precise functions. */
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
    AS_PRECISE(rsqrt, type) \
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
double __attribute__((overloadable)) exp(double x);
double __attribute__((overloadable)) log(double x);
double __attribute__((overloadable)) lgamma(double x);
double __attribute__((overloadable)) pow(double x, double y);
double __attribute__((overloadable)) fmod(double x, double y);
double __attribute__((overloadable)) remainder(double x, double y);
double __attribute__((overloadable)) ldexp(double x, int n);
double __attribute__((overloadable)) rootn(double x, int n);

/* ---- of multiples of pi ---- */

double __attribute__((overloadable)) sin(double x);
double __attribute__((overloadable)) cos(double x);
double __attribute__((overloadable)) atan2(double y, double x);

#define PI 3.14159265358979323846
#define ONE_BY_PI 0.31830988618379067154

/* A magnitude modulo 2 is `quarter` halves and `rest`, which is at most a quarter; both are exact. */
static double pi_rest(double x, __private uint *quarter)
{
    double below_two = fabs(x) - 2 * floor(fabs(x) * 0.5), halves = rint(2 * below_two);

    *quarter = (uint)halves & 3;
    return below_two - 0.5 * halves;
}

/* The series of the sine and the cosine of pi times a rest: what they leave out is below 2^-60. No lane branches. */
static double sine_of_rest(double rest)
{
    const double x = PI * rest, z = x * x;
    double sum = fma(z, 1.0 / 355687428096000, -1.0 / 1307674368000);

    sum = fma(z, sum, 1.0 / 6227020800);
    sum = fma(z, sum, -1.0 / 39916800);
    sum = fma(z, sum, 1.0 / 362880);
    sum = fma(z, sum, -1.0 / 5040);
    sum = fma(z, sum, 1.0 / 120);
    sum = fma(z, sum, -1.0 / 6);
    return fma(x * z, sum, x);
}

static double cosine_of_rest(double rest)
{
    const double x = PI * rest, z = x * x;
    double sum = fma(z, 1.0 / 20922789888000, -1.0 / 87178291200);

    sum = fma(z, sum, 1.0 / 479001600);
    sum = fma(z, sum, -1.0 / 3628800);
    sum = fma(z, sum, 1.0 / 40320);
    sum = fma(z, sum, -1.0 / 720);
    sum = fma(z, sum, 1.0 / 24);
    sum = fma(z, sum, -0.5);
    return fma(z, sum, 1.0);
}

static double with_sign(double value, bool negative)
{
    return negative ? -value : value;
}

/* libclc's give the other zero for some numbers. These are +0 for all positive whole numbers, or all odd halves. */
double BUILTIN sinpi(double x)
{
    uint quarter;
    const double rest = pi_rest(x, &quarter), sine = sine_of_rest(rest), cosine = cosine_of_rest(rest);
    double turn = (quarter & 1) != 0 ? cosine : sine;

    turn = rest == 0 && (quarter & 1) == 0 ? 0.0 : with_sign(turn, quarter >= 2);
    return with_sign(turn, signbit(x));
}

double BUILTIN cospi(double x)
{
    uint quarter;
    const double rest = pi_rest(x, &quarter), sine = sine_of_rest(rest), cosine = cosine_of_rest(rest);
    const double turn = (quarter & 1) != 0 ? sine : cosine;

    return rest == 0 && (quarter & 1) != 0 ? 0.0 : with_sign(turn, quarter == 1 || quarter == 2);
}

/* At a whole number it has the sign of even ones, and the other for odd ones; at an odd half it is infinite. */
double BUILTIN tanpi(double x)
{
    uint quarter;
    const double rest = pi_rest(x, &quarter), sine = sine_of_rest(rest), cosine = cosine_of_rest(rest);
    const bool odd = (quarter & 1) != 0;
    const double turn = (odd ? -cosine : sine) / (odd ? sine : cosine);
    const double at_quarter = with_sign(odd ? INFINITY : 0.0, quarter >= 2);

    return with_sign(rest == 0 ? at_quarter : turn, signbit(x));
}

/* libclc's lose the sign of a zero. What it calls by the name of the first three has these names here (mklibrary). */
double __ppu_clc_sin(double x);
double __ppu_clc_expm1(double x);
double __ppu_clc_erf(double x);

double BUILTIN sin(double x)
{
    return x == 0 ? x : __ppu_clc_sin(x);
}

double BUILTIN expm1(double x)
{
    return x == 0 ? x : __ppu_clc_expm1(x);
}

double BUILTIN erf(double x)
{
    return x == 0 ? x : __ppu_clc_erf(x);
}

double BUILTIN atan(double x)
{
    return x == 0 ? x : atan2(x, 1.0);
}

double BUILTIN tan(double x)
{
    return x == 0 ? x : sin(x) / cos(x);
}

double BUILTIN atanpi(double x)
{
    return x == 0 ? x : atan(x) * ONE_BY_PI;
}

float BUILTIN sinpi(float x)
{
    return (float)sinpi((double)x);
}

float BUILTIN cospi(float x)
{
    return (float)cospi((double)x);
}

float BUILTIN tanpi(float x)
{
    return (float)tanpi((double)x);
}

/* ---- exponentials ---- */

/* libclc's look up a table, and branch where a result may be subnormal. Here no lane branches or loads. */

#define LOG2_HIGH 0x1.62e42feep-1 /* natural logarithm of 2; products with exponents are exact */
#define LOG2_LOW 0x1.a39ef35793c76p-33
#define LOG10_2_HIGH 0x1.34413508p-2 /* the same of the logarithm to base 10 */
#define LOG10_2_LOW 0x1.f79fef311f12bp-34
#define LOG2_10 0x1.a934f0979a371p+1

/* 2 to the power n, which lies in [-1022, 1023]. */
static double power_of_two(int n)
{
    return as_double((ulong)(n + 1023) << 52);
}

/* x times 2 to the power n, which lies in [-2044, 2046]: x lies in [0.5, 2], so only the second step rounds. */
static double scaled(double x, int n)
{
    const int first = n >> 1;

    return x * power_of_two(first) * power_of_two(n - first);
}

/* A number that is not NaN is brought into [-bound, bound], where functions below are 0 and infinity already. */
static double bounded(double x, double bound)
{
    const double below = x > bound ? bound : x;

    return below < -bound ? -bound : below;
}

/* The terms of the exponential's series from the second on, over x^2; `ninth`: those from the ninth on, over x^9. */
static double exp_terms(double x, double ninth)
{
    double sum = fma(x, ninth, 1.0 / 40320);

    sum = fma(x, sum, 1.0 / 5040);
    sum = fma(x, sum, 1.0 / 720);
    sum = fma(x, sum, 1.0 / 120);
    sum = fma(x, sum, 1.0 / 24);
    sum = fma(x, sum, 1.0 / 6);
    return fma(x, sum, 0.5);
}

/* The exponential of a number in [-0.35, 0.35]. The series leaves out less than 2^-57. */
static double exp_of_rest(double x)
{
    double ninth = fma(x, 1.0 / 6227020800, 1.0 / 479001600);

    ninth = fma(x, ninth, 1.0 / 39916800);
    ninth = fma(x, ninth, 1.0 / 3628800);
    ninth = fma(x, ninth, 1.0 / 362880);
    const double terms = exp_terms(x, ninth);
    return 1.0 + fma(x * x, terms, x);
}

/* The same for a float: the series leaves out less than 2^-36. */
static double exp_of_rest_for_float(double x)
{
    return fma(x, fma(x, exp_terms(x, 1.0 / 362880), 1.0), 1.0);
}

double BUILTIN exp(double x)
{
    const double held = bounded(x, 800.0), n = rint(held * M_LOG2E);

    return scaled(exp_of_rest(fma(-LOG2_LOW, n, fma(-LOG2_HIGH, n, held))), (int)n);
}

double BUILTIN exp2(double x)
{
    const double held = bounded(x, 1200.0), n = rint(held);

    return scaled(exp_of_rest((held - n) * M_LN2), (int)n);
}

double BUILTIN exp10(double x)
{
    const double held = bounded(x, 350.0), n = rint(held * LOG2_10);

    return scaled(exp_of_rest(fma(-LOG10_2_LOW, n, fma(-LOG10_2_HIGH, n, held)) * M_LN10), (int)n);
}

/* Subnormal floats are normal doubles. */
float BUILTIN exp(float x)
{
    const double held = bounded(x, 150.0), n = rint(held * M_LOG2E);

    return (float)(exp_of_rest_for_float(fma(-M_LN2, n, held)) * power_of_two((int)n));
}

/* ---- others ---- */

float BUILTIN erfc(float x)
{
    return (float)erfc((double)x);
}

#define UNDERFLOWS -185.0 /* below, the gamma function is smaller than any double */
#define STIRLING 20.0     /* from here on the series is exact to the last place */

/* The gamma function of a positive number, as a product of two: it may be larger than its reciprocal is small. */
static double gamma_factors(double x, __private double *second)
{
    double product = 1.0, steps = 0.0, z = x, w, series, half_power, lost;

    while (z < STIRLING) {
        product *= z;
        steps += 1.0;
        z = x + steps;
    }
    lost = x - (z - steps); /* by rounding z; the function's logarithm grows by about log(z) each */
    product *= 1.0 - lost * log(z);
    w = 1.0 / (z * z);
    series = (1.0 / 12 - w * (1.0 / 360 - w * (1.0 / 1260 - w * (1.0 / 1680 - w / 1188)))) / z;
    half_power = pow(z, 0.5 * z - 0.25);
    *second = half_power * exp(-z);
    return half_power * exp(series) * 2.50662827463100050242 / product; /* square root of 2 pi */
}

/* libclc's is the power of a logarithm, and wrong by hundreds of units. */
double BUILTIN tgamma(double x)
{
    __private double first, second;

    if (x == 0) {
        return copysign((double)INFINITY, x);
    }
    if (x < UNDERFLOWS) {
        return x == floor(x) ? (double)NAN : fmod(floor(x), 2.0) != 0 ? -0.0 : 0.0;
    }
    if (isnan(x) || x > 172.0) {
        return isnan(x) ? x : (double)INFINITY;
    }
    if (fabs(x) < 0x1p-60) {
        return 1.0 / x;
    }
    if (x < 0.5) {
        first = gamma_factors(1.0 - x, &second);
        return x == floor(x) ? (double)NAN : M_PI / sinpi(x) / first / second;
    }
    first = gamma_factors(x, &second);
    return first * second;
}

float BUILTIN tgamma(float x)
{
    return (float)tgamma((double)x);
}

/* The machine's own, which round a result of 64 bits. */
float BUILTIN exp2(float x)
{
    return __ppu_exp2(x);
}

float BUILTIN log2(float x)
{
    return __ppu_log2(x);
}

float BUILTIN sin(float x)
{
    return __ppu_sin(x);
}

float BUILTIN cos(float x)
{
    return __ppu_cos(x);
}

float BUILTIN rsqrt(float x)
{
    return __ppu_rsqrt(x);
}

/* libclc's lose subnormal numbers. In double these are exact, and round once. */
float BUILTIN fmod(float x, float y)
{
    return (float)fmod((double)x, (double)y);
}

float BUILTIN remainder(float x, float y)
{
    return (float)remainder((double)x, (double)y);
}

float BUILTIN lgamma(float x)
{
    return (float)lgamma((double)x);
}

/* In double all results are exact, and round once. */
float BUILTIN ldexp(float x, int n)
{
    return (float)(x * power_of_two(clamp(n, -300, 300)));
}

float BUILTIN rootn(float x, int n)
{
    return (float)rootn((double)x, n);
}

/* libclc's gives 1 for NaN. A step that may leave few bits is the last one, which alone rounds. */
double BUILTIN ldexp(double x, int n)
{
    for (uint step = 0; step < 2; step++) {
        const int first = n > 1023 ? 1023 : n < -1022 ? -969 : 0;
        x *= power_of_two(first);
        n -= first;
    }
    return x * power_of_two(clamp(n, -1022, 1023));
}

/* libclc's gives +0 above the largest negative number. */
#define NEXT_AFTER(type, integer, sign)                                                        \
    type BUILTIN nextafter(type x, type y)                                                     \
    {                                                                                          \
        const integer bits = as_##integer(x);                                                  \
        if (isnan(x) || isnan(y)) {                                                            \
            return x + y;                                                                      \
        }                                                                                      \
        if (x == y) {                                                                          \
            return y;                                                                          \
        }                                                                                      \
        if (x == 0) {                                                                          \
            return as_##type((as_##integer(y) & sign) | 1);                                    \
        }                                                                                      \
        return as_##type((x < y) == (x > 0) ? bits + 1 : bits - 1);                            \
    }

NEXT_AFTER(float, uint, 0x80000000u)
NEXT_AFTER(double, ulong, 0x8000000000000000ul)

/* libclc's nan(0) of double is infinity. */
double BUILTIN nan(ulong code)
{
    return as_double(code | 0x7ff8000000000000ul);
}

/* Second results, through pointers to each space; the generic one is in pointer.cl. */
double __attribute__((overloadable)) remquo(double x, double y, __private int *quotient);
double __attribute__((overloadable)) lgamma_r(double x, __private int *sign);

#define SINCOS(space, type)                        \
    type BUILTIN sincos(type x, space type *cosine) \
    {                                               \
        *cosine = cos(x);                           \
        return sin(x);                              \
    }

#define SECONDS(space)                                                \
    SINCOS(space, float)                                              \
    SINCOS(space, double)                                             \
    float BUILTIN lgamma_r(float x, space int *sign)                  \
    {                                                                 \
        __private int sign_of_one;                                    \
        float result = (float)lgamma_r((double)x, &sign_of_one);      \
        *sign = sign_of_one;                                          \
        return result;                                                \
    }                                                                 \
    float BUILTIN remquo(float x, float y, space int *quotient)       \
    {                                                                 \
        __private int bits;                                           \
        float rest = (float)remquo((double)x, (double)y, &bits);      \
        *quotient = bits;                                             \
        return rest;                                                  \
    }

#define SECONDS_OF_VECTORS(space, n)                                             \
    SINCOS(space, float##n)                                                      \
    SINCOS(space, double##n)                                                     \
    float##n BUILTIN remquo(float##n x, float##n y, space int##n *quotient)      \
    {                                                                            \
        float##n rest;                                                           \
        int##n bits;                                                             \
        for (uint i = 0; i < n; i++) {                                           \
            __private int bits_of_one;                                           \
            rest[i] = (float)remquo((double)x[i], (double)y[i], &bits_of_one);   \
            bits[i] = bits_of_one;                                               \
        }                                                                        \
        *quotient = bits;                                                        \
        return rest;                                                             \
    }                                                                            \
    float##n BUILTIN lgamma_r(float##n x, space int##n *sign)                    \
    {                                                                            \
        float##n result;                                                         \
        int##n signs;                                                            \
        for (uint i = 0; i < n; i++) {                                           \
            __private int sign_of_one;                                           \
            result[i] = (float)lgamma_r((double)x[i], &sign_of_one);             \
            signs[i] = sign_of_one;                                              \
        }                                                                        \
        *sign = signs;                                                           \
        return result;                                                           \
    }

SECONDS(__private)
SECONDS(__global)
SECONDS(__local)

/*
 * Vectors of libclc have its own scalars inside. Loops that LLVM leaves as they are would choose one of n registers in
 * each turn.
 */
#define OF_VECTOR(name, type, n)                    \
    type##n BUILTIN name(type##n x)                 \
    {                                               \
        type##n result;                             \
        _Pragma("unroll")                           \
        for (uint i = 0; i < n; i++) {              \
            result[i] = name(x[i]);                 \
        }                                           \
        return result;                              \
    }

#define OF_VECTORS(name, type, other, n)            \
    type##n BUILTIN name(type##n x, other##n y)     \
    {                                               \
        type##n result;                             \
        _Pragma("unroll")                           \
        for (uint i = 0; i < n; i++) {              \
            result[i] = name(x[i], y[i]);           \
        }                                           \
        return result;                              \
    }

#define BY_ONE(name, type, n)                       \
    type##n BUILTIN name(type##n x, int y)          \
    {                                               \
        return name(x, (int##n)y);                  \
    }

#define WIDTHS(macro, ...)    \
    macro(__VA_ARGS__, 2)     \
    macro(__VA_ARGS__, 3)     \
    macro(__VA_ARGS__, 4)     \
    macro(__VA_ARGS__, 8)     \
    macro(__VA_ARGS__, 16)

WIDTHS(OF_VECTOR, sinpi, float)
WIDTHS(OF_VECTOR, sinpi, double)
WIDTHS(OF_VECTOR, cospi, float)
WIDTHS(OF_VECTOR, cospi, double)
WIDTHS(OF_VECTOR, tanpi, float)
WIDTHS(OF_VECTOR, tanpi, double)
WIDTHS(OF_VECTOR, tan, double)
WIDTHS(OF_VECTOR, atan, double)
WIDTHS(OF_VECTOR, atanpi, double)
WIDTHS(OF_VECTOR, erfc, float)
WIDTHS(OF_VECTOR, lgamma, float)
WIDTHS(OF_VECTOR, exp2, float)
WIDTHS(OF_VECTOR, log2, float)
WIDTHS(OF_VECTOR, sin, float)
WIDTHS(OF_VECTOR, sin, double)
WIDTHS(OF_VECTOR, expm1, double)
WIDTHS(OF_VECTOR, erf, double)
WIDTHS(OF_VECTOR, cos, float)
WIDTHS(OF_VECTOR, cos, double)
WIDTHS(OF_VECTOR, rsqrt, float)
WIDTHS(OF_VECTOR, exp, float)
WIDTHS(OF_VECTOR, exp, double)
WIDTHS(OF_VECTOR, exp2, double)
WIDTHS(OF_VECTOR, exp10, double)
WIDTHS(OF_VECTOR, tgamma, float)
WIDTHS(OF_VECTOR, tgamma, double)
WIDTHS(OF_VECTORS, fmod, float, float)
WIDTHS(OF_VECTORS, remainder, float, float)
WIDTHS(OF_VECTORS, ldexp, float, int)
WIDTHS(OF_VECTORS, ldexp, double, int)
WIDTHS(OF_VECTORS, nextafter, float, float)
WIDTHS(OF_VECTORS, nextafter, double, double)
WIDTHS(BY_ONE, ldexp, float)
WIDTHS(BY_ONE, ldexp, double)
WIDTHS(SECONDS_OF_VECTORS, __private)
WIDTHS(SECONDS_OF_VECTORS, __global)
WIDTHS(SECONDS_OF_VECTORS, __local)

#define NAN_OF_VECTOR(type, n)                                                            \
    type##n BUILTIN nan(ulong##n code)                                                    \
    {                                                                                     \
        return as_##type##n(code | (ulong##n)0x7ff8000000000000ul);                       \
    }
WIDTHS(NAN_OF_VECTOR, double)
WIDTHS(OF_VECTORS, rootn, float, int)

/* ---- forms that libclc lacks ---- */

#define DEFINE_SMOOTHSTEP(type)                                                         \
    type __attribute__((overloadable, const)) smoothstep(type low, type high, type x); \
    type BUILTIN smoothstep(double low, double high, type x)                           \
    {                                                                                  \
        return smoothstep((type)low, (type)high, x);                                   \
    }
DEFINE_SMOOTHSTEP(double2)
DEFINE_SMOOTHSTEP(double3)
DEFINE_SMOOTHSTEP(double4)
DEFINE_SMOOTHSTEP(double8)
DEFINE_SMOOTHSTEP(double16)
