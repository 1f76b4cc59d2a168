/* SPDX-License-Identifier: MIT */
/* Copies by the whole work-group: OpenCL C 6.15.11. They are done when the call returns, but for the barrier of the wait. */
#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp64 : enable

static uint __attribute__((always_inline)) work_group_size(void)
{
    return __ppu_sr(PPU_SR_NTID_X) * __ppu_sr(PPU_SR_NTID_Y) * __ppu_sr(PPU_SR_NTID_Z);
}

#define COPY(type, to, from)                                                                                      \
    event_t BUILTIN async_work_group_copy(to type *dst, const from type *src, size_t count, event_t event)        \
    {                                                                                                             \
        for (uint i = __ppu_sr(PPU_SR_TID); i < count; i += work_group_size()) {                                       \
            dst[i] = src[i];                                                                                      \
        }                                                                                                         \
        return event;                                                                                             \
    }

#define STRIDED(type)                                                                                             \
    event_t BUILTIN async_work_group_strided_copy(__local type *dst, const __global type *src, size_t count,      \
                                                  size_t stride, event_t event)                                   \
    {                                                                                                             \
        for (uint i = __ppu_sr(PPU_SR_TID); i < count; i += work_group_size()) {                                       \
            dst[i] = src[i * stride];                                                                             \
        }                                                                                                         \
        return event;                                                                                             \
    }                                                                                                             \
    event_t BUILTIN async_work_group_strided_copy(__global type *dst, const __local type *src, size_t count,      \
                                                  size_t stride, event_t event)                                   \
    {                                                                                                             \
        for (uint i = __ppu_sr(PPU_SR_TID); i < count; i += work_group_size()) {                                       \
            dst[i * stride] = src[i];                                                                             \
        }                                                                                                         \
        return event;                                                                                             \
    }

#define PREFETCH(type)                                               \
    void BUILTIN prefetch(const __global type *p, size_t count)      \
    {                                                                \
    }

#define ONE(type) COPY(type, __local, __global) COPY(type, __global, __local) STRIDED(type) PREFETCH(type)
#define ALL(type)  \
    ONE(type)      \
    ONE(type##2)   \
    ONE(type##3)   \
    ONE(type##4)   \
    ONE(type##8)   \
    ONE(type##16)

ALL(char)
ALL(uchar)
ALL(short)
ALL(ushort)
ALL(int)
ALL(uint)
ALL(long)
ALL(ulong)
ALL(float)
ALL(double)

void BUILTIN wait_group_events(int count, __private event_t *events)
{
    __ppu_barrier();
}

void BUILTIN wait_group_events(int count, event_t *events)
{
    __ppu_barrier();
}
