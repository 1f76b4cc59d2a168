/* SPDX-License-Identifier: MIT */
/* Writes texts into pictures in SVG. */
#ifndef TOOLS_REPORT_SVG_H
#define TOOLS_REPORT_SVG_H

#include <stdint.h>
#include <stdio.h>

/* At most so many characters of a text, so that none is markup. */
void svg_text(FILE *file, const char *text, uint32_t most);

#endif
