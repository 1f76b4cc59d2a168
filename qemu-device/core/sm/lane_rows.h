/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares and sets what each lane of a pass has beside its registers, by the vector unit that every x86 host has. */
#ifndef QEMU_DEVICE_CORE_SM_LANE_ROWS_H
#define QEMU_DEVICE_CORE_SM_LANE_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ppu/limits.h"

#if defined(__SSE2__)
#include <emmintrin.h>

static inline __m128i lane_words_equal(const uint32_t *words, __m128i word)
{
    return _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)words), word);
}

/* Lanes 0 to 15 whose byte and word are these. */
static inline uint32_t lanes_16_equal(const uint8_t *bytes, uint8_t byte, const uint32_t *words, uint32_t word)
{
    const __m128i all = _mm_set1_epi32((int)word);
    const __m128i low = _mm_packs_epi32(lane_words_equal(words, all), lane_words_equal(words + 4, all));
    const __m128i high = _mm_packs_epi32(lane_words_equal(words + 8, all), lane_words_equal(words + 12, all));
    const __m128i same =
        _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)bytes), _mm_set1_epi8((char)byte));

    return (uint32_t)_mm_movemask_epi8(_mm_and_si128(_mm_packs_epi16(low, high), same));
}
#else
static inline uint32_t lanes_16_equal(const uint8_t *bytes, uint8_t byte, const uint32_t *words, uint32_t word)
{
    uint32_t set = 0;

    for (uint32_t i = 0; i < 16; i++) {
        set |= (uint32_t)((bytes[i] == byte) & (words[i] == word)) << i;
    }
    return set;
}
#endif

/* Lanes of a pass whose byte and word are these. */
static inline uint32_t lanes_equal_to(const uint8_t *bytes, uint8_t byte, const uint32_t *words, uint32_t word)
{
    return lanes_16_equal(bytes, byte, words, word) | lanes_16_equal(bytes + 16, byte, words + 16, word) << 16;
}

/* True for eight lanes or more, which are sooner done with all others of their pass. */
static inline bool lanes_are_many(uint32_t set)
{
    for (uint32_t i = 0; i < 7 && set != 0; i++) {
        set &= set - 1;
    }
    return set != 0;
}

/* Gives lanes of a pass a byte: eight at a time, a byte of a mask for each. */
static inline void lanes_put_byte(uint8_t *bytes, uint32_t set, uint8_t byte)
{
    const uint64_t each = 0x0101010101010101ull, all = byte * each;

    for (uint32_t first = 0; first < PPU_LANES; first += 8) {
        const uint64_t bits = (set >> first & 0xffu) * each & 0x8040201008040201ull;
        const uint64_t mask = ((bits + 0x7f * each) >> 7 & each) * 0xff;
        uint64_t old;

        memcpy(&old, bytes + first, sizeof(old));
        old = (old & ~mask) | (all & mask);
        memcpy(bytes + first, &old, sizeof(old));
    }
}

/* Gives the lanes of a pass that have the one byte the other. */
static inline void lanes_replace_byte(uint8_t *bytes, uint8_t from, uint8_t to)
{
    for (uint32_t i = 0; i < PPU_LANES; i++) {
        bytes[i] = bytes[i] == from ? to : bytes[i];
    }
}

/* Gives lanes of a pass a word. */
static inline void lanes_put_word(uint32_t *words, uint32_t set, uint32_t word)
{
    for (uint32_t i = 0; i < PPU_LANES; i++) {
        const uint32_t mask = 0u - (set >> i & 1u);
        words[i] = (words[i] & ~mask) | (word & mask);
    }
}

#endif
