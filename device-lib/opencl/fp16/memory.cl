/* SPDX-License-Identifier: MIT */
/*
 * Implements what moves halves as they are: vloadn and vstoren (OpenCL C 6.15.7), shuffles, and copies by the whole
 * work-group.
 */
#include "fp16/half.h"

#define LOAD(space, n)                                                             \
    half##n BUILTIN vload##n(size_t offset, const space half *p)                   \
    {                                                                              \
        half##n data;                                                              \
        for (uint i = 0; i < n; i++) {                                             \
            data[i] = p[offset * n + i];                                           \
        }                                                                          \
        return data;                                                               \
    }
#define STORE(space, n)                                                            \
    void BUILTIN vstore##n(half##n data, size_t offset, space half *p)             \
    {                                                                              \
        for (uint i = 0; i < n; i++) {                                             \
            p[offset * n + i] = data[i];                                           \
        }                                                                          \
    }

VECTORS(LOAD, __constant)
VECTORS(LOAD, __global)
VECTORS(LOAD, __local)
VECTORS(LOAD, __private)
VECTORS(LOAD, __generic)
VECTORS(STORE, __global)
VECTORS(STORE, __local)
VECTORS(STORE, __private)
VECTORS(STORE, __generic)

/* Only the low bits of an element of the mask count. */
#define SHUFFLE(m, n)                                                                   \
    half##n BUILTIN shuffle(half##m x, ushort##n mask)                                  \
    {                                                                                   \
        half##n result;                                                                 \
        for (uint i = 0; i < n; i++) {                                                  \
            result[i] = x[mask[i] % m];                                                 \
        }                                                                               \
        return result;                                                                  \
    }                                                                                   \
    half##n BUILTIN shuffle2(half##m x, half##m y, ushort##n mask)                      \
    {                                                                                   \
        half##n result;                                                                 \
        for (uint i = 0; i < n; i++) {                                                  \
            uint k = mask[i] % (2 * m);                                                 \
            result[i] = k < m ? x[k] : y[k - m];                                        \
        }                                                                               \
        return result;                                                                  \
    }
#define SHUFFLES(m)   \
    SHUFFLE(m, 2)     \
    SHUFFLE(m, 4)     \
    SHUFFLE(m, 8)     \
    SHUFFLE(m, 16)

SHUFFLES(2)
SHUFFLES(4)
SHUFFLES(8)
SHUFFLES(16)

/* As bits: the copies of integers of the same size are in the library. */
#define COPIES(to, from, n)                                                                                     \
    event_t BUILTIN async_work_group_copy(to half##n *dst, const from half##n *src, size_t count, event_t event) \
    {                                                                                                           \
        return async_work_group_copy((to ushort##n *)dst, (const from ushort##n *)src, count, event);           \
    }                                                                                                           \
    event_t BUILTIN async_work_group_strided_copy(to half##n *dst, const from half##n *src, size_t count,       \
                                                  size_t stride, event_t event)                                 \
    {                                                                                                           \
        return async_work_group_strided_copy((to ushort##n *)dst, (const from ushort##n *)src, count, stride, event); \
    }
#define PREFETCH(unused, n)                                                 \
    void BUILTIN prefetch(const __global half##n *p, size_t count)          \
    {                                                                       \
    }

WIDTHS(COPIES, __local, __global)
WIDTHS(COPIES, __global, __local)
WIDTHS(PREFETCH, )
