/* SPDX-License-Identifier: MIT */
/*
 * Implements memcpy() and memset() by words. Those of the C libraries for this core copy byte by byte, about five
 * instructions each: too slow for paths whose instructions are counted.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t __attribute__((may_alias)) word_t;

#define QUAD_BYTES (4 * sizeof(word_t))

static int words_aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & 3) == 0;
}

/* Word by word, not as one structure: the compiler may call memcpy() for that. */
static inline void quad_copy(word_t *to, const word_t *from)
{
    word_t a = from[0];
    word_t b = from[1];
    word_t c = from[2];
    word_t d = from[3];
    to[0] = a;
    to[1] = b;
    to[2] = c;
    to[3] = d;
}

/* The compiler makes calls of these late: they must be there whether or not it has seen one. */
__attribute__((used)) void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    if (words_aligned(out, in)) {
        for (; bytes >= QUAD_BYTES; bytes -= QUAD_BYTES, out += QUAD_BYTES, in += QUAD_BYTES) {
            quad_copy((word_t *)(void *)out, (const word_t *)(const void *)in);
        }
        for (; bytes >= sizeof(word_t); bytes -= sizeof(word_t), out += sizeof(word_t), in += sizeof(word_t)) {
            *(word_t *)(void *)out = *(const word_t *)(const void *)in;
        }
    }
    while (bytes--) {
        *out++ = *in++;
    }
    return to;
}

__attribute__((used)) void *memset(void *to, int value, size_t bytes)
{
    char *out = to;
    if (words_aligned(out, out)) {
        word_t word = (uint8_t)value * 0x01010101u;
        const word_t quad[4] = { word, word, word, word };
        for (; bytes >= QUAD_BYTES; bytes -= QUAD_BYTES, out += QUAD_BYTES) {
            quad_copy((word_t *)(void *)out, quad);
        }
        for (; bytes >= sizeof(word_t); bytes -= sizeof(word_t), out += sizeof(word_t)) {
            *(word_t *)(void *)out = word;
        }
    }
    while (bytes--) {
        *out++ = (char)value;
    }
    return to;
}
