/* SPDX-License-Identifier: MIT */
/* Optimises machine IR through a peephole, before register allocation. */
#ifndef COMPILER_MIR_PEEPHOLE_H
#define COMPILER_MIR_PEEPHOLE_H

#include "compiler/mir/mir.h"

/* Drops instructions whose results nobody reads (dead code), and fuses a product with the sum that alone uses it. */
void peephole(struct mir *mir);

#endif
