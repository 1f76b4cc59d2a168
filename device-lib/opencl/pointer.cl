/* SPDX-License-Identifier: MIT */
/*
 * Implements built-in functions on pointers that libclc lacks: to the generic space (OpenCL C 3.0), and loads from
 * constants.
 */
#include "ppu/mmu.h"
#include "primitive.h"

#define OVERLOAD __attribute__((overloadable))

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

/* Second results through a generic pointer: through a private variable. */
#define SECOND(name, type, other)                         \
    type OVERLOAD name(type x, __private other *second);  \
    type BUILTIN name(type x, other *second)              \
    {                                                     \
        __private other value;                            \
        type result = name(x, (__private other *)&value); \
        *second = value;                                  \
        return result;                                    \
    }

#define SECOND_OF_TWO(name, type, other)                           \
    type OVERLOAD name(type x, type y, __private other *second);   \
    type BUILTIN name(type x, type y, other *second)         \
    {                                                        \
        __private other value;                               \
        type result = name(x, y, (__private other *)&value); \
        *second = value;                                     \
        return result;                                       \
    }

#define SECONDS(type, integer)            \
    SECOND(fract, type, type)             \
    SECOND(modf, type, type)              \
    SECOND(sincos, type, type)            \
    SECOND(frexp, type, integer)          \
    SECOND(lgamma_r, type, integer)       \
    SECOND_OF_TWO(remquo, type, integer)

#define ALL_SECONDS(type)    \
    SECONDS(type, int)       \
    SECONDS(type##2, int2)   \
    SECONDS(type##3, int3)   \
    SECONDS(type##4, int4)   \
    SECONDS(type##8, int8)   \
    SECONDS(type##16, int16)

ALL_SECONDS(float)
ALL_SECONDS(double)

#define STORE(type, n)                                                     \
    void BUILTIN vstore##n(type##n data, size_t offset, type *p)           \
    {                                                                      \
        type *to = p + offset * n;                                         \
        for (uint i = 0; i < n; i++) {                                     \
            to[i] = data[i];                                               \
        }                                                                  \
    }

/* Constant memory is global memory to the machine. */
#define LOAD(type, n)                                                          \
    type##n OVERLOAD vload##n(size_t offset, const __global type *p);          \
    type##n BUILTIN vload##n(size_t offset, const __constant type *p)          \
    {                                                                          \
        return vload##n(offset, (const __global type *)(ulong)p);              \
    }

#define BOTH(type, n) STORE(type, n) LOAD(type, n)
#define VECTORS(type) \
    BOTH(type, 2)     \
    BOTH(type, 3)     \
    BOTH(type, 4)     \
    BOTH(type, 8)     \
    BOTH(type, 16)

VECTORS(char)
VECTORS(uchar)
VECTORS(short)
VECTORS(ushort)
VECTORS(int)
VECTORS(uint)
VECTORS(long)
VECTORS(ulong)
VECTORS(float)
VECTORS(double)

/* ---- which space a generic pointer points to: OpenCL C 6.15.9 and 6.3.9 ---- */

static bool __attribute__((always_inline)) is_in(const void *p, ulong window)
{
    return ((ulong)p & PPU_WINDOW_MASK) == window;
}

cl_mem_fence_flags BUILTIN get_fence(const void *p)
{
    return is_in(p, PPU_SHARED_WINDOW) ? CLK_LOCAL_MEM_FENCE : is_in(p, PPU_LOCAL_WINDOW) ? 0 : CLK_GLOBAL_MEM_FENCE;
}

cl_mem_fence_flags BUILTIN get_fence(void *p)
{
    return get_fence((const void *)p);
}

/* to_global() and the others are keywords to clang, which calls these. */
__global void *__attribute__((always_inline)) __to_global(void *p)
{
    return is_in(p, PPU_SHARED_WINDOW) || is_in(p, PPU_LOCAL_WINDOW) ? 0 : (__global void *)p;
}

__local void *__attribute__((always_inline)) __to_local(void *p)
{
    return is_in(p, PPU_SHARED_WINDOW) ? (__local void *)p : 0;
}

__private void *__attribute__((always_inline)) __to_private(void *p)
{
    return is_in(p, PPU_LOCAL_WINDOW) ? (__private void *)p : 0;
}
