/* SPDX-License-Identifier: MIT */
/* Built-in functions against the host's, which computes in a wider type; differences in units of the last place. */
#include "device.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 512u

struct unary {
    const char *name;
    double (*model)(double x);
    float ulp; /* limit of the specification */
};

static double exp10_model(double x)
{
    return pow(10.0, x);
}

static double rsqrt_model(double x)
{
    return 1.0 / sqrt(x);
}

static double sinpi_model(double x)
{
    double part = fmod(x, 2.0);

    return part == trunc(part) ? copysign(0.0, x) : sin(part * M_PI);
}

static const struct unary unaries[] = {
    { "acos", acos, 4 },         { "asin", asin, 4 },         { "atan", atan, 5 },         { "acosh", acosh, 4 },
    { "asinh", asinh, 4 },       { "atanh", atanh, 5 },       { "cbrt", cbrt, 2 },         { "ceil", ceil, 0 },
    { "cos", cos, 4 },           { "cosh", cosh, 4 },         { "erf", erf, 16 },          { "erfc", erfc, 16 },
    { "exp", exp, 3 },           { "exp2", exp2, 3 },         { "exp10", exp10_model, 3 }, { "expm1", expm1, 3 },
    { "fabs", fabs, 0 },         { "floor", floor, 0 },       { "log", log, 3 },           { "log2", log2, 3 },
    { "log10", log10, 3 },       { "log1p", log1p, 2 },       { "logb", logb, 0 },         { "rint", rint, 0 },
    { "round", round, 0 },       { "rsqrt", rsqrt_model, 2 }, { "sin", sin, 4 },           { "sinh", sinh, 4 },
    { "sinpi", sinpi_model, 4 }, { "sqrt", sqrt, 0 },         { "tan", tan, 5 },           { "tanh", tanh, 5 },
    { "trunc", trunc, 0 },       { "tgamma", tgamma, 16 },
};
#define UNARIES (sizeof(unaries) / sizeof(unaries[0]))

/* Corner values, then a spread over all exponents. */
static float input(uint32_t i)
{
    static const float corners[] = { 0.0f,    -0.0f,   1.0f,     -1.0f,    0.5f,      -0.5f,       2.0f,          10.0f,
                                     FLT_MIN, FLT_MAX, -FLT_MAX, 1e-40f,   -1e-40f,   (float)M_PI, (float)M_PI_2, 88.7f,
                                     -87.3f,  1e5f,    3.5f,     INFINITY, -INFINITY, NAN };
    uint32_t bits = i * 2654435761u;
    float value;

    if (i < sizeof(corners) / sizeof(corners[0])) {
        return corners[i];
    }
    if (i % 2 == 0) { /* where most functions do something */
        return ldexpf((float)(int32_t)bits, -27);
    }
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static double ulp_error(float got, double wanted)
{
    float rounded = (float)wanted;

    if (isnan(wanted) || isnan(got)) {
        return isnan(wanted) && isnan(got) ? 0 : INFINITY;
    }
    if (got == rounded) {
        return 0;
    }
    if (isinf(got) || isinf(rounded)) {
        return INFINITY;
    }
    double unit = ldexp(1.0, (rounded == 0 ? -126 : ilogbf(rounded) < -126 ? -126 : ilogbf(rounded)) - 23);
    return fabs(got - wanted) / unit;
}

/* One kernel a function. */
static char *unary_source(void)
{
    char *source = calloc(UNARIES, 200);
    size_t at = 0;

    assert_non_null(source);
    for (uint32_t f = 0; f < UNARIES; f++) {
        at += (size_t)sprintf(source + at,
                              "__kernel void k_%s(__global float *o, __global const float *x)"
                              "{ size_t i = get_global_id(0); o[i] = %s(x[i]); }\n",
                              unaries[f].name, unaries[f].name);
    }
    return source;
}

static uint32_t check_unary(struct device *device, const struct unary *unary)
{
    char kernel[64];
    double worst = 0;
    float at = 0;

    snprintf(kernel, sizeof(kernel), "k_%s", unary->name);
    device_kernel(device, kernel);
    float *out = device_buffer(device, 0, 4 * COUNT), *in = device_buffer(device, 1, 4 * COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        in[i] = input(i);
    }
    device_run_threads(device, COUNT, 64);
    for (uint32_t i = 0; i < COUNT; i++) {
        double error = ulp_error(out[i], unary->model((double)in[i]));
        if (error > worst) {
            worst = error;
            at = in[i];
        }
    }
    if (getenv("PPU_ULP") != NULL || worst > (double)unary->ulp + 0.5) {
        print_message("# %s: %.2f ulp at %a, limit %g\n", unary->name, worst, (double)at, (double)unary->ulp);
    }
    return worst > (double)unary->ulp + 0.5;
}

static void unary_floats(void **state)
{
    char *source = unary_source();
    uint32_t misses = 0;

    device_load(*state, source, NULL);
    free(source);
    for (uint32_t f = 0; f < UNARIES; f++) {
        misses += check_unary(*state, &unaries[f]);
    }
    assert_int_equal(misses, 0);
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
        { "float functions of one argument are as precise as OpenCL asks [A7]", unary_floats, setup, teardown, NULL },
    };

    return cmocka_run_group_tests_name("compiler: built-in functions", tests, NULL, NULL);
}
