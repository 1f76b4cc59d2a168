/* SPDX-License-Identifier: MIT */
/*
 * Compiles each thing once in a process: who asks again for the same gets a copy. Tests load what they compare with
 * again and again, and what they run is never the second compilation of the same.
 */
#ifndef TESTS_COMPILER_KEPT_H
#define TESTS_COMPILER_KEPT_H

#include "compiler/ppu_compiler.h"

/*
 * As ppu_compile_source() and ppu_compile_bitcode(), with the options that tests use: name, options, wave, max_vregs,
 * max_sregs, subvector without a picture, facts. What fails is not kept. `made` is the caller's.
 */
enum ppu_compile_status kept_source(const char *source, const struct ppu_compile_options *options,
                                    struct ppu_compiled *made);
enum ppu_compile_status kept_image(const struct ppu_compiled *bitcode, const struct ppu_compile_options *options,
                                   struct ppu_compiled *made);

#endif
