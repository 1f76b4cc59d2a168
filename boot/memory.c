/* SPDX-License-Identifier: MIT */
/*
 * memcpy() and memset() by words. Those of the C libraries for this core copy byte by byte, about five instructions
 * each: too slow for paths whose instructions are counted.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t __attribute__((may_alias)) word_t;

struct quad {
    word_t word[4];
} __attribute__((may_alias));

static int words_aligned(const void *a, const void *b)
{
    return (((uintptr_t)a | (uintptr_t)b) & 3) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    if (words_aligned(out, in)) {
        for (; bytes >= sizeof(struct quad); bytes -= sizeof(struct quad)) {
            *(struct quad *)(void *)out = *(const struct quad *)(const void *)in;
            out += sizeof(struct quad);
            in += sizeof(struct quad);
        }
        for (; bytes >= 4; bytes -= 4, out += 4, in += 4) {
            *(word_t *)(void *)out = *(const word_t *)(const void *)in;
        }
    }
    while (bytes--) {
        *out++ = *in++;
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    char *out = to;
    if (words_aligned(out, out)) {
        word_t word = (uint8_t)value * 0x01010101u;
        const struct quad quad = { { word, word, word, word } };
        for (; bytes >= sizeof(quad); bytes -= sizeof(quad), out += sizeof(quad)) {
            *(struct quad *)(void *)out = quad;
        }
        for (; bytes >= 4; bytes -= 4, out += 4) {
            *(word_t *)(void *)out = word;
        }
    }
    while (bytes--) {
        *out++ = (char)value;
    }
    return to;
}
