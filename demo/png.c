/* SPDX-License-Identifier: MIT */
#include "demo/png.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STORED_MOST 65535u /* bytes of one block that is not compressed */
#define LICENCE "Copyright\0SPDX-License-Identifier: MIT\n"

/* A chunk under way: its bytes go to the file and into the checksum. */
struct chunk {
    FILE *file;
    uint32_t crc;
};

/* The sum at the end of compressed data (RFC 1950). */
struct adler {
    uint32_t a, b;
};

static void put_bytes(struct chunk *chunk, const void *bytes, size_t count)
{
    static uint32_t table[256];
    const uint8_t *at = bytes;

    if (table[1] == 0) {
        for (uint32_t i = 0; i < 256; i++) {
            table[i] = i;
            for (int bit = 0; bit < 8; bit++) {
                table[i] = table[i] & 1 ? table[i] >> 1 ^ 0xedb88320u : table[i] >> 1;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        chunk->crc = table[(chunk->crc ^ at[i]) & 0xff] ^ chunk->crc >> 8;
    }
    fwrite(bytes, 1, count, chunk->file);
}

static void put_big_endian(struct chunk *chunk, uint32_t number)
{
    const uint8_t bytes[] = { (uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8),
                              (uint8_t)number };

    put_bytes(chunk, bytes, sizeof(bytes));
}

static struct chunk begin_chunk(FILE *file, const char *type, uint32_t bytes)
{
    struct chunk chunk = { .file = file };

    put_big_endian(&chunk, bytes);
    chunk.crc = UINT32_MAX;
    put_bytes(&chunk, type, 4);
    return chunk;
}

static void end(struct chunk *chunk)
{
    put_big_endian(chunk, ~chunk->crc);
}

static void put_chunk(FILE *file, const char *type, const void *bytes, uint32_t count)
{
    struct chunk chunk = begin_chunk(file, type, count);

    put_bytes(&chunk, bytes, count);
    end(&chunk);
}

static void put_header(FILE *file, uint32_t width, uint32_t height)
{
    static const uint8_t form[] = { 8, 3, 0, 0, 0 }; /* bits, palette, the only ways there are, in one pass */
    struct chunk chunk = begin_chunk(file, "IHDR", 8 + sizeof(form));

    put_big_endian(&chunk, width);
    put_big_endian(&chunk, height);
    put_bytes(&chunk, form, sizeof(form));
    end(&chunk);
}

/* A row is a byte that says how it is filtered, not at all, and its pixels; in a block of its own. */
static void put_row(struct chunk *chunk, struct adler *sum, const uint8_t *pixels, uint32_t width, bool last)
{
    uint16_t count = (uint16_t)(width + 1);
    const uint8_t head[] = { last, (uint8_t)count, (uint8_t)(count >> 8), (uint8_t)~count, (uint8_t)(~count >> 8), 0 };

    put_bytes(chunk, head, sizeof(head));
    put_bytes(chunk, pixels, width);
    sum->b += sum->a;
    for (uint32_t i = 0; i < width; i++) {
        sum->a += pixels[i];
        sum->b += sum->a;
        if (i % 4096 == 4095) {
            sum->b %= 65521;
        }
    }
    sum->a %= 65521;
    sum->b %= 65521;
}

static void put_pixels(FILE *file, const uint8_t *pixels, uint32_t width, uint32_t height)
{
    static const uint8_t zlib[] = { 0x78, 0x01 };
    struct chunk chunk = begin_chunk(file, "IDAT", (uint32_t)sizeof(zlib) + height * (width + 6) + 4);
    struct adler sum = { 1, 0 };

    put_bytes(&chunk, zlib, sizeof(zlib));
    for (uint32_t y = 0; y < height; y++) {
        put_row(&chunk, &sum, pixels + (size_t)y * width, width, y == height - 1);
    }
    put_big_endian(&chunk, sum.b << 16 | sum.a);
    end(&chunk);
}

bool png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height,
               const struct png_colour colours[256])
{
    static const uint8_t signature[] = { 0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n' };
    FILE *file = width < STORED_MOST ? fopen(path, "wb") : NULL;

    if (!file) {
        return false;
    }
    fwrite(signature, 1, sizeof(signature), file);
    put_header(file, width, height);
    put_chunk(file, "tEXt", LICENCE, sizeof(LICENCE) - 1);
    put_chunk(file, "PLTE", colours, 256 * sizeof(colours[0]));
    put_pixels(file, pixels, width, height);
    put_chunk(file, "IEND", "", 0);
    bool whole = ferror(file) == 0;
    return fclose(file) == 0 && whole;
}
