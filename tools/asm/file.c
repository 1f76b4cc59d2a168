/* SPDX-License-Identifier: MIT */
#include "tools/asm/file.h"

#include <stdio.h>
#include <stdlib.h>

char *file_read_stream(FILE *file, size_t *len_bytes)
{
    size_t cap = 1 << 16, len = 0, got;
    char *buf = malloc(cap + 1);

    while (buf && (got = fread(buf + len, 1, cap - len, file)) > 0) {
        len += got;
        if (len == cap) {
            char *bigger = realloc(buf, cap * 2 + 1);
            if (!bigger) {
                free(buf);
                return NULL;
            }
            buf = bigger;
            cap *= 2;
        }
    }
    if (buf && ferror(file)) {
        free(buf);
        return NULL;
    }
    if (buf) {
        buf[len] = 0;
        *len_bytes = len;
    }
    return buf;
}

char *file_read(const char *path, size_t *len_bytes)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        return NULL;
    }
    char *buf = file_read_stream(file, len_bytes);
    fclose(file);
    return buf;
}
