/* SPDX-License-Identifier: MIT */
/* Writes a timeline as one page of HTML that needs nothing else, and as a picture in SVG. */
#ifndef TOOLS_REPORT_PAGE_H
#define TOOLS_REPORT_PAGE_H

#include <stdio.h>

#include "tools/trace/profile.h"
#include "tools/trace/timeline.h"

/* False with errno. */
bool page_write(FILE *file, const struct timeline *timeline, const struct profile *profile);
bool svg_write(FILE *file, const struct timeline *timeline);

/* Numbers of the tracks that have slices, in the order in which they are shown. Freed by the caller. */
uint32_t *page_order(const struct timeline *timeline, uint32_t *count);

#endif
