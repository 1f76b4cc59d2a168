/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/input.h"

#include "ppu/macros.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fuzz_input fuzz_input(const uint8_t *bytes, size_t count)
{
    return (struct fuzz_input){ bytes, bytes + count };
}

bool fuzz_ended(const struct fuzz_input *input)
{
    return input->at == input->end;
}

void fuzz_bytes(struct fuzz_input *input, void *to, size_t count)
{
    size_t left = (size_t)(input->end - input->at);
    size_t taken = PPU_MIN(count, left);

    memset(to, 0, count);
    if (taken > 0) {
        memcpy(to, input->at, taken);
        input->at += taken;
    }
}

uint8_t fuzz_u8(struct fuzz_input *input)
{
    return fuzz_ended(input) ? 0 : *input->at++;
}

uint16_t fuzz_u16(struct fuzz_input *input)
{
    uint16_t value = 0;

    fuzz_bytes(input, &value, sizeof(value));
    return value;
}

uint32_t fuzz_u32(struct fuzz_input *input)
{
    uint32_t value = 0;

    fuzz_bytes(input, &value, sizeof(value));
    return value;
}

uint64_t fuzz_u64(struct fuzz_input *input)
{
    uint64_t value = 0;

    fuzz_bytes(input, &value, sizeof(value));
    return value;
}

uint32_t fuzz_below(struct fuzz_input *input, uint32_t limit)
{
    uint32_t value = limit <= 0x100u ? fuzz_u8(input) : limit <= 0x10000u ? fuzz_u16(input) : fuzz_u32(input);

    return value % limit;
}

void fuzz_found(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fputs("found: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    abort();
}
