/* SPDX-License-Identifier: MIT */
/* What the functions of ppu_compiler.h share. */
#ifndef COMPILER_COMPILE_H
#define COMPILER_COMPILE_H

#include "compiler/base/bytes.h"
#include "compiler/ppu_compiler.h"

#define LLVM_VERSION 19u

/* Hands what was made, and the log, to the caller; the status, or NO_MEMORY when something was lost. */
enum ppu_compile_status compile_finish(enum ppu_compile_status status, struct bytes *made, struct bytes *log,
                                       struct ppu_compiled *compiled);

#endif
