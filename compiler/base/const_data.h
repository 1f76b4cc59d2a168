/* SPDX-License-Identifier: MIT */
/* Lays out constant data: program-scope variables that lie behind the code. */
#ifndef COMPILER_BASE_CONST_DATA_H
#define COMPILER_BASE_CONST_DATA_H

#include "compiler/base/compilation.h"

/* Number of a variable in compilation->variables, which gets its bytes when it is asked for the first time. */
uint32_t const_data_variable(struct compilation *compilation, LLVMValueRef variable);
/* Offset of a variable that is not constant among those of the program (ppu/image.h). */
uint32_t const_data_written(struct compilation *compilation, LLVMValueRef variable);
/* Offset of a variable in compilation->data when it is constant, else that of const_data_written(). */
uint32_t const_data_offset(struct compilation *compilation, LLVMValueRef variable);
/* Bits of a constant half, float or double. */
uint64_t const_data_float_bits(LLVMValueRef value);

#endif
