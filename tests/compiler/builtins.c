/* SPDX-License-Identifier: MIT */
#include "tests/compiler/builtins.h"

#include "ppu/macros.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#define NO_LIMIT INFINITY /* the specification leaves it to the implementation */

/* ---- what the host lacks ---- */

static bool model_wide;               /* what is compared is a double */
#define UNDEFINED 0x1.2345678p-16000L /* no float and no double: any result will do */

static const long double pi = 3.14159265358979323846264338327950288L;

static long double m_exp10(long double x)
{
    return powl(10, x);
}

static long double m_rsqrt(long double x)
{
    return 1 / sqrtl(x);
}

static long double m_sinpi(long double x)
{
    long double part = fmodl(x, 2);

    return part == truncl(part) ? copysignl(0, x) : sinl(part * pi);
}

static long double m_cospi(long double x)
{
    long double part = fmodl(fabsl(x), 2);

    return part == 0.5L || part == 1.5L ? 0 : cosl(part * pi);
}

static long double m_tanpi(long double x)
{
    long double s = m_sinpi(x), c = m_cospi(x);

    return c == 0 ? copysignl(INFINITY, s) : s / c;
}

static long double m_acospi(long double x)
{
    return acosl(x) / pi;
}

static long double m_asinpi(long double x)
{
    return asinl(x) / pi;
}

static long double m_atanpi(long double x)
{
    return atanl(x) / pi;
}

static long double m_atan2pi(long double y, long double x)
{
    return atan2l(y, x) / pi;
}

static long double m_rootn(long double x, long double n)
{
    if (n == 0) {
        return NAN;
    }
    if (fmodl(n, 2) != 0) {
        return copysignl(powl(fabsl(x), 1 / n), x);
    }
    return x < 0 ? NAN : powl(fabsl(x), 1 / n);
}

static long double m_powr(long double x, long double y)
{
    bool undefined = x < 0 || (y == 0 ? x == 0 || isinf(x) : x == 1 && isinf(y));

    return undefined || isnan(x) || isnan(y) ? NAN : powl(fabsl(x), y);
}

static long double m_ldexp(long double x, long double n)
{
    return ldexpl(x, (int)n);
}

static long double m_degrees(long double x)
{
    return x * (180 / pi);
}

static long double m_radians(long double x)
{
    return x * (pi / 180);
}

static long double m_sign(long double x)
{
    return isnan(x) ? 0 : x == 0 ? x : x > 0 ? 1 : -1;
}

static long double m_recip(long double x)
{
    return 1 / x;
}

static long double m_divide(long double x, long double y)
{
    return x / y;
}

static long double m_maxmag(long double x, long double y)
{
    return fabsl(x) > fabsl(y) ? x : fabsl(y) > fabsl(x) ? y : fmaxl(x, y);
}

static long double m_minmag(long double x, long double y)
{
    return fabsl(x) < fabsl(y) ? x : fabsl(y) < fabsl(x) ? y : fminl(x, y);
}

static long double m_step(long double edge, long double x)
{
    return x < edge ? 0 : 1;
}

static long double m_fma(long double x, long double y, long double z)
{
    return fmal(x, y, z);
}

static long double m_mad(long double x, long double y, long double z)
{
    return x * y + z;
}

static long double m_clamp(long double x, long double low, long double high)
{
    return low > high || isnan(x) || isnan(low) || isnan(high) ? UNDEFINED : fminl(fmaxl(x, low), high);
}

static long double m_mix(long double x, long double y, long double a)
{
    return a >= 0 && a <= 1 ? x + (y - x) * a : UNDEFINED;
}

/* Open: edges in the wrong order, or so far apart that the type cannot hold it. */
static long double m_smoothstep(long double low, long double high, long double x)
{
    long double t = fminl(fmaxl((x - low) / (high - low), 0), 1);
    bool far = high - low > (model_wide ? DBL_MAX : (long double)FLT_MAX);

    return isnan(x) || isnan(low) || isnan(high) || low >= high || far ? UNDEFINED : t * t * (3 - 2 * t);
}

/* ---- two results, numbers of other types: as the program's of_... make one number of them ---- */

static long double m_fract(long double x)
{
    long double part = isinf(x) ? copysignl(0, x) : x - floorl(x);

    return fminl(part, model_wide ? 0x1.fffffffffffffp-1L : 0x1.fffffep-1L) + (isnan(x) ? x : 0);
}

static long double m_frexp(long double x)
{
    int exponent;

    return frexpl(x, &exponent);
}

static long double m_frexp_exponent(long double x)
{
    int exponent = 0;

    frexpl(x, &exponent);
    return isfinite(x) ? exponent : 0;
}

static long double m_ilogb(long double x)
{
    return x == 0 || !isfinite(x) ? 5000 : ilogbl(x);
}

static long double m_isfinite(long double x)
{
    return isfinite(x);
}

static long double m_isinf(long double x)
{
    return isinf(x) != 0;
}

static long double m_isnan(long double x)
{
    return isnan(x);
}

static long double m_isnormal(long double x)
{
    return model_wide ? isnormal((double)x) : isnormal((float)x);
}

static long double m_signbit(long double x)
{
    return signbit(x) != 0;
}

static long double m_nan(long double x)
{
    (void)x;
    return NAN;
}

static long double m_modf(long double x)
{
    long double whole;

    return modfl(x, &whole);
}

static long double m_lgamma_sign(long double x)
{
    int sign = 0;

    lgammal_r(x, &sign);
    return (x <= 0 && x == floorl(x)) || !isfinite(x) ? 0 : sign;
}

static long double m_same(long double x)
{
    (void)x;
    return 1;
}
#define m_sincos m_same /* they are compared with sin, cos and lgamma where they are made */
#define m_lgamma_r m_same

#define RELATION(name, test)                                  \
    static long double m_##name(long double x, long double y) \
    {                                                         \
        return test;                                          \
    }
RELATION(isequal, x == y)
RELATION(isnotequal, x != y)
RELATION(isgreater, isgreater(x, y))
RELATION(isgreaterequal, isgreaterequal(x, y))
RELATION(isless, isless(x, y))
RELATION(islessequal, islessequal(x, y))
RELATION(islessgreater, islessgreater(x, y))
RELATION(isordered, !isunordered(x, y))
RELATION(isunordered, isunordered(x, y))

static long double m_nextafter(long double x, long double y)
{
    return model_wide ? nextafter((double)x, (double)y) : nextafterf((float)x, (float)y);
}

/* The low seven bits of the whole quotient, with its sign. */
static long double m_remquo_bits(long double x, long double y)
{
    if (y == 0 || !isfinite(x) || isnan(y)) {
        return 0;
    }
    long double part = fmodl(fabsl(x), 128 * fabsl(y));
    long double bits = isinf(y) ? 0 : fmodl(rintl((part - remainderl(part, fabsl(y))) / fabsl(y)), 128);

    return signbit(x) != signbit(y) ? -bits : bits;
}

#define ONE(name, model, ulp, wide) { #name, model, NULL, NULL, ulp, wide, false, false, false, false },
#define TWO(name, model, ulp, wide) { #name, NULL, model, NULL, ulp, wide, false, false, false, false },
#define POWER(name, model, ulp, wide) { #name, NULL, model, NULL, ulp, wide, false, true, false, false },
#define WITH_INT(name, model, ulp, wide) { #name, NULL, model, NULL, ulp, wide, true, false, false, false },
#define THREE(name, model, ulp, wide) { #name, NULL, NULL, model, ulp, wide, false, false, false, false },
#define FLOAT1(name, model, ulp) { #name, model, NULL, NULL, ulp, 0, false, false, true, false },
#define FLOAT2(name, model, ulp) { #name, NULL, model, NULL, ulp, 0, false, false, true, false },
#define VIA1(name, model) { #name, model, NULL, NULL, 0, 0, false, false, false, true },
#define VIA2(name, model) { #name, NULL, model, NULL, 0, 0, false, false, false, true },
const struct builtin builtins[] = {
#include "tests/compiler/builtins.def"
};
const uint32_t builtin_count = PPU_ARRAY_SIZE(builtins);

uint32_t builtin_arguments(const struct builtin *f)
{
    return f->one ? 1 : f->two ? 2 : 3;
}

static long double model(const struct builtin *f, const double x[BUILTIN_ARGUMENTS])
{
    return f->one ? f->one(x[0]) : f->two ? f->two(x[0], x[1]) : f->three(x[0], x[1], x[2]);
}

/* ---- differences ---- */

static double ulp_error(double got, long double wanted, bool wide)
{
    double rounded = wide ? (double)wanted : (double)(float)wanted;
    int least = wide ? -1022 : -126, digits = wide ? 52 : 23;

    if (wanted == UNDEFINED) {
        return 0;
    }
    if (isnan(wanted) || isnan(got)) {
        return isnan(wanted) && isnan(got) ? 0 : INFINITY;
    }
    if (got == rounded) {
        return 0;
    }
    if (isinf(rounded) && !isinf(got)) { /* the largest number stands for what rounds beyond it */
        rounded = copysign(wide ? DBL_MAX : FLT_MAX, rounded);
        wanted = rounded;
    }
    if (isinf(got)) {
        double largest = wide ? DBL_MAX : FLT_MAX;
        return fabsl(wanted) > largest / 2 ? fabs((double)(fabsl(wanted) / largest) - 1) * ldexp(1, digits) : INFINITY;
    }
    int exponent = rounded == 0 ? least : ilogb(rounded);
    return (double)(fabsl(got - wanted) / ldexpl(1, PPU_MAX(exponent, least) - digits));
}

double builtin_error(const struct builtin *f, const double x[BUILTIN_ARGUMENTS], double got, bool wide)
{
    model_wide = wide;
    return ulp_error(got, model(f, x), wide);
}
