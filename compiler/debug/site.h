/* SPDX-License-Identifier: MIT */
/* Numbers the sites of the source that instructions come from: a line, and what it was inlined into. */
#ifndef COMPILER_DEBUG_SITE_H
#define COMPILER_DEBUG_SITE_H

#include "compiler/base/compilation.h"

/* The site of an instruction of the IR; 0: it has none. */
uint32_t site_of(struct compilation *compilation, LLVMValueRef insn);
/* The site of which the line alone is known; 0 for line 0. */
uint32_t site_of_line(struct compilation *compilation, uint32_t line);
uint32_t site_line(const struct compilation *compilation, uint32_t site);
/* The site as debug information has it (DILocation); NULL: its line alone is known, or it is none. */
LLVMMetadataRef site_location(const struct compilation *compilation, uint32_t site);

#endif
