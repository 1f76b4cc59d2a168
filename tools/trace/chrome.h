/* SPDX-License-Identifier: MIT */
/* Writes a timeline as trace events in JSON, which ui.perfetto.dev and chrome://tracing open. */
#ifndef TOOLS_TRACE_CHROME_H
#define TOOLS_TRACE_CHROME_H

#include <stdio.h>

#include "tools/trace/timeline.h"

/* False with errno. */
bool chrome_write(FILE *file, const struct timeline *timeline);

#endif
