/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values in memory that others change meanwhile, which is only touched here. Part of engine_build.h. */
#ifndef PPU_CORE_ENGINE_BUILD_VALUE_H
#define PPU_CORE_ENGINE_BUILD_VALUE_H

typedef uint32_t __attribute__((may_alias)) guest_word;
typedef uint16_t __attribute__((may_alias)) guest_half;

/* 32 lanes in a row: words are read and written whole, as vector instructions do. */
#define ROWS(width, type, sign)                                          \
    GUEST_DATA void row_load_##width(uint32_t *to, const uint8_t *from)  \
    {                                                                    \
        const type *const in = (const type *)(const void *)from;         \
        EACH_LANE                                                        \
        {                                                                \
            to[i] = (uint32_t)(sign)in[i];                               \
        }                                                                \
    }                                                                    \
    GUEST_DATA void row_store_##width(uint8_t *to, const uint32_t *from) \
    {                                                                    \
        type *const out = (type *)(void *)to;                            \
        EACH_LANE                                                        \
        {                                                                \
            out[i] = (type)from[i];                                      \
        }                                                                \
    }
ROWS(U8, uint8_t, uint8_t)
ROWS(S8, uint8_t, int8_t)
ROWS(U16, guest_half, uint16_t)
ROWS(S16, guest_half, int16_t)
ROWS(B32, guest_word, uint32_t)
#define ROWS_WIDE(width, words)                                                          \
    GUEST_DATA void rows_load_##width(uint32_t *to, uint32_t wave, const uint8_t *from)  \
    {                                                                                    \
        const guest_word *const in = (const guest_word *)(const void *)from;             \
        EACH_LANE                                                                        \
        {                                                                                \
            for (uint32_t word = 0; word < (words); word++) {                            \
                to[word * wave + i] = in[i * (words) + word];                            \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    GUEST_DATA void rows_store_##width(uint8_t *to, const uint32_t *from, uint32_t wave) \
    {                                                                                    \
        guest_word *const out = (guest_word *)(void *)to;                                \
        EACH_LANE                                                                        \
        {                                                                                \
            for (uint32_t word = 0; word < (words); word++) {                            \
                out[i * (words) + word] = from[word * wave + i];                         \
            }                                                                            \
        }                                                                                \
    }
ROWS_WIDE(B64, 2)
ROWS_WIDE(B128, 4)

/* Lanes that the set does not have keep what they had; their words are read for nothing. */
GUEST_DATA void row_load_some(uint32_t *to, const uint8_t *from, uint32_t set)
{
    const guest_word *const in = (const guest_word *)(const void *)from;

    EACH_LANE
    {
        to[i] = LANE_PICK(set, i, in[i], to[i]);
    }
}

BUILD_INLINE uint32_t load_value(const uint8_t *host, enum ppu_width width)
{
    switch (width) {
    case PPU_WIDTH_U8:
        return vram_read8(host);
    case PPU_WIDTH_S8:
        return (uint32_t)(int32_t)(int8_t)vram_read8(host);
    case PPU_WIDTH_U16:
        return vram_read16(host);
    case PPU_WIDTH_S16:
        return (uint32_t)(int32_t)(int16_t)vram_read16(host);
    default:
        return vram_read32(host);
    }
}

BUILD_INLINE void store_value(uint8_t *host, enum ppu_width width, uint32_t value)
{
    if (width <= PPU_WIDTH_S8) {
        vram_write8(host, (uint8_t)value);
    } else if (width <= PPU_WIDTH_S16) {
        vram_write16(host, (uint16_t)value);
    } else {
        vram_write32(host, value);
    }
}

/* A lane's whole access. */
BUILD_INLINE void load_lane(uint32_t *to, uint32_t wave, const uint8_t *host, enum ppu_width width)
{
    for (uint32_t word = 0; word < ppu_width_words(width); word++) {
        to[word * wave] = load_value(host + 4 * word, width);
    }
}

BUILD_INLINE void store_lane(uint8_t *host, const uint32_t *from, uint32_t wave, enum ppu_width width)
{
    for (uint32_t word = 0; word < ppu_width_words(width); word++) {
        store_value(host + 4 * word, width, from[word * wave]);
    }
}

BUILD_INLINE uint32_t alignment(enum ppu_width width)
{
    const uint32_t bytes = ppu_width_bytes(width);

    return bytes < 4 ? bytes : 4;
}

/* All lanes of a pass in a row. */
BUILD_INLINE void load_row(uint32_t *to, uint32_t wave, const uint8_t *host, enum ppu_width width)
{
    switch (width) {
    case PPU_WIDTH_U8:
        row_load_U8(to, host);
        break;
    case PPU_WIDTH_S8:
        row_load_S8(to, host);
        break;
    case PPU_WIDTH_U16:
        row_load_U16(to, host);
        break;
    case PPU_WIDTH_S16:
        row_load_S16(to, host);
        break;
    case PPU_WIDTH_B32:
        row_load_B32(to, host);
        break;
    case PPU_WIDTH_B64:
        rows_load_B64(to, wave, host);
        break;
    default:
        rows_load_B128(to, wave, host);
        break;
    }
}

BUILD_INLINE void store_row(uint8_t *host, const uint32_t *from, uint32_t wave, enum ppu_width width)
{
    switch (width) {
    case PPU_WIDTH_U8:
    case PPU_WIDTH_S8:
        row_store_U8(host, from);
        break;
    case PPU_WIDTH_U16:
    case PPU_WIDTH_S16:
        row_store_U16(host, from);
        break;
    case PPU_WIDTH_B32:
        row_store_B32(host, from);
        break;
    case PPU_WIDTH_B64:
        rows_store_B64(host, from, wave);
        break;
    default:
        rows_store_B128(host, from, wave);
        break;
    }
}

/* One value for all lanes of a set. */
BUILD_INLINE void load_alike(uint32_t *to, uint32_t wave, const uint8_t *host, uint32_t set, enum ppu_width width)
{
    uint32_t value[SM_MAX_WORDS];

    load_lane(value, 1, host, width);
    for (uint32_t word = 0; word < ppu_width_words(width); word++) {
        const uint32_t bits = value[word];
        uint32_t *const row_ = to + word * wave;
        EACH_LANE
        {
            row_[i] = LANE_PICK(set, i, bits, row_[i]);
        }
    }
}

#endif
