/* SPDX-License-Identifier: MIT */
/* Built with -ffast-math, which makes loops out of these that call the vector functions of the host's library. */
#include "tests/compiler/quick.h"

#include "ppu/macros.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#ifdef __x86_64__
#define EACH_LEVEL __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define EACH_LEVEL
#endif

#define PI 3.14159265358979323846

/* A float that is not zero is a normal double. */
static inline double exponent(double x)
{
    return (int32_t)(bits_of(x) >> 52 & 0x7ff) - 1023;
}

static inline double mantissa(double x)
{
    return x == 0 ? x : of_bits((bits_of(x) & ~(0x7ffull << 52)) | 0x3feull << 52);
}

static inline double negative(double x)
{
    return (int32_t)(bits_of(x) >> 63);
}

static inline double odd(double whole)
{
    return whole - 2 * floor(whole / 2);
}

/* Of x half turns. */
static inline double sin_turns(double x)
{
    double whole = rint(x), part = sin((x - whole) * PI);

    return odd(whole) != 0 ? -part : part;
}

static inline double cos_turns(double x)
{
    double whole = rint(x), part = sin((0.5 - fabs(x - whole)) * PI);

    return odd(whole) != 0 ? -part : part;
}

static inline double sign_of_gamma(double x)
{
    return x > 0 ? 1 : x == floor(x) ? 0 : odd(floor(x)) != 0 ? -1 : 1;
}

#define QUICK(name, expression)                                                                           \
    EACH_LEVEL static void quick_##name(const double *restrict from, double *restrict to, uint32_t count) \
    {                                                                                                     \
        for (uint32_t i = 0; i < count; i++) {                                                            \
            double x = from[i];                                                                           \
            (void)x;                                                                                      \
            to[i] = expression;                                                                           \
        }                                                                                                 \
    }
#include "tests/compiler/quick.def"

static const struct {
    const char *name;
    quick_model model;
} models[] = {
#define QUICK(name, expression) { #name, quick_##name },
#include "tests/compiler/quick.def"
};

quick_model quick_find(const char *name)
{
    for (size_t i = 0; i < PPU_ARRAY_SIZE(models); i++) {
        if (strcmp(models[i].name, name) == 0) {
            return models[i].model;
        }
    }
    return NULL;
}
