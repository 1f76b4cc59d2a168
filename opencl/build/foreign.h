/* SPDX-License-Identifier: MIT */
/*
 * Compiles modules that this installation has not compiled, and variants, in a process whose crash harms nobody
 * (compiler/foreign/foreign.h).
 */
#ifndef OPENCL_BUILD_FOREIGN_H
#define OPENCL_BUILD_FOREIGN_H

#include "compiler/foreign/foreign.h"

#ifndef FOREIGN_PATIENCE_MS
#define FOREIGN_PATIENCE_MS 120000 /* of the clock: who sleeps takes no time of a processor */
#endif

/*
 * Works as the functions of the compiler do; of the options `wave`, `max_vregs` and `facts` count. A process that ends
 * without an answer is BAD_SOURCE, one that cannot be started NO_TOOL, and the log says so.
 */
enum ppu_compile_status foreign_compile(enum foreign_make make, const struct ppu_compile_options *options,
                                        const struct ppu_compile_module *modules, uint32_t count,
                                        struct ppu_compiled *made);
/* A variant: an image of the one kernel that the options' facts are about. */
enum ppu_compile_status foreign_compile_variant(const struct ppu_compile_options *options,
                                                const struct ppu_compile_module *module, struct ppu_compiled *made);
/* SPIR-V as a module for foreign_compile(), by the translator of that path. */
enum ppu_compile_status foreign_translate(const char *translator, const void *il, size_t bytes,
                                          struct ppu_compiled *bitcode);

#endif
