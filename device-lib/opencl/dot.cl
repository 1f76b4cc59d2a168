/* SPDX-License-Identifier: MIT */
/* Implements cl_khr_integer_dot_product: products of four bytes, which always fit, and their saturating sums. */
#include "primitive.h"

#define DOT(result, a_type, b_type)                                              \
    result BUILTIN dot(a_type##4 a, b_type##4 b)                                 \
    {                                                                            \
        result sum = 0;                                                          \
        for (uint i = 0; i < 4; i++) {                                           \
            sum += (result)a[i] * (result)b[i];                                  \
        }                                                                        \
        return sum;                                                              \
    }                                                                            \
    result BUILTIN dot_acc_sat(a_type##4 a, b_type##4 b, result accumulator)     \
    {                                                                            \
        return add_sat(dot(a, b), accumulator);                                  \
    }

DOT(uint, uchar, uchar)
DOT(int, char, char)
DOT(int, uchar, char)
DOT(int, char, uchar)

#define PACKED(signs, result, a_type, b_type)                                            \
    result BUILTIN dot_4x8packed_##signs##_##result(uint a, uint b)                              \
    {                                                                                    \
        return dot(as_##a_type##4(a), as_##b_type##4(b));                                \
    }                                                                                    \
    result BUILTIN dot_acc_sat_4x8packed_##signs##_##result(uint a, uint b, result accumulator)  \
    {                                                                                    \
        return dot_acc_sat(as_##a_type##4(a), as_##b_type##4(b), accumulator);           \
    }

PACKED(uu, uint, uchar, uchar)
PACKED(ss, int, char, char)
PACKED(us, int, uchar, char)
PACKED(su, int, char, uchar)

/*
 * The same for SPIR-V (SPV_KHR_integer_dot_product), by the names that its translator gives them: they tell the result's
 * type, and call all operands signed. Packed operands have the number of their format behind them, of which there is one.
 */
#define SPIRV_DOT(op, result, sum, a_type, b_type)                                                        \
    result BUILTIN __spirv_##op##DotKHR_R##result(char4 a, char4 b)                                       \
    {                                                                                                     \
        return (result)dot(as_##a_type##4(a), as_##b_type##4(b));                                         \
    }                                                                                                     \
    result BUILTIN __spirv_##op##DotKHR_R##result(int a, int b, int format)                               \
    {                                                                                                     \
        return __spirv_##op##DotKHR_R##result(as_char4(a), as_char4(b));                                  \
    }                                                                                                     \
    result BUILTIN __spirv_##op##DotAccSatKHR_R##result(char4 a, char4 b, sum accumulator)                \
    {                                                                                                     \
        return add_sat(__spirv_##op##DotKHR_R##result(a, b), (result)accumulator);                        \
    }                                                                                                     \
    result BUILTIN __spirv_##op##DotAccSatKHR_R##result(int a, int b, sum accumulator, int format)        \
    {                                                                                                     \
        return __spirv_##op##DotAccSatKHR_R##result(as_char4(a), as_char4(b), accumulator);               \
    }

SPIRV_DOT(S, char, char, char, char)
SPIRV_DOT(S, short, short, char, char)
SPIRV_DOT(S, int, int, char, char)
SPIRV_DOT(S, long, long, char, char)
SPIRV_DOT(U, uchar, char, uchar, uchar)
SPIRV_DOT(U, ushort, short, uchar, uchar)
SPIRV_DOT(U, uint, int, uchar, uchar)
SPIRV_DOT(U, ulong, long, uchar, uchar)
SPIRV_DOT(SU, char, char, char, uchar)
SPIRV_DOT(SU, short, short, char, uchar)
SPIRV_DOT(SU, int, int, char, uchar)
SPIRV_DOT(SU, long, long, char, uchar)
