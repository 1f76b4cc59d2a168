/* SPDX-License-Identifier: MIT */
#include "runtime/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/error.h"

#define FIRST_BYTES 65536u /* room that a buffer begins with */

/* What the file has, but no more than `most` bytes, in memory that grows with it; NULL: there is no memory. */
static uint8_t *read_growing(FILE *file, size_t most, size_t *bytes)
{
    size_t room = 0;
    uint8_t *buffer = NULL;

    *bytes = 0;
    do {
        room = room == 0 ? FIRST_BYTES : 2 * room;
        room = room < most ? room : most;
        uint8_t *larger = realloc(buffer, room + 1);
        if (!larger) {
            free(buffer);
            return NULL;
        }
        buffer = larger;
        *bytes += fread(buffer + *bytes, 1, room - *bytes, file);
    } while (*bytes == room && room < most);
    return buffer;
}

enum ppu_err file_read(const char *operation, const char *path, size_t max_bytes, void **buffer, size_t *bytes,
                       struct ppu_error *error)
{
    FILE *file = fopen(path, "rb");

    if (!file) {
        return error_set(error, PPU_ERR_NOT_FOUND, "%s %s: %s", operation, path, strerror(errno));
    }
    /* One byte more than allowed, to see that there is more. */
    *buffer = read_growing(file, max_bytes + 1, bytes);
    if (!*buffer) {
        fclose(file);
        return error_set(error, PPU_ERR_NO_MEMORY, "%s %s: not enough memory", operation, path);
    }
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
