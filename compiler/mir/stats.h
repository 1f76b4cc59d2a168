/* SPDX-License-Identifier: MIT */
/* Prints numbers of a compiled kernel, for its author. */
#ifndef COMPILER_MIR_STATS_H
#define COMPILER_MIR_STATS_H

#include "compiler/base/kernel.h"
#include "compiler/mir/mir.h"

/* One line of numbers, and how many registers of each class are live along the code. */
void stats_print(const struct compilation *compilation, const struct kernel_info *kernel, struct mir *mir);

#endif
