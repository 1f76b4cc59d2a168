/* SPDX-License-Identifier: MIT */
/* Gives the result of a compilation to the caller of ppu_compiler.h. */
#ifndef COMPILER_BASE_COMPILED_H
#define COMPILER_BASE_COMPILED_H

#include "compiler/base/bytes.h"
#include "compiler/ppu_compiler.h"

/* Hands what was made, and the log, to the caller; the status, or NO_MEMORY when something was lost. */
enum ppu_compile_status compile_finish(enum ppu_compile_status status, struct bytes *made, struct bytes *log,
                                       struct ppu_compiled *compiled);

#endif
