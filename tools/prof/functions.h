/* SPDX-License-Identifier: MIT */
/* Prints the functions of the firmware with the instructions that the microcontroller executed in them. */
#ifndef TOOLS_PROF_FUNCTIONS_H
#define TOOLS_PROF_FUNCTIONS_H

#include <stdio.h>

#include "tools/trace/stacks.h"

void functions_print(FILE *to, const struct stacks *stacks);

#endif
