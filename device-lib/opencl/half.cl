/* SPDX-License-Identifier: MIT */
/*
 * Stores halves, and loads them from constant memory, which libclc has not: OpenCL C 6.15.7. The machine rounds in
 * every direction, subnormal results too.
 */
#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static ushort __attribute__((overloadable, always_inline)) bits(float x, uint round)
{
    return (ushort)__ppu_half_of_float(x, round);
}

static ushort __attribute__((overloadable, always_inline)) bits(double x, uint round)
{
    return (ushort)__ppu_half_of_double(x, round);
}

#define ONE(space, type, suffix, round)                                                \
    void BUILTIN vstore_half##suffix(type data, size_t offset, space half *p)          \
    {                                                                                  \
        ((space ushort *)p)[offset] = bits(data, round);                               \
    }                                                                                  \
    void BUILTIN vstorea_half##suffix(type data, size_t offset, space half *p)         \
    {                                                                                  \
        ((space ushort *)p)[offset] = bits(data, round);                               \
    }

/* Aligned vectors of three take the room of four. */
#define MANY(space, type, n, room, suffix, round)                                      \
    void BUILTIN vstore_half##n##suffix(type##n data, size_t offset, space half *p)    \
    {                                                                                  \
        for (uint i = 0; i < n; i++) {                                                 \
            ((space ushort *)p)[offset * n + i] = bits(data[i], round);                \
        }                                                                              \
    }                                                                                  \
    void BUILTIN vstorea_half##n##suffix(type##n data, size_t offset, space half *p)   \
    {                                                                                  \
        for (uint i = 0; i < n; i++) {                                                 \
            ((space ushort *)p)[offset * room + i] = bits(data[i], round);             \
        }                                                                              \
    }

#define WIDTHS(space, type, suffix, round)     \
    ONE(space, type, suffix, round)            \
    MANY(space, type, 2, 2, suffix, round)     \
    MANY(space, type, 3, 4, suffix, round)     \
    MANY(space, type, 4, 4, suffix, round)     \
    MANY(space, type, 8, 8, suffix, round)     \
    MANY(space, type, 16, 16, suffix, round)

#define ROUNDINGS(space, type)                  \
    WIDTHS(space, type, , PPU_ROUND_RNE)        \
    WIDTHS(space, type, _rte, PPU_ROUND_RNE)    \
    WIDTHS(space, type, _rtz, PPU_ROUND_RTZ)    \
    WIDTHS(space, type, _rtp, PPU_ROUND_RTP)    \
    WIDTHS(space, type, _rtn, PPU_ROUND_RTN)

#define SPACES(type)            \
    ROUNDINGS(__global, type)   \
    ROUNDINGS(__local, type)    \
    ROUNDINGS(__private, type)  \
    ROUNDINGS(__generic, type)

SPACES(float)
SPACES(double)

#define LOAD(n, room)                                                                  \
    float##n BUILTIN vload_half##n(size_t offset, const __constant half *p)            \
    {                                                                                  \
        float##n data;                                                                 \
        for (uint i = 0; i < n; i++) {                                                 \
            data[i] = __builtin_load_halff(p + offset * n + i);                                         \
        }                                                                              \
        return data;                                                                   \
    }                                                                                  \
    float##n BUILTIN vloada_half##n(size_t offset, const __constant half *p)           \
    {                                                                                  \
        float##n data;                                                                 \
        for (uint i = 0; i < n; i++) {                                                 \
            data[i] = __builtin_load_halff(p + offset * room + i);                                      \
        }                                                                              \
        return data;                                                                   \
    }

float BUILTIN vload_half(size_t offset, const __constant half *p)
{
    return __builtin_load_halff(p + offset);
}

float BUILTIN vloada_half(size_t offset, const __constant half *p)
{
    return __builtin_load_halff(p + offset);
}

LOAD(2, 2)
LOAD(3, 4)
LOAD(4, 4)
LOAD(8, 8)
LOAD(16, 16)
