/* SPDX-License-Identifier: MIT */
/*
 * Keeps compiled programs in the user's folder across processes. An entry is found by all that decides what the
 * compiler makes: the source, the options, and the files the compiler consists of. It holds its key, and a tag that
 * only this user's programs can make: one that is damaged, comes from elsewhere, or has another's name is not there.
 */
#ifndef OPENCL_BUILD_CACHE_H
#define OPENCL_BUILD_CACHE_H

#include <stdbool.h>

#include "compiler/ppu_compiler.h"

struct cache_key {
    char *text; /* NULL: not to be cached */
    size_t bytes;
};

/*
 * The key of a compilation; `facts`: which variant it makes, "": the base. None when its result depends on more than
 * the key can say: on files that the source includes, on the time.
 */
void cache_key_init(struct cache_key *key, const char *source, size_t bytes, const char *options, const char *facts);
/* Makes the key of a compilation of bitcode. */
void cache_key_of_module(struct cache_key *key, const struct ppu_compile_module *module, const char *facts);
void cache_key_free(struct cache_key *key);
/* True: found, as the compiler made it, to be freed by compiler_free(). */
bool cache_find(const struct cache_key *key, struct ppu_compiled *found);
void cache_store(const struct cache_key *key, const struct ppu_compiled *made);

#endif
