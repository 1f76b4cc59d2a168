/* SPDX-License-Identifier: MIT */
/* Hoists what both sides of a branch begin with before it, which is possible only after register allocation. */
#ifndef COMPILER_MIR_HOIST_H
#define COMPILER_MIR_HOIST_H

#include "compiler/mir/mir.h"

/* Copies that both sides of a branch begin with go before it: often a side is empty then, and needs no code. */
void hoist(struct mir *mir);

#endif
