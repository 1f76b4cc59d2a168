/* SPDX-License-Identifier: MIT */
#include "runtime/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

enum ppu_err file_read(const char *operation, const char *path, size_t max_bytes, void **buffer, size_t *bytes,
                       struct ppu_error *error)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        return error_set(error, PPU_ERR_NOT_FOUND, "%s %s: %s", operation, path, strerror(errno));
    }
    /* One byte more than allowed, to see that there is more. */
    *buffer = malloc(max_bytes + 1);
    if (!*buffer) {
        fclose(file);
        return error_set(error, PPU_ERR_NO_MEMORY, "%s %s: not enough memory", operation, path);
    }
    *bytes = fread(*buffer, 1, max_bytes + 1, file);
    bool failed = ferror(file) != 0;
    int why = errno;
    fclose(file);
    if (failed || *bytes > max_bytes) {
        free(*buffer);
        *buffer = NULL;
        return error_set(error, PPU_ERR_BAD_IMAGE, "%s %s: %s", operation, path,
                         failed ? strerror(why) : "it is too large");
    }
    return PPU_OK;
}
