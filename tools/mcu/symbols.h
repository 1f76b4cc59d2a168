/* SPDX-License-Identifier: MIT */
/* Finds the functions of the firmware's ELF file by address. */
#ifndef TOOLS_MCU_SYMBOLS_H
#define TOOLS_MCU_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbols_function {
    uint32_t address; /* of its first instruction */
    uint32_t bytes;
    const char *name;
};

struct symbols {
    struct symbols_function *function; /* by address */
    uint32_t count;
    uint32_t end; /* of all code */
    void *file;
};

/* NULL: done; else why not. */
const char *symbols_read(struct symbols *symbols, const char *path);
/* The function with the code at an address; `count`: there is none. */
uint32_t symbols_find(const struct symbols *symbols, uint64_t address);
/* The function of a name; `count`: there is none. */
uint32_t symbols_named(const struct symbols *symbols, const char *name);

#endif
