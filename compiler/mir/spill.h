/* SPDX-License-Identifier: MIT */
/*
 * Spills registers that get no physical register: they are kept in local memory between their uses, predicates in
 * vector registers. A value that few cheap instructions make from constants, parameters, special registers and what is
 * live anyway is not kept. It is made again before each use (rematerialization).
 */
#ifndef COMPILER_MIR_SPILL_H
#define COMPILER_MIR_SPILL_H

#include "compiler/mir/live_ranges.h"
#include "compiler/mir/mir.h"

/*
 * Rewrites the code without the registers that are marked. `words`: of each word of each register, where it is live.
 * Copies of a register onto itself are left out.
 */
void spill_registers(struct mir *mir, const struct ranges *words, const bool *gone);

#endif
