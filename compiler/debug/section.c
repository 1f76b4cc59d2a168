/* SPDX-License-Identifier: MIT */
#include "compiler/debug/section.h"

#include <string.h>

#define LEB_BITS 7u
#define LEB_MORE 0x80u
#define LEB_SIGN 0x40u

void section_u8(struct bytes *section, uint32_t value)
{
    const uint8_t byte = (uint8_t)value;

    bytes_add(section, &byte, sizeof(byte));
}

void section_u16(struct bytes *section, uint32_t value)
{
    const uint16_t half = (uint16_t)value;

    bytes_add(section, &half, sizeof(half));
}

void section_u32(struct bytes *section, uint32_t value)
{
    bytes_add(section, &value, sizeof(value));
}

void section_u64(struct bytes *section, uint64_t value)
{
    bytes_add(section, &value, sizeof(value));
}

void section_uleb(struct bytes *section, uint64_t value)
{
    for (; value >= LEB_MORE; value >>= LEB_BITS) {
        section_u8(section, (uint32_t)(value & (LEB_MORE - 1)) | LEB_MORE);
    }
    section_u8(section, (uint32_t)value);
}

void section_sleb(struct bytes *section, int64_t value)
{
    for (;;) {
        uint32_t bits = (uint32_t)value & (LEB_MORE - 1);
        value >>= LEB_BITS;
        if (value == (bits & LEB_SIGN ? -1 : 0)) {
            section_u8(section, bits);
            return;
        }
        section_u8(section, bits | LEB_MORE);
    }
}

void section_patch32(struct bytes *section, size_t at, uint32_t value)
{
    if (!section->lost) {
        memcpy(section->at + at, &value, sizeof(value));
    }
}
