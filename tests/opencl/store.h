/* SPDX-License-Identifier: MIT */
/* A cache of its own, and a compiler that counts its calls: what PPU_CACHE and PPU_CLANG name meanwhile. */
#ifndef TESTS_OPENCL_STORE_H
#define TESTS_OPENCL_STORE_H

#include <stdint.h>

struct store {
    char folder[32], clang[64], calls[64], entries[64];
};

void store_open(struct store *store);
/* Removes all of it; nothing is cached from then on. */
void store_close(struct store *store);
/* Calls it for each entry of the cache; their number. */
uint32_t store_each(const struct store *store, void (*function)(const char *path));
/* How often the compiler was called. */
long store_compilations(const struct store *store);

#endif
