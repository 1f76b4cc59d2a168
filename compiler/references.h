/* SPDX-License-Identifier: MIT */
/* What a kernel does with the memory behind its arguments (F1). */
#ifndef COMPILER_REFERENCES_H
#define COMPILER_REFERENCES_H

#include "unit.h"

/*
 * PPU_REFERENCE_* of a kernel's argument that is a pointer: what may be done with what it points to, by the kernel as
 * it is when this is asked. 0: nothing.
 */
uint8_t references_of(struct unit *unit, LLVMValueRef argument);

#endif
