/* SPDX-License-Identifier: MIT */
/* Reads source files and streams. */
#ifndef TOOLS_ASM_FILE_H
#define TOOLS_ASM_FILE_H

#include <stddef.h>
#include <stdio.h>

/* Whole file with a zero after its end, malloc()ed; NULL: errno says why. */
char *file_read(const char *path, size_t *len_bytes);
/* Reads what is left in a stream likewise. */
char *file_read_stream(FILE *file, size_t *len_bytes);

#endif
