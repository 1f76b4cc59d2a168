/* SPDX-License-Identifier: MIT */
/*
 * Defines what C has no word for: the size of an array, the object around a member, the smaller and the larger of two
 * numbers, alignment, powers of two.
 */
#ifndef PPU_MACROS_H
#define PPU_MACROS_H

#include <stddef.h>
#include <stdint.h>

/* Elements of an array, which must not be a pointer. */
#define PPU_ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* The object of `type` whose `member` the pointer points to. */
#define PPU_CONTAINER_OF(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Take numbers of any type, and evaluate arguments more than once. */
#define PPU_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PPU_MAX(a, b) ((a) > (b) ? (a) : (b))
#define PPU_IS_POWER_OF_TWO(value) ((value) && !((value) & ((value)-1)))

/* The next multiple of `align`, a power of two, from `value` on. */
static inline uint32_t ppu_align_up(uint32_t value, uint32_t align)
{
    return (value + align - 1) & ~(align - 1);
}

static inline uint64_t ppu_align_up64(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

#endif
