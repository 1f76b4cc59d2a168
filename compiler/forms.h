/* SPDX-License-Identifier: MIT */
/* How kernels index the memory behind their arguments (F1), and whether threads keep apart (F8). */
#ifndef COMPILER_FORMS_H
#define COMPILER_FORMS_H

#include "unit.h"

/* Finds the forms of a kernel's arguments and keeps them with it, while its indexes can still be read. */
void forms_find(struct unit *unit, LLVMValueRef function);
/* PPU_REFERENCE_BY_*, _APART of an argument as they were found; 0 when nothing was looked for. */
uint8_t forms_of(LLVMValueRef function, uint32_t argument);

#endif
