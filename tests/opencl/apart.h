/* SPDX-License-Identifier: MIT */
/*
 * Compiles bitcode in a process of its own, which no sanitizer looks at. Sanitizers make LLVM and the compiler several
 * times slower, and most tests have one thread that compiles: what they are about is the rest. Answers are kept, as
 * each test is there for more than one sanitizer.
 */
#ifndef TESTS_OPENCL_APART_H
#define TESTS_OPENCL_APART_H

#include "compiler/ppu_compiler.h"

#define APART_PROGRAM "build/plain/tools/compile-apart"
#define APART_ANSWERS "build/apart" /* of this program; tests/opencl/build.mk empties it when there is another one */

/*
 * What the process reads from standard input. Behind it, each in its length: name, options and the facts' kernel with
 * their zeros (0 bytes: NULL), the facts' arguments and pairs, and the bitcode.
 */
struct apart_request {
    struct ppu_compile_options options; /* without pointers */
    struct ppu_compile_facts facts;     /* without pointers */
    uint64_t name_bytes, options_bytes, kernel_bytes, bitcode_bytes;
};

/* What it writes to standard output; behind it what was made, and the log without its zero. */
struct apart_answer {
    uint64_t status; /* enum ppu_compile_status */
    uint64_t len_bytes, log_bytes;
};

/* As ppu_compile_bitcode(). */
enum ppu_compile_status apart_bitcode(const void *bitcode, size_t len_bytes, const struct ppu_compile_options *options,
                                      struct ppu_compiled *image);

#endif
