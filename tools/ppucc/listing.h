/* SPDX-License-Identifier: MIT */
/* Prints the machine code of kernels beside the lines of their source. */
#ifndef TOOLS_PPUCC_LISTING_H
#define TOOLS_PPUCC_LISTING_H

#include <stdio.h>

#include "ppu/image.h"

/* Assembly of all kernels; with the lines of `source` unless that is NULL. */
void listing_print(const struct ppu_program_view *view, const char *source, FILE *file);

#endif
