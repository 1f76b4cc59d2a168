/* SPDX-License-Identifier: MIT */
/* Runs the front end: clang as a child process. */
#ifndef COMPILER_FRONTEND_CLANG_H
#define COMPILER_FRONTEND_CLANG_H

#include "compiler/base/bytes.h"
#include "compiler/ppu_compiler.h"

/* OpenCL C to bitcode; diagnostics go into `log`. */
enum ppu_compile_status clang_run(const char *source, size_t len_bytes, const struct ppu_compile_options *options,
                                  struct bytes *bitcode, struct bytes *log);

#endif
