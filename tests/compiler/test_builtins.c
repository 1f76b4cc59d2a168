/* SPDX-License-Identifier: MIT */
/*
 * Built-in functions against the host's, computed in long double; differences in units of the last place.
 * PPU_ULP=FILE writes the table of the largest differences. PPU_LONG=STEP tries every STEP-th float on the functions of
 * one argument: 1 all of them; PPU_BUILTIN=NAME only on this one.
 */
#include "device.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 1024u
#define CHUNK 65536u /* floats a launch of the long run */
#define MAX_ARGUMENTS 3u
#define NO_LIMIT INFINITY /* the specification leaves it to the implementation */

typedef long double (*model1)(long double);
typedef long double (*model2)(long double, long double);
typedef long double (*model3)(long double, long double, long double);

struct builtin {
    const char *name;
    model1 one; /* one of the three */
    model2 two;
    model3 three;
    float ulp, wide_ulp; /* limits of the specification for float and double */
    bool integer;        /* the last of two arguments is an int */
    bool positive;       /* the first argument must not be negative */
    bool narrow;         /* there is none of double */
    bool via;            /* through of_NAME */
};

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
static const struct builtin builtins[] = {
#include "builtins.def"
};
#define BUILTINS (sizeof(builtins) / sizeof(builtins[0]))

/* ---- arguments ---- */

static const double corners[] = { 0.0,     -0.0,     1.0,   -1.0,   0.5,  -0.5,     2.0,       3.0,  10.0,
                                  FLT_MIN, -FLT_MIN, 1e-40, -1e-40, M_PI, M_PI / 2, -M_PI / 4, 88.7, -87.3,
                                  1e5,     3.5,      1e30,  -1e30,  7.0,  INFINITY, -INFINITY, NAN };
#define CORNERS (sizeof(corners) / sizeof(corners[0]))

static uint64_t mixed(uint64_t n)
{
    n = (n + 1) * 0x9e3779b97f4a7c15ull;
    return n ^ n >> 29;
}

/* Corner values, all pairs of them for two arguments; then numbers of many sizes, and where most functions do
 * something. */
static double argument(uint32_t i, uint32_t which, bool wide)
{
    uint64_t bits = mixed(i * MAX_ARGUMENTS + which);
    float narrow;
    double value;

    if (i < CORNERS * CORNERS) {
        return corners[which == 0 ? i % CORNERS : (i / CORNERS + (which - 1) * 5) % CORNERS];
    }
    if (i % 2 == 0) {
        return ldexp((double)(int32_t)bits, -27);
    }
    if (wide) {
        memcpy(&value, &bits, sizeof(value));
        return value;
    }
    memcpy(&narrow, &bits, sizeof(narrow));
    return (double)narrow;
}

/* The argument as the function gets it. */
static double given(const struct builtin *f, uint32_t i, uint32_t which, bool wide)
{
    double value = argument(i, which, wide);

    if (f->integer && which == 1) {
        return isnan(value) ? 2 : trunc(fmax(fmin(value, 200), -200));
    }
    if (f->positive && which == 0) {
        value = fabs(value);
    }
    return wide ? value : (double)(float)value;
}

static long double model(const struct builtin *f, const double x[MAX_ARGUMENTS])
{
    return f->one != NULL ? f->one(x[0]) : f->two != NULL ? f->two(x[0], x[1]) : f->three(x[0], x[1], x[2]);
}

/* ---- differences ---- */

static double ulp_error(double got, long double wanted, bool wide)
{
    double rounded = wide ? (double)wanted : (double)(float)wanted;
    int least = wide ? -1022 : -126, digits = wide ? 52 : 23, exponent;

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
    exponent = rounded == 0 ? least : ilogb(rounded);
    return (double)(fabsl(got - wanted) / ldexpl(1, (exponent < least ? least : exponent) - digits));
}

/* ---- kernels ---- */

static uint32_t arguments_of(const struct builtin *f)
{
    return f->one != NULL ? 1 : f->two != NULL ? 2 : 3;
}

static size_t put_kernel(char *text, const struct builtin *f, bool wide)
{
    const char *type = wide ? "double" : "float";
    const char *last = f->integer ? "(int)y[i]" : "y[i]";
    uint32_t count = arguments_of(f);

    return (size_t)sprintf(text,
                           "__kernel void %s_%s(__global %s *o, __global const %s *x, __global const %s *y, "
                           "__global const %s *z) { size_t i = get_global_id(0); o[i] = %s%s(x[i]%s%s%s); }\n",
                           wide ? "d" : "f", f->name, type, type, type, type, f->via ? "of_" : "", f->name,
                           count > 1 ? ", " : "", count > 1 ? last : "", count > 2 ? ", z[i]" : "");
}

static void load_kernels(struct device *device, bool wide)
{
    char *source = calloc(BUILTINS, 400), *helpers = device_read("../builtins.cl");
    size_t at = 0;

    assert_non_null(source);
    at += (size_t)sprintf(source, "#define T %s\n%s", wide ? "double" : "float", helpers);
    for (uint32_t f = 0; f < BUILTINS; f++) {
        at += builtins[f].narrow && wide ? 0 : put_kernel(source + at, &builtins[f], wide);
    }
    free(helpers);
    device_load(device, source, "-cl-std=CL1.2");
    free(source);
}

struct buffers {
    uint8_t *out;
    uint8_t *in[MAX_ARGUMENTS];
};

static struct buffers new_launch(struct device *device, const struct builtin *f, bool wide, uint32_t count)
{
    struct buffers b;
    char kernel[64];

    snprintf(kernel, sizeof(kernel), "%s_%s", wide ? "d" : "f", f->name);
    device_kernel(device, kernel);
    b.out = device_buffer(device, 0, count * (wide ? 8 : 4));
    for (uint32_t a = 0; a < MAX_ARGUMENTS; a++) {
        b.in[a] = device_buffer(device, 1 + a, a < arguments_of(f) ? count * (wide ? 8 : 4) : 4);
    }
    return b;
}

static void put_number(uint8_t *at, uint32_t i, bool wide, double value)
{
    float narrow = (float)value;

    if (wide) {
        memcpy(at + 8 * (size_t)i, &value, 8);
    } else {
        memcpy(at + 4 * (size_t)i, &narrow, 4);
    }
}

static double get_number(const uint8_t *at, uint32_t i, bool wide)
{
    double value;
    float narrow;

    if (wide) {
        memcpy(&value, at + 8 * (size_t)i, 8);
        return value;
    }
    memcpy(&narrow, at + 4 * (size_t)i, 4);
    return (double)narrow;
}

/* The largest difference, and the arguments that give it. */
static double measure(struct device *device, const struct builtin *f, bool wide, double worst_at[MAX_ARGUMENTS])
{
    struct buffers b = new_launch(device, f, wide, COUNT);
    double worst = 0;

    model_wide = wide;
    for (uint32_t i = 0; i < COUNT; i++) {
        for (uint32_t a = 0; a < arguments_of(f); a++) {
            put_number(b.in[a], i, wide, given(f, i, a, wide));
        }
    }
    device_run_threads(device, COUNT, 64);
    for (uint32_t i = 0; i < COUNT; i++) {
        double x[MAX_ARGUMENTS] = { given(f, i, 0, wide), given(f, i, 1, wide), given(f, i, 2, wide) };
        double error = ulp_error(get_number(b.out, i, wide), model(f, x), wide);
        if (error > worst) {
            worst = error;
            memcpy(worst_at, x, sizeof(x));
        }
    }
    return worst;
}

static double results[BUILTINS][2];

static uint32_t check(struct device *device, uint32_t f, bool wide)
{
    double limit = (double)(wide ? builtins[f].wide_ulp : builtins[f].ulp), at[MAX_ARGUMENTS] = { 0 };
    double worst = measure(device, &builtins[f], wide, at);

    results[f][wide] = worst;
    if (worst > limit + 0.5) {
        print_message("# %s of %s: %.2f ulp at %a, %a, %a; limit %g\n", builtins[f].name, wide ? "double" : "float",
                      worst, at[0], at[1], at[2], limit);
    }
    return worst > limit + 0.5;
}

static void precise(struct device *device, bool wide)
{
    uint32_t misses = 0;

    load_kernels(device, wide);
    for (uint32_t f = 0; f < BUILTINS; f++) {
        misses += builtins[f].narrow && wide ? 0 : check(device, f, wide);
    }
    assert_int_equal(misses, 0);
}

static void floats(void **state)
{
    precise(*state, false);
}

static void doubles(void **state)
{
    precise(*state, true);
}

/* ---- the long run ---- */

static double run_chunk(struct device *device, const struct builtin *f, uint64_t first, uint64_t step)
{
    struct buffers b = new_launch(device, f, false, CHUNK);
    double worst = 0;

    for (uint32_t i = 0; i < CHUNK; i++) {
        uint32_t bits = (uint32_t)(first + i * step);
        memcpy(b.in[0] + 4 * (size_t)i, &bits, 4);
    }
    device_run_threads(device, CHUNK, 256);
    for (uint32_t i = 0; i < CHUNK; i++) {
        double error = ulp_error(get_number(b.out, i, false), f->one(get_number(b.in[0], i, false)), false);
        worst = error > worst ? error : worst;
    }
    return worst;
}

/* The largest difference over every step-th float. */
static double run_all(struct device *device, const struct builtin *f, uint64_t step)
{
    double worst = 0;

    for (uint64_t first = 0; first < 1ull << 32; first += CHUNK * step) {
        double here = run_chunk(device, f, first, step);
        worst = here > worst ? here : worst;
    }
    print_message("# %s: %.2f ulp over every %llu-th float\n", f->name, worst, (unsigned long long)step);
    return worst;
}

static void exhaustive(void **state)
{
    const char *text = getenv("PPU_LONG"), *only = getenv("PPU_BUILTIN");
    uint64_t step = text != NULL ? strtoull(text, NULL, 0) : 0;
    uint32_t misses = 0;

    if (step == 0) {
        skip();
    }
    load_kernels(*state, false);
    model_wide = false;
    for (uint32_t f = 0; f < BUILTINS; f++) {
        if (builtins[f].one != NULL && (only == NULL || strcmp(only, builtins[f].name) == 0)) {
            misses += run_all(*state, &builtins[f], step) > (double)builtins[f].ulp + 0.5;
        }
    }
    assert_int_equal(misses, 0);
}

/* ---- the table ---- */

static void put_cell(FILE *file, double worst, float limit)
{
    if (isinf((double)limit)) {
        fprintf(file, " %.2f | - |", worst);
    } else {
        fprintf(file, " %.2f | %g |", worst, (double)limit);
    }
}

static void write_table(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL) {
        fail_msg("%s cannot be written", path);
        return;
    }
    fprintf(
        file,
        "<!-- SPDX-License-Identifier: MIT -->\n"
        "# Precision of built-in functions\n\n"
        "The largest difference from the exact result in units of the last place, over %u sets of arguments: all pairs "
        "of corner values\n(zeros, ones, subnormals, multiples of pi, bounds of the exponent, infinities, NaN), then "
        "numbers of every size. Beside it the\nspecification's limit; - where it has none. `acos` ... of vectors are "
        "those of their elements; native and half functions are these.\n"
        "Written by `PPU_ULP=docs/spec/ulp.md build/asan/tests/compiler-builtins`.\n\n"
        "| function | arguments | float | limit | double | limit |\n|---|---|---|---|---|---|\n",
        COUNT);
    for (uint32_t f = 0; f < BUILTINS; f++) {
        if (builtins[f].via || builtins[f].narrow) {
            continue;
        }
        fprintf(file, "| `%s` | %u |", builtins[f].name, arguments_of(&builtins[f]));
        put_cell(file, results[f][0], builtins[f].ulp);
        put_cell(file, results[f][1], builtins[f].wide_ulp);
        fputc('\n', file);
    }
    fclose(file);
}

static int setup(void **state)
{
    *state = device_new();
    return 0;
}

static int teardown(void **state)
{
    device_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "functions of float are as precise as OpenCL asks [A7]", floats, setup, teardown, NULL },
        { "functions of double are as precise as OpenCL asks [A7]", doubles, setup, teardown, NULL },
        { "every float on functions of one argument (PPU_LONG) [A7]", exhaustive, setup, teardown, NULL },
    };
    int failed = cmocka_run_group_tests_name("compiler: built-in functions", tests, NULL, NULL);

    if (getenv("PPU_ULP") != NULL) {
        write_table(getenv("PPU_ULP"));
    }
    return failed;
}
