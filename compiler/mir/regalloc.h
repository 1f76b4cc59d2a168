/* SPDX-License-Identifier: MIT */
/* Allocates registers (register allocation): gives machine registers to virtual ones, and spills what finds none. */
#ifndef COMPILER_MIR_REGALLOC_H
#define COMPILER_MIR_REGALLOC_H

#include "compiler/mir/mir.h"

struct register_limits {
    uint32_t registers[MIR_CLASSES];
};

/*
 * Assigns a physical register to each register; what finds none among the vector registers is spilled to local memory,
 * predicates to vector registers. Scalar registers cannot be spilled (they may only be written where the warp is
 * together): false when they do not suffice, with force[v] set for values of the IR that must be kept elsewhere, or
 * *fewer_constants.
 */
bool regalloc(struct mir *mir, const struct register_limits *limits, bool *force, bool *fewer_constants);

#endif
