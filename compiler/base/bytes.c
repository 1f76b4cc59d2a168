/* SPDX-License-Identifier: MIT */
#include "compiler/base/bytes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for `len` more; NULL: there is none. */
static uint8_t *reserve_bytes(struct bytes *bytes, size_t len)
{
    if (bytes->cap - bytes->len < len) {
        size_t cap = 2 * bytes->cap + len + 64;
        uint8_t *at = realloc(bytes->at, cap);
        if (!at) {
            bytes->lost = true;
            return NULL;
        }
        bytes->at = at;
        bytes->cap = cap;
    }
    bytes->len += len;
    return bytes->at + bytes->len - len;
}

void bytes_add(struct bytes *bytes, const void *data, size_t len)
{
    uint8_t *at = len != 0 ? reserve_bytes(bytes, len) : NULL;

    if (at) {
        memcpy(at, data, len);
    }
}

void bytes_add_zeros(struct bytes *bytes, size_t len)
{
    uint8_t *at = len != 0 ? reserve_bytes(bytes, len) : NULL;

    if (at) {
        memset(at, 0, len);
    }
}

void bytes_align(struct bytes *bytes, size_t align)
{
    bytes_add_zeros(bytes, (align - bytes->len % align) % align);
}

void bytes_vprint(struct bytes *bytes, const char *format, va_list args)
{
    va_list copy;

    va_copy(copy, args);
    int len = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    if (len > 0) {
        char *at = (char *)reserve_bytes(bytes, (size_t)len + 1);
        if (at) {
            vsnprintf(at, (size_t)len + 1, format, args);
            bytes->len--;
        }
    }
}

void bytes_print(struct bytes *bytes, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    bytes_vprint(bytes, format, args);
    va_end(args);
}

uint32_t bytes_text(struct bytes *bytes, const char *text)
{
    uint32_t offset = (uint32_t)bytes->len;

    bytes_add(bytes, text, strlen(text) + 1);
    return offset;
}

void bytes_free(struct bytes *bytes)
{
    free(bytes->at);
    *bytes = (struct bytes){ .at = NULL };
}
