/* SPDX-License-Identifier: MIT */
/*
 * Widens halves and rounds floats to halves, for functions that compute in float: every half is a float, and the result
 * is rounded once more.
 */
#ifndef DEVICE_LIB_OPENCL_FP16_HALF_H
#define DEVICE_LIB_OPENCL_FP16_HALF_H

#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#define INTERNAL static __attribute__((overloadable, always_inline, unused))

INTERNAL float wide(half x)
{
    return (float)x;
}

INTERNAL half narrow(float x)
{
    return (half)x;
}

#define OF_WIDTH(n)                                  \
    INTERNAL float##n wide(half##n x)                \
    {                                                \
        return __builtin_convertvector(x, float##n); \
    }                                                \
    INTERNAL half##n narrow(float##n x)              \
    {                                                \
        return __builtin_convertvector(x, half##n);  \
    }

OF_WIDTH(2)
OF_WIDTH(3)
OF_WIDTH(4)
OF_WIDTH(8)
OF_WIDTH(16)

/* The macro for each width. */
#define VECTORS(macro, ...) \
    macro(__VA_ARGS__, 2) macro(__VA_ARGS__, 3) macro(__VA_ARGS__, 4) macro(__VA_ARGS__, 8) macro(__VA_ARGS__, 16)

#define WIDTHS(macro, ...) macro(__VA_ARGS__, ) VECTORS(macro, __VA_ARGS__)

#endif
