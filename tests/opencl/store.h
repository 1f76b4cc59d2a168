/* SPDX-License-Identifier: MIT */
/* Makes a cache of its own, and a compiler that counts its calls: what PPU_CACHE and PPU_CLANG name meanwhile. */
#ifndef TESTS_OPENCL_STORE_H
#define TESTS_OPENCL_STORE_H

#include <stdbool.h>
#include <stdint.h>

struct store {
    char folder[32], clang[64], calls[64], hold[64], entries[64];
};

void store_open(struct store *store);
/* A compiler that is called meanwhile does not end. */
void store_hold(const struct store *store, bool hold);
/* The compiler is this line of shell from now on. */
void store_replace_clang(const struct store *store, const char *line);
/* Removes all of it; nothing is cached from then on. */
void store_close(struct store *store);
/* Calls it for each entry of the cache; their number. */
uint32_t store_each(const struct store *store, void (*function)(const char *path));
/* How often the compiler was called. */
long store_compilations(const struct store *store);

#endif
