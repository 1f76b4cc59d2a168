/* SPDX-License-Identifier: MIT */
/*
 * Loads the compiler, a library of its own, when something has to be compiled: LLVM is large, and most runs of a
 * program find what they need in the cache.
 */
#ifndef OPENCL_BUILD_COMPILER_DL_H
#define OPENCL_BUILD_COMPILER_DL_H

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include "compiler/ppu_compiler.h"

/* The functions of ppu_compiler.h. */
struct compiler {
    enum ppu_compile_status (*compile)(const char *source, size_t len_bytes, const struct ppu_compile_options *options,
                                       struct ppu_compiled *image);
    enum ppu_compile_status (*compile_source)(const char *source, size_t len_bytes,
                                              const struct ppu_compile_options *options, struct ppu_compiled *bitcode);
    enum ppu_compile_status (*compile_bitcode)(const void *bitcode, size_t len_bytes,
                                               const struct ppu_compile_options *options, struct ppu_compiled *image);
    enum ppu_compile_status (*link)(const struct ppu_compile_module *modules, uint32_t count,
                                    struct ppu_compiled *bitcode);
    enum ppu_compile_status (*check_options)(const char *options, struct ppu_compiled *checked);
    enum ppu_compile_status (*read_target)(struct ppu_compile_options *options, struct ppu_compiled *checked);
    void (*prepare)(void);
};

/* Loads it at the first call; NULL: it is not there, standard error says why. */
const struct compiler *compiler_get(void);
/* The sentence that says why it is not there. */
const char *compiler_trouble(void);
/* Its file, loaded or not; false: it cannot be said. */
bool compiler_path(char path[PATH_MAX]);
/* The program that compiles what comes from elsewhere (foreign.h); false: it cannot be said. */
bool foreign_path(char path[PATH_MAX]);
/* What makes clang a server (ppu_compile_options.fork_server); NULL: it is not there. */
const char *fork_server_path(void);
/* Does what ppu_compiled_free() does, without loading it. */
static inline void compiler_free(struct ppu_compiled *compiled)
{
    free(compiled->bytes);
    free(compiled->log);
    *compiled = (struct ppu_compiled){ NULL, 0, NULL };
}

#endif
