/* SPDX-License-Identifier: MIT */
/* Clean-up of machine IR before registers are assigned. */
#ifndef COMPILER_MIR_PEEPHOLE_H
#define COMPILER_MIR_PEEPHOLE_H

#include "compiler/mir/mir.h"

/* Joins loads of neighbouring parameters, folds negations into operands, guards short branches, drops what nobody
 * reads. */
void combine(struct mir *mir);

#endif
