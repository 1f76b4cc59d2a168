/* SPDX-License-Identifier: MIT */
/* Short sides of a branch become guarded instructions: no branch, no token. */
#ifndef COMPILER_GUARD_H
#define COMPILER_GUARD_H

#include "mir.h"

/* Changes the machine IR's flow graph: blocks that were moved are left empty, and nothing reaches them. */
void guard_sides(struct mir *mir);

#endif
