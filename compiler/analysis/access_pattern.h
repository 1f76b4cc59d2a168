/* SPDX-License-Identifier: MIT */
/* Finds how kernels index the memory behind their arguments (F1), and whether threads reach disjoint bytes (F8). */
#ifndef COMPILER_ANALYSIS_ACCESS_PATTERN_H
#define COMPILER_ANALYSIS_ACCESS_PATTERN_H

#include "compiler/base/compilation.h"
#include "ppu/image.h"

/* Describes how the memory behind an argument is indexed. */
struct access_patterns {
    uint8_t by; /* PPU_REFERENCE_BY_*, _DISJOINT */
    struct ppu_reach reach;
};

/* Finds the patterns of a kernel's arguments and keeps them with it, while its indexes can still be read. */
void access_pattern_find(struct compilation *compilation, LLVMValueRef function);
/* Returns what was found of an argument; all 0 when the function was not looked at. */
struct access_patterns access_pattern_of(LLVMValueRef function, uint32_t argument);

#endif
