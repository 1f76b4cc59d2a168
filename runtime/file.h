/* SPDX-License-Identifier: MIT */
/* Reads files. */
#ifndef RUNTIME_FILE_H
#define RUNTIME_FILE_H

#include <stddef.h>

#include "ppu.h"

/* Reads a whole file into a malloc()ed buffer, the caller's. NOT_FOUND, NO_MEMORY, BAD_IMAGE beyond max_bytes. */
enum ppu_err file_read(const char *operation, const char *path, size_t max_bytes, void **buffer, size_t *bytes,
                       struct ppu_error *error);

#endif
