/* SPDX-License-Identifier: MIT */
/*
 * Implements lengths and unit vectors. libclc's scale in branches what is too large or too small to be squared, which
 * ends straight code; these have no branches.
 */
#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define INFINITE 0x1p500 /* in place of infinity: all floats beside it are 0 in the unit vector */
#define LARGE 0x1p500    /* squares of more may be too large, and of less than SMALL too small */
#define SMALL 0x1p-400

/* What a vector is multiplied by to become one of this length; 0 stays 0, NaN is NaN. */
static double to_unit(double square)
{
    return square > 0 ? 1.0 / sqrt(square) : square;
}

/* Squares of floats are neither too large nor too small for doubles. */
#define OF_FLOATS(n)                                                           \
    float BUILTIN length(float##n x)                                           \
    {                                                                          \
        const double##n wide = convert_double##n(x);                           \
        return (float)sqrt(dot(wide, wide));                                   \
    }                                                                          \
    float BUILTIN distance(float##n x, float##n y)                             \
    {                                                                          \
        return length(x - y);                                                  \
    }                                                                          \
    float##n BUILTIN normalize(float##n x)                                     \
    {                                                                          \
        const double##n wide = convert_double##n(x), most = INFINITE;          \
        const double##n held = wide > most ? most : wide < -most ? -most : wide; \
        return convert_float##n(held * to_unit(dot(held, held)));              \
    }

OF_FLOATS(2)
OF_FLOATS(3)
OF_FLOATS(4)

/* The largest element, without its sign. */
static double __attribute__((overloadable)) largest(double2 x)
{
    return fmax(fabs(x.x), fabs(x.y));
}
static double __attribute__((overloadable)) largest(double3 x)
{
    return fmax(largest(x.xy), fabs(x.z));
}
static double __attribute__((overloadable)) largest(double4 x)
{
    return fmax(largest(x.xy), largest(x.zw));
}

/* A power of two that makes squares of such numbers fit. */
static double scale_of(double most)
{
    return most > LARGE ? 0x1p-600 : most < SMALL ? 0x1p600 : 1.0;
}

/* Unit vectors are scaled down last: a small element beside a large one would lose bits. */
#define OF_DOUBLES(n)                                                                          \
    double BUILTIN length(double##n x)                                                         \
    {                                                                                          \
        const double scale = scale_of(largest(x));                                             \
        const double##n scaled = x * scale;                                                    \
        return sqrt(dot(scaled, scaled)) / scale;                                              \
    }                                                                                          \
    double BUILTIN distance(double##n x, double##n y)                                          \
    {                                                                                          \
        return length(x - y);                                                                  \
    }                                                                                          \
    double##n BUILTIN normalize(double##n x)                                                   \
    {                                                                                          \
        const double most = largest(x), scale = scale_of(most);                                \
        const double up = most == INFINITY ? 0.0 : fmax(scale, 1.0);                           \
        const double down = most == INFINITY ? 1.0 : fmin(scale, 1.0);                         \
        const double##n one = copysign((double##n)1.0, x);                                     \
        const double##n raised = fabs(x) == (double##n)INFINITY ? one : x * up;                \
        const double##n scaled = raised * down;                                                \
        return raised * to_unit(dot(scaled, scaled)) * down;                                   \
    }

OF_DOUBLES(2)
OF_DOUBLES(3)
OF_DOUBLES(4)
