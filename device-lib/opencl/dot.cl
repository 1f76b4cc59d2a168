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
