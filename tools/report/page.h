/* SPDX-License-Identifier: MIT */
/* Writes a timeline as one page of HTML that needs nothing else, and as a picture in SVG. */
#ifndef TOOLS_REPORT_PAGE_H
#define TOOLS_REPORT_PAGE_H

#include <stdio.h>

#include "tools/trace/profile.h"
#include "tools/trace/stacks.h"
#include "tools/trace/timeline.h"

/* What there is to show. */
struct page {
    const struct timeline *timeline;
    const struct profile *profile;
    const struct stacks *stacks;
    const struct timeline *limits; /* a record of what this host can do; NULL: there is none */
};

/* False with errno. */
bool page_write(FILE *file, const struct page *page);
/* Draws at most so many lanes of a track's kind and number. */
bool svg_write(FILE *file, const struct timeline *timeline, uint32_t lanes);
/* The flame graph of the firmware's functions. */
bool flame_write(FILE *file, const struct stacks *stacks);

/* Numbers of the tracks that have slices, in the order in which they are shown. Freed by the caller. */
uint32_t *page_order(const struct timeline *timeline, uint32_t *count);

#endif
