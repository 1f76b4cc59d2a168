/* SPDX-License-Identifier: MIT */
/* Compares kernels with what this host's PPU can do at most: what ppu-limits has measured. */
#ifndef TOOLS_REPORT_PAGE_ROOFLINE_H
#define TOOLS_REPORT_PAGE_ROOFLINE_H

#include <jansson.h>

#include "tools/trace/timeline.h"

/* Makes a point of each kernel whose counts and time are known, and the limits of their record; NULL: there is none. */
json_t *page_roofline(const struct timeline *timeline, const struct timeline *limits);

#endif
