/* SPDX-License-Identifier: MIT */
/* Draws the curve of live vector registers with threshold and segments (D9, D11), for a kernel's author. */
#ifndef COMPILER_MIR_PRESSURE_SVG_H
#define COMPILER_MIR_PRESSURE_SVG_H

#include "compiler/mir/subvector/partition.h"

/* Prints the curve as text: the most of each part of the code, and below it which parts are segments. */
void pressure_text(FILE *file, const struct segment_plan *plan);

/* Draws the curve, PRESSURE_SVG_WIDTH by PRESSURE_SVG_HEIGHT, `down` from the top of a picture. */
void pressure_svg(FILE *file, const struct segment_plan *plan, const char *name, uint32_t down);
#define PRESSURE_SVG_WIDTH 960u
#define PRESSURE_SVG_HEIGHT 300u

/* Begin and end of a picture of so many drawings. */
void pressure_svg_begin(FILE *file, uint32_t drawings);
void pressure_svg_end(FILE *file);

#endif
