/* SPDX-License-Identifier: MIT */
/* Writes the numbers that DWARF sections are made of. */
#ifndef COMPILER_DEBUG_SECTION_H
#define COMPILER_DEBUG_SECTION_H

#include "compiler/base/bytes.h"

void section_u8(struct bytes *section, uint32_t value);
void section_u16(struct bytes *section, uint32_t value);
void section_u32(struct bytes *section, uint32_t value);
void section_u64(struct bytes *section, uint64_t value);
void section_uleb(struct bytes *section, uint64_t value);
void section_sleb(struct bytes *section, int64_t value);
/* Writes over what is there; nothing when the section has lost bytes. */
void section_patch32(struct bytes *section, size_t at, uint32_t value);

#endif
