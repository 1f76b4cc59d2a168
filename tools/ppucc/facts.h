/* SPDX-License-Identifier: MIT */
/* Facts about launches in the form that PPU_ALIAS_PRINT shows (docs/spec/alias.md). */
#ifndef TOOLS_PPUCC_FACTS_H
#define TOOLS_PPUCC_FACTS_H

#include "compiler/ppu_compiler.h"

#include <stdbool.h>

#define FACTS_ARGUMENTS 64u
#define FACTS_PAIRS 256u

struct facts_text {
    char kernel[128];
    struct ppu_compile_argument arguments[FACTS_ARGUMENTS];
    struct ppu_compile_pair pairs[FACTS_PAIRS];
    struct ppu_compile_facts facts; /* points into this */
};

/* "KERNEL FACT...", as s0 s2 a0:16 c3:40 i3:xy g64x4x1 0!1 0=2 2-1=3*4 2-1>3*4. False: malformed, or too much. */
bool facts_parse(const char *text, struct facts_text *facts);

#endif
