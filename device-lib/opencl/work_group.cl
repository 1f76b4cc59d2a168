/* SPDX-License-Identifier: MIT */
/*
 * Implements the collective functions of work-groups: OpenCL C 6.15.16. Each warp does its part by shuffles and leaves
 * a value in local memory, and all read those of the warps. The barrier before the write keeps values that a function
 * before this one left from being written over.
 */
#include "lanes.h"

/* ---- votes ---- */

/* Of what each warp has left, from the first to the one behind the last. */
#define EACH_WARP(n, end) for (uint n = 0; n < (end); n++)

int COLLECTIVE work_group_any(int predicate)
{
    local int *left = __ppu_group_scratch();
    int any = 0;

    __ppu_barrier();
    const int here = __ppu_vote_any(predicate != 0);
    if (lane() == 0) {
        left[__ppu_sr(PPU_SR_WARP)] = here;
    }
    __ppu_barrier();
    EACH_WARP(i, group_warps())
    {
        any |= left[i];
    }
    return any;
}

int COLLECTIVE work_group_all(int predicate)
{
    return !work_group_any(!predicate);
}

/* ---- values of one work-item ---- */

#define BROADCAST(type)                                                                                      \
    static type COLLECTIVE broadcast(type value, bool from_here)                                             \
    {                                                                                                        \
        local type *left = __ppu_group_scratch();                                                            \
        __ppu_barrier();                                                                                     \
        if (from_here) {                                                                                     \
            *left = value;                                                                                   \
        }                                                                                                    \
        __ppu_barrier();                                                                                     \
        return *left;                                                                                        \
    }                                                                                                        \
    type COLLECTIVE work_group_broadcast(type value, size_t x)                                               \
    {                                                                                                        \
        return broadcast(value, get_local_id(0) == x);                                                       \
    }                                                                                                        \
    type COLLECTIVE work_group_broadcast(type value, size_t x, size_t y)                                     \
    {                                                                                                        \
        return broadcast(value, get_local_id(0) == x && get_local_id(1) == y);                               \
    }                                                                                                        \
    type COLLECTIVE work_group_broadcast(type value, size_t x, size_t y, size_t z)                           \
    {                                                                                                        \
        return broadcast(value, get_local_id(0) == x && get_local_id(1) == y && get_local_id(2) == z);       \
    }

BROADCAST(int)
BROADCAST(uint)
BROADCAST(long)
BROADCAST(ulong)
BROADCAST(half)
BROADCAST(float)
BROADCAST(double)

/* ---- reductions and scans ---- */

/* The sum of the warp's lanes up to this one, and what all warps have left. */
#define SCAN_GROUP(type, value, OPERATION)                                  \
    local type *left = __ppu_group_scratch();                               \
    const uint warp = __ppu_sr(PPU_SR_WARP);                                \
    type sum = value;                                                       \
    __ppu_barrier();                                                        \
    for (uint by = 1; by < wave(); by *= 2) {                               \
        const type other = move_up(sum, by);                                \
        sum = lane() >= by ? (type)OPERATION(other, sum) : sum;             \
    }                                                                       \
    if (lane() == warp_lanes() - 1) {                                       \
        left[warp] = sum;                                                   \
    }                                                                       \
    __ppu_barrier();

#define COLLECT(type, name, OPERATION, identity)                    \
    type COLLECTIVE work_group_reduce_##name(type value)            \
    {                                                               \
        SCAN_GROUP(type, value, OPERATION)                          \
        type all = left[0];                                         \
        for (uint i = 1; i < group_warps(); i++) {                  \
            all = (type)OPERATION(all, left[i]);                    \
        }                                                           \
        return all;                                                 \
    }                                                               \
    type COLLECTIVE work_group_scan_inclusive_##name(type value)    \
    {                                                               \
        SCAN_GROUP(type, value, OPERATION)                          \
        type before = (type)(identity);                             \
        EACH_WARP(i, warp)                                          \
        {                                                           \
            before = (type)OPERATION(before, left[i]);              \
        }                                                           \
        return (type)OPERATION(before, sum);                        \
    }                                                               \
    type COLLECTIVE work_group_scan_exclusive_##name(type value)    \
    {                                                               \
        SCAN_GROUP(type, value, OPERATION)                          \
        type before = (type)(identity);                             \
        EACH_WARP(i, warp)                                          \
        {                                                           \
            before = (type)OPERATION(before, left[i]);              \
        }                                                           \
        const type other = move_up(sum, 1);                         \
        return lane() == 0 ? before : (type)OPERATION(before, other); \
    }

#define COLLECT_INTEGER(type, least, most)  \
    COLLECT(type, add, SUM, 0)              \
    COLLECT(type, min, SMALLER, most)       \
    COLLECT(type, max, LARGER, least)
#define COLLECT_FLOAT(type, least, most)    \
    COLLECT(type, add, SUM, 0)              \
    COLLECT(type, min, SMALLER_FLOAT, most) \
    COLLECT(type, max, LARGER_FLOAT, least)
INTEGERS(COLLECT_INTEGER)
FLOATS(COLLECT_FLOAT)
