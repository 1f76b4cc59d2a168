/* SPDX-License-Identifier: MIT */
/* Puts sections into an ELF file. */
#ifndef COMPILER_DEBUG_ELF_FILE_H
#define COMPILER_DEBUG_ELF_FILE_H

#include "compiler/base/bytes.h"

struct elf_section {
    const char *name;
    struct bytes *bytes;
};

/* Appends to `file`, which is empty; loses bytes when a section has lost some. */
void elf_file_write(struct bytes *file, const struct elf_section *sections, uint32_t count);

#endif
