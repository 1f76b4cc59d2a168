/* SPDX-License-Identifier: MIT */
/*
 * Copying and clearing small structures of a fixed size. On the paths that are counted in instructions the library's
 * loops would be most of the cost. Both places are 8-byte aligned.
 */
#ifndef FW_WORDS_H
#define FW_WORDS_H

#include <stdint.h>
#include <string.h>

#define WORDS_INLINE static inline __attribute__((always_inline))
#define WORDS_AT(place, i) __builtin_assume_aligned((place) + 8u * (i), 8)

/* `bytes` is a constant, a multiple of 8, at most 256. */
WORDS_INLINE void words_copy(void *to, const void *from, uint32_t bytes)
{
#pragma GCC unroll 32
    for (uint32_t i = 0; i < bytes / 8u; i++) {
        memcpy(WORDS_AT((char *)to, i), WORDS_AT((const char *)from, i), 8);
    }
}

WORDS_INLINE void words_clear(void *place, uint32_t bytes)
{
#pragma GCC unroll 32
    for (uint32_t i = 0; i < bytes / 8u; i++) {
        memset(WORDS_AT((char *)place, i), 0, 8);
    }
}

#endif
