/* SPDX-License-Identifier: MIT */
/* Makes JSON of the firmware's stacks, for the page's flame graph. */
#ifndef TOOLS_REPORT_PAGE_STACKS_H
#define TOOLS_REPORT_PAGE_STACKS_H

#include <jansson.h>

#include "tools/trace/stacks.h"

/* null: the record has none. */
json_t *page_stacks(const struct stacks *stacks);

#endif
