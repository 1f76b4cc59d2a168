/* SPDX-License-Identifier: MIT */
/*
 * Reads what the environment says of machines that are started: PPU_MACHINE has the properties of each PPU,
 * PPU_RUN_OPTIONS further options of the launcher. So a program that knows nothing of machines runs on any.
 */
#ifndef RUNTIME_NATIVE_ENVIRONMENT_H
#define RUNTIME_NATIVE_ENVIRONMENT_H

#include "ppu.h"

#define ENVIRONMENT_OPTIONS 32u

struct environment {
    const char *properties; /* NULL: defaults */
    uint64_t vram_bytes;    /* 0: they do not say it */
    char *words;            /* what option[] points into */
    char *option[ENVIRONMENT_OPTIONS + 1];
};

/* Freed in any case. A program with raised privileges has no environment. */
enum ppu_err environment_read(struct environment *environment, struct ppu_error *error);
void environment_free(struct environment *environment);

#endif
