/* SPDX-License-Identifier: MIT */
/* Prints sources and instructions beside what was counted for them. */
#ifndef TOOLS_PROF_ANNOTATE_H
#define TOOLS_PROF_ANNOTATE_H

#include <stdio.h>

#include "tools/trace/profile.h"

struct annotate_options {
    bool insns; /* with the instructions of each line */
    bool whole; /* lines that were not executed, too */
};

void annotate_print(FILE *file, const struct profile *profile, const struct annotate_options *options);

#endif
