/* SPDX-License-Identifier: MIT */
/* Moves values of any scalar type between lanes, and counts in sets of lanes. A sub-group is a warp. */
#ifndef DEVICE_LIB_OPENCL_LANES_H
#define DEVICE_LIB_OPENCL_LANES_H

#include "primitive.h"

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define INLINE static __attribute__((overloadable, always_inline, convergent, unused))
#define COLLECTIVE __attribute__((overloadable, always_inline, convergent))
#define NO_LANE 0xffffffffu
#define WORD_LANES 32u

INLINE uint wave(void)
{
    return __ppu_sr(PPU_SR_WAVE);
}

INLINE uint lane(void)
{
    return __ppu_sr(PPU_SR_LANE);
}

INLINE uint group_threads(void)
{
    return (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
}

/* Lanes of this warp that are work-items: the last warp of a work-group may have fewer. */
INLINE uint warp_lanes(void)
{
    return min(wave(), group_threads() - __ppu_sr(PPU_SR_WARP) * wave());
}

INLINE uint group_warps(void)
{
    return (group_threads() + wave() - 1) / wave();
}

/* ---- values of other lanes ---- */

#define MOVE(type, name, to, from)                   \
    INLINE type move##name(type x, uint by)          \
    {                                                \
        return from(__ppu_shuffle##name(to(x), by)); \
    }
#define MOVE_WIDE(type, name)                                                                                    \
    INLINE type move##name(type x, uint by)                                                                      \
    {                                                                                                            \
        const uint2 half_words = as_uint2(x);                                                                    \
        return as_##type((uint2)(__ppu_shuffle##name(half_words.x, by), __ppu_shuffle##name(half_words.y, by))); \
    }
#define AS_HALF(x) as_half((ushort)(x))
#define OF_HALF(x) ((uint)as_ushort(x))
#define MOVES(name)                      \
    MOVE(char, name, (uint), (char))     \
    MOVE(uchar, name, (uint), (uchar))   \
    MOVE(short, name, (uint), (short))   \
    MOVE(ushort, name, (uint), (ushort)) \
    MOVE(int, name, (uint), (int))       \
    MOVE(uint, name, (uint), (uint))     \
    MOVE(half, name, OF_HALF, AS_HALF)   \
    MOVE(float, name, as_uint, as_float) \
    MOVE_WIDE(long, name)                \
    MOVE_WIDE(ulong, name)               \
    MOVE_WIDE(double, name)

MOVES()
MOVES(_up)
MOVES(_down)
MOVES(_xor)

/* ---- sets of lanes: word i has lanes 32 i and on ---- */

/* A word of the wave's, and 0 for those beyond it. */
#define WAVE_WORD(word, value) (word * WORD_LANES < wave() ? (value) : 0)
#define WAVE_WORDS(of) ((uint4)(WAVE_WORD(0, of(0)), WAVE_WORD(1, of(1)), WAVE_WORD(2, of(2)), WAVE_WORD(3, of(3))))

INLINE uint4 active_lanes(void)
{
    return WAVE_WORDS(__ppu_active);
}

INLINE uint4 lanes_that(bool x)
{
#define THAT(word) __ppu_ballot(x, word)
    return WAVE_WORDS(THAT);
#undef THAT
}

/* The lanes of a word that are below the n-th of all. */
INLINE uint word_below(uint word, uint n)
{
    const uint begin = word * WORD_LANES;

    return n >= begin + WORD_LANES ? 0xffffffffu : n <= begin ? 0 : (1u << (n - begin)) - 1;
}

INLINE uint4 lanes_below(uint n)
{
#define BELOW(word) word_below(word, n)
    return WAVE_WORDS(BELOW);
#undef BELOW
}

INLINE uint lanes_count(uint4 set)
{
    return popcount(set.x) + popcount(set.y) + popcount(set.z) + popcount(set.w);
}

/* NO_LANE: there is none. */
INLINE uint lanes_first(uint4 set)
{
    return set.x != 0   ? ctz(set.x)
           : set.y != 0 ? 32 + ctz(set.y)
           : set.z != 0 ? 64 + ctz(set.z)
           : set.w != 0 ? 96 + ctz(set.w)
                        : NO_LANE;
}

INLINE uint lanes_last(uint4 set)
{
    return set.w != 0   ? 127 - clz(set.w)
           : set.z != 0 ? 95 - clz(set.z)
           : set.y != 0 ? 63 - clz(set.y)
           : set.x != 0 ? 31 - clz(set.x)
                        : NO_LANE;
}

INLINE bool lanes_have(uint4 set, uint n)
{
    const uint word = n / WORD_LANES;
    const uint bits = word == 0 ? set.x : word == 1 ? set.y : word == 2 ? set.z : word == 3 ? set.w : 0;

    return (bits >> n % WORD_LANES & 1) != 0;
}

/* The active lanes of those 2^k that this one is among, which follow each other from a multiple of their number on. */
INLINE uint4 cluster_lanes(uint size)
{
    const uint first = lane() & ~(size - 1);

    return active_lanes() & lanes_below(first + size) & ~lanes_below(first);
}

/* ---- operations ---- */

#define SUM(a, b) ((a) + (b))
#define PRODUCT(a, b) ((a) * (b))
#define SMALLER(a, b) ((b) < (a) ? (b) : (a))
#define LARGER(a, b) ((a) < (b) ? (b) : (a))
#define SMALLER_FLOAT(a, b) fmin(a, b)
#define LARGER_FLOAT(a, b) fmax(a, b)
#define BITS_AND(a, b) ((a) & (b))
#define BITS_OR(a, b) ((a) | (b))
#define BITS_XOR(a, b) ((a) ^ (b))
#define LOGICAL_AND(a, b) ((a) && (b))
#define LOGICAL_OR(a, b) ((a) || (b))
#define LOGICAL_XOR(a, b) (!(a) != !(b))

/* EACH(type, smallest, largest) */
#define NARROW_INTEGERS(EACH)       \
    EACH(char, CHAR_MIN, CHAR_MAX)  \
    EACH(uchar, 0, UCHAR_MAX)       \
    EACH(short, SHRT_MIN, SHRT_MAX) \
    EACH(ushort, 0, USHRT_MAX)
#define INTEGERS(EACH)             \
    EACH(int, INT_MIN, INT_MAX)    \
    EACH(uint, 0, UINT_MAX)        \
    EACH(long, LONG_MIN, LONG_MAX) \
    EACH(ulong, 0, ULONG_MAX)
#define FLOATS(EACH)                            \
    EACH(half, -(half)INFINITY, (half)INFINITY) \
    EACH(float, -INFINITY, INFINITY)            \
    EACH(double, -(double)INFINITY, (double)INFINITY)

#endif
