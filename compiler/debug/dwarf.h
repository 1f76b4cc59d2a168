/* SPDX-License-Identifier: MIT */
/* Writes debug information: an ELF file with DWARF 5 sections (ppu/debug_info.h). */
#ifndef COMPILER_DEBUG_DWARF_H
#define COMPILER_DEBUG_DWARF_H

#include "compiler/base/bytes.h"
#include "compiler/base/compilation.h"

/* Writes what is known of all kernels that were emitted. `data_at`: where constant data begins, in bytes from the
 * code's base. */
void debug_info_write(struct compilation *compilation, uint32_t data_at, struct bytes *file);

#endif
