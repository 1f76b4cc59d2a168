/* SPDX-License-Identifier: MIT */
/* Writes what is shown of PPUs as lines of text, for the screen and for --once. What matters most stands leftmost. */
#ifndef TOOLS_TOP_SHEET_H
#define TOOLS_TOP_SHEET_H

#include <stdio.h>

#include "tools/top/figures.h"

struct sheet_options {
    enum context_order order;
    bool each_sm; /* a line for each SM; else one for all */
    bool idle;    /* idle channels, too */
};

/* The list: a line or two for each PPU. */
void sheet_list(FILE *file, const struct devices *devices);
void sheet_write(FILE *file, const struct devices *devices, const struct sheet_options *options);
/* One object for all of them, on a line. */
bool sheet_json(FILE *file, const struct devices *devices);

#endif
