/* SPDX-License-Identifier: MIT */
/* What a kernel does with the memory behind its arguments (F1). */
#ifndef COMPILER_REFERENCES_H
#define COMPILER_REFERENCES_H

#include "ppu/image.h"
#include "unit.h"

/* What may be done with the memory behind an argument, by the kernel as it is when this is asked. */
struct references {
    uint8_t access;       /* PPU_REFERENCE_*; 0: nothing */
    uint8_t element_log2; /* size of the smallest access */
    struct ppu_reach reach;
};

/* Of a kernel's argument that is a pointer. */
struct references references_of(struct unit *unit, LLVMValueRef argument);
/* Of one that is an integer: what depends on it. */
uint8_t references_of_value(struct unit *unit, LLVMValueRef argument);

#endif
