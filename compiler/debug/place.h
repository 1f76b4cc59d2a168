/* SPDX-License-Identifier: MIT */
/* Numbers the places of the source that instructions come from: a line, and what it was inlined into. */
#ifndef COMPILER_DEBUG_PLACE_H
#define COMPILER_DEBUG_PLACE_H

#include "compiler/base/compilation.h"

/* The place of an instruction of the IR; 0: it has none. */
uint32_t place_of(struct compilation *compilation, LLVMValueRef insn);
/* The place of which the line alone is known; 0 for line 0. */
uint32_t place_of_line(struct compilation *compilation, uint32_t line);
uint32_t place_line(const struct compilation *compilation, uint32_t place);
/* The place as debug information has it (DILocation); NULL: its line alone is known, or it is none. */
LLVMMetadataRef place_location(const struct compilation *compilation, uint32_t place);

#endif
