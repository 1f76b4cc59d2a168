/* SPDX-License-Identifier: MIT */
/* Lowers what the device library asks of warps and work-groups. */
#ifndef COMPILER_IRPASS_LOWER_WARPS_H
#define COMPILER_IRPASS_LOWER_WARPS_H

#include "compiler/base/compilation.h"

/* The wave's size becomes a constant, and a function that wants scratch a variable in local memory. */
void lower_warps(struct compilation *compilation);

#endif
