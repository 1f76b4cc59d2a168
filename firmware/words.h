/* SPDX-License-Identifier: MIT */
/*
 * Copies and clears small structures of a fixed size. On the paths that are counted in instructions the library's loops
 * would be most of the cost. Both places are 8-byte aligned.
 */
#ifndef FIRMWARE_WORDS_H
#define FIRMWARE_WORDS_H

#include <stdint.h>
#include <string.h>

#define WORDS_INLINE static inline __attribute__((always_inline))
#define WORDS_AT(words, at) __builtin_assume_aligned((words) + (at), 8)

#define WORDS_BLOCK 64u /* the compiler copies so much without a call, four words by two instructions */

/* `bytes` is a constant, a multiple of 8, at most 256. */
WORDS_INLINE void words_copy(void *to, const void *from, uint32_t bytes)
{
    uint32_t at = 0;
#pragma GCC unroll 4
    for (; at + WORDS_BLOCK <= bytes; at += WORDS_BLOCK) {
        memcpy(WORDS_AT((char *)to, at), WORDS_AT((const char *)from, at), WORDS_BLOCK);
    }
    memcpy(WORDS_AT((char *)to, at), WORDS_AT((const char *)from, at), bytes % WORDS_BLOCK);
}

WORDS_INLINE void words_clear(void *words, uint32_t bytes)
{
#pragma GCC unroll 32
    for (uint32_t at = 0; at < bytes; at += 8u) {
        memset(WORDS_AT((char *)words, at), 0, 8);
    }
}

#endif
