/* SPDX-License-Identifier: MIT */
/* Appends to a run of bytes that grows. */
#ifndef COMPILER_BASE_BYTES_H
#define COMPILER_BASE_BYTES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint8_t *at; /* malloc()ed; NULL while nothing was added */
    size_t len;
    size_t cap;
    bool lost; /* there was no memory for something */
};

void bytes_add(struct bytes *bytes, const void *data, size_t len);
void bytes_add_zeros(struct bytes *bytes, size_t len);
void bytes_align(struct bytes *bytes, size_t align); /* with zeros */
void bytes_print(struct bytes *bytes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void bytes_vprint(struct bytes *bytes, const char *format, va_list args);
/* A text with its final zero; its offset. */
uint32_t bytes_text(struct bytes *bytes, const char *text);
void bytes_free(struct bytes *bytes);

#endif
