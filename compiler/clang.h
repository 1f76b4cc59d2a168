/* SPDX-License-Identifier: MIT */
/* The front end: clang as a child process. */
#ifndef COMPILER_CLANG_H
#define COMPILER_CLANG_H

#include "bytes.h"
#include "ppu_compiler.h"

/* OpenCL C to bitcode; diagnostics go into `log`. */
enum ppu_compile_status clang_run(const char *source, size_t len_bytes, const struct ppu_compile_options *options,
                                  struct bytes *bitcode, struct bytes *log);

#endif
